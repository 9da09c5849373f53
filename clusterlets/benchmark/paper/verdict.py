"""The verdict on a number of the paper, and on a row, a column or a table of them: reproduced, undecided, or differs.

A number differs if our runs with other seeds would hardly ever give it. It is reproduced if it is much likelier under our
results than under the alternatives. These are the numbers of other datasets or methods, and ours shifted by a distance that
readers would still call close. The cut-offs were chosen before their error rates were measured; docs/reproduction.md has these
rates.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clusterlets.benchmark.paper import cells
from clusterlets.benchmark.paper.prediction import Forecast, Key

REPRODUCED, UNDECIDED, DIFFERS = "reproduced", "undecided", "differs"
VERDICTS = (REPRODUCED, UNDECIDED, DIFFERS)

#: A number differs if its tail probability is below this. A group of n numbers differs if one of the tails is below LEVEL / n.
LEVEL = 0.05
#: The least evidence for which a number is reproduced, and the least geometric mean of evidence for which a group is.
EVIDENCE, EVIDENCE_OF_SEVERAL = 5.0, 2.25

_DECIMALS = 6  # in the files
_MIN_EVIDENCE = 1e-6  # in geometric means, which a single 0 would make 0
# The numbers of table 2 are so alike that even numbers 50 % too large would pass.
_NEVER_REPRODUCED = {("table", "table2_best_by_deviation")}


def judge(printed: pd.DataFrame, forecasts: Mapping[Key, Forecast]) -> pd.DataFrame:
    """``tail``, ``evidence`` and ``verdict`` of each cell, with the index of ``printed``; undecided without a forecast.

    ``printed`` has ``table``, ``row``, ``quantity`` and, as text, ``reported``.
    """
    rows = [_judge_number(forecasts.get(tuple(key)), text) for *key, text in printed[[*cells.KEY, "reported"]].to_numpy()]
    return pd.DataFrame(rows, columns=["tail", "evidence", "verdict"], index=printed.index)


def _judge_number(forecast: Forecast | None, printed: str) -> tuple[float, float, str]:
    if forecast is None:
        return np.nan, np.nan, UNDECIDED
    tail, evidence = round(forecast.prediction.tail(printed), _DECIMALS), round(forecast.evidence(printed), _DECIMALS)
    verdict = DIFFERS if tail < LEVEL else REPRODUCED if evidence >= EVIDENCE else UNDECIDED
    return tail, evidence, verdict


def judge_groups(judged: pd.DataFrame) -> pd.DataFrame:
    """The verdict on each row, column and table (``kind``) of counted cells: ``results/comparison_groups.csv``.

    ``judged`` has ``table``, ``row``, ``quantity``, ``tail`` and ``evidence``. ``least_tail`` is the least tail times the
    number of ``cells``, at most 1; ``evidence`` is the geometric mean.
    """
    kinds = {"row": ["table", "row"], "column": ["table", "quantity"], "table": ["table"]}
    rows = [
        (kind, names[0], names[-1], len(group), *judge_together(group, kind))
        for kind, columns in kinds.items()
        for names, group in judged.groupby(columns, sort=False)
    ]
    return pd.DataFrame(rows, columns=["kind", "table", "name", "cells", "least_tail", "evidence", "verdict"])


def judge_together(judged: pd.DataFrame, kind: str = "table") -> tuple[float, float, str]:
    """``least_tail``, ``evidence`` and ``verdict`` of the cells of one table as a whole, or of its part of that ``kind``."""
    tail = round(min(1.0, len(judged) * judged["tail"].min()), _DECIMALS)
    evidence = round(float(np.exp(np.log(judged["evidence"].clip(lower=_MIN_EVIDENCE)).mean())), _DECIMALS)
    is_enough = evidence >= EVIDENCE_OF_SEVERAL and (kind, judged["table"].iloc[0]) not in _NEVER_REPRODUCED
    return tail, evidence, DIFFERS if tail < LEVEL else REPRODUCED if is_enough else UNDECIDED
