"""Whether our numbers agree with the paper's within rounding and seed spread, and how often unrelated numbers would.

docs/reproduction.md gives the rule and its reasons; it was fixed before it was applied to a run.
"""

import numpy as np
import pandas as pd

from clusterlets.paper import bands
from clusterlets.paper.cells import CHOICES

#: A test is informative if chance passes it in less than this share of cases.
LEVEL = 0.1

_GROUP = ["table", "method", "quantity", "counted"]
_DECIMALS = 12


def rounding(printed: str) -> float:
    """Half a unit of the last digit of a printed number; 0 for counts, which have no decimal point."""
    _, point, decimals = printed.partition(".")
    return 0.5 * float(f"1e-{len(decimals)}") if point else 0.0


def within_tolerance(cells: pd.DataFrame) -> pd.Series:
    """Whether ours lies within rounding and seed spread of the paper's number; for :data:`CHOICES`, whether it is equal.

    ``cells`` has ``quantity``, ``reported``, ``reproduced`` and ``seed_spread``. False where any is missing.
    """
    is_choice = cells["quantity"].isin(CHOICES)
    numbers = cells[["reported", "reproduced"]].where(~is_choice).astype(float)
    near = (numbers["reproduced"] - numbers["reported"]).abs() <= tolerance(cells) + bands.LAST_BIT
    return near.where(~is_choice, cells["reported"] == cells["reproduced"]).astype(bool)


def tolerance(cells: pd.DataFrame) -> pd.Series:
    """Rounding of the paper's number plus the seed spread of ours; NaN for :data:`CHOICES` and without a spread."""
    is_number = ~cells["quantity"].isin(CHOICES)
    half_units = cells["reported"].where(is_number).map(rounding, na_action="ignore").astype(float)
    return (half_units + cells["seed_spread"]).round(_DECIMALS)


def within_band(cells: pd.DataFrame) -> pd.Series:
    """Whether the verdict by bands is ``reproduced`` or ``close``."""
    return _verdicts_by_bands(cells).isin(["reproduced", "close"])


def _verdicts_by_bands(cells: pd.DataFrame) -> pd.Series:
    columns = (cells[column] for column in ("quantity", "reported", "reproduced"))
    return pd.Series([bands.verdict(*cell) for cell in zip(*columns, strict=True)], index=cells.index, dtype=object)


def wrong_pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Every number of the paper, paired with each of ours of the same table, method and quantity but another subject.

    Numbers that are shown but not counted are paired among themselves. Ours without a seed spread are left out. O(n g) for
    groups of g cells.
    """
    takes_part = cells["reproduced"].notna() & (cells["seed_spread"].notna() | cells["quantity"].isin(CHOICES))
    cells = cells.fillna({"method": ""})
    ours = cells.loc[takes_part, [*_GROUP, "subject", "reproduced", "seed_spread"]]
    pairs = cells[[*_GROUP, "subject", "reported"]].merge(ours, on=_GROUP, suffixes=("", "_of_ours"))
    return pairs[pairs["subject"] != pairs["subject_of_ours"]]


def judge(cells: pd.DataFrame) -> pd.DataFrame:
    """The verdict by the rule on every cell, and its chance levels.

    Parameters
    ----------
    cells : DataFrame
        ``table``, ``method``, ``quantity``, ``counted``, ``subject`` (of its row), ``reported`` and ``reproduced``
        as text, ``seed_spread``.

    Returns
    -------
    DataFrame
        With the rows of ``cells``: ``tolerance``; the shares of wrong pairs that are within it (``chance``), within the
        bands (``chance_bands``), and that the rule would call reproduced or close (``chance_rule``), NaN without a wrong
        pair; and ``verdict``: ``reproduced``, ``close``, ``uninformative`` or ``differs``, which is meaningless for cells
        without a number of ours.
    """
    shares, informative = _by_group(wrong_pairs(cells))
    groups = pd.MultiIndex.from_frame(cells.fillna({"method": ""})[_GROUP])
    judged = shares.reindex(groups).round(_DECIMALS).set_axis(cells.index)
    is_informative = informative.reindex(groups, fill_value=False).set_axis(cells.index)
    lacks_spread = cells["seed_spread"].isna() & ~cells["quantity"].isin(CHOICES)
    is_within = within_tolerance(cells)
    cases = {
        "uninformative": lacks_spread | (is_within & ~is_informative["chance"]),
        "reproduced": is_within,
        "close": within_band(cells) & is_informative["chance_bands"],
    }
    judged["verdict"] = np.select(list(cases.values()), list(cases), "differs")
    return judged.assign(tolerance=tolerance(cells))


def _by_group(pairs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """For each group of wrong pairs, the shares that pass each test, and whether passing is informative."""
    tests = pairs[_GROUP].assign(chance=within_tolerance(pairs), chance_bands=within_band(pairs)).set_index(_GROUP)
    groups = tests.groupby(level=_GROUP)
    informative = (groups.sum() + 1).div(groups.size() + 1, axis=0) < LEVEL
    is_informative = informative.reindex(tests.index)
    tests["chance_rule"] = np.where(
        tests["chance"], is_informative["chance"], tests["chance_bands"] & is_informative["chance_bands"]
    )
    return tests.groupby(level=_GROUP).mean(), informative
