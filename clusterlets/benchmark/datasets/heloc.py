"""HELOC, from FICO's explainable machine learning challenge, 2018. The group is RiskPerformance; Bad is positive."""

from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table
from clusterlets.tables.table import Table

_FEATURES = tuple(
    (
        "ExternalRiskEstimate MSinceOldestTradeOpen MSinceMostRecentTradeOpen AverageMInFile NumSatisfactoryTrades "
        "NumTrades60Ever2DerogPubRec NumTrades90Ever2DerogPubRec PercentTradesNeverDelq MSinceMostRecentDelq "
        "MaxDelq2PublicRecLast12M MaxDelqEver NumTotalTrades NumTradesOpeninLast12M PercentInstallTrades "
        "MSinceMostRecentInqexcl7days NumInqLast6M NumInqLast6Mexcl7days NetFractionRevolvingBurden NetFractionInstallBurden "
        "NumRevolvingTradesWBalance NumInstallTradesWBalance NumBank2NatlTradesWHighUtilization PercentTradesWBalance"
    ).split()
)
_CLASSES = ("Good", "Bad")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except the class. The special codes -7, -8 and -9 stay as they are."""
    frame = read_table(paths["heloc_dataset_v1.csv"], (*_FEATURES, "RiskPerformance"))
    return Table(numbers(frame, _FEATURES), codes(frame, "RiskPerformance", _CLASSES), _FEATURES, tuple(zip(_CLASSES)))
