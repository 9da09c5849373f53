"""The ranges of our numbers over repetitions of the experiment, and whether the paper's numbers are inside.

A number is inside if it lies in the range that 95 % of the repetitions give. Ten seeds show too little of it: the best of ten
seeds drawn from ten is nearly always the same run. So runs with no more seeds than the paper's take the ranges that
``make extended`` measured on fifty seeds, which are in ``reported/ranges.csv``.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER
from clusterlets.benchmark.paper import cells, reported, tables
from clusterlets.benchmark.paper.repetitions import N_REPETITIONS, Key, repeat

INSIDE, OUTSIDE, UNKNOWN = "yes", "no", ""
COLUMNS = [*cells.KEY, "low", "high", "chosen", "inside", "seeds", "reproduced_by_code", "inside_by_code", "seeds_by_code"]

_LEFT_OUT = N_REPETITIONS // 40  # 2.5 % of the repetitions, at each end
_DECIMALS = 6  # in the files, and in the comparison


def of_runs(runs: pd.DataFrame, code_runs: pd.DataFrame | None) -> pd.DataFrame:
    """For each cell of the paper, the range of ours and whether the paper's number is inside, with :data:`COLUMNS`.

    ``runs`` follow the paper's text, and ``code_runs`` the authors' published code. Both are on datasets of the paper. Unless
    they have more seeds than the paper, the committed ranges are returned.
    """
    committed = reported.ranges()
    if runs["seed"].nunique() > SEEDS_OF_PAPER:
        of_text = judge(cells.paper_cells(), repeat(runs))[[*cells.KEY, "low", "high", "chosen", "inside"]]
        of_text = of_text.assign(seeds=runs["seed"].nunique())
    else:
        of_text = committed[[*cells.KEY, "low", "high", "chosen", "inside", "seeds"]]
    if code_runs is not None and code_runs["seed"].nunique() > SEEDS_OF_PAPER:
        of_code = by_code(code_runs)
    else:
        of_code = committed[[*cells.KEY, "reproduced_by_code", "inside_by_code", "seeds_by_code"]]
    return of_text.merge(of_code, on=cells.KEY, how="left")[COLUMNS]


def by_code(code_runs: pd.DataFrame) -> pd.DataFrame:
    """The columns of :data:`COLUMNS` that are about the published code, from its runs."""
    judged = judge(cells.paper_cells(), repeat(code_runs)).rename(columns={"inside": "inside_by_code"})
    numbers = cells.table_cells(tables.make(code_runs, reported.TABLES)).rename(columns={"reproduced": "reproduced_by_code"})
    judged = judged.merge(numbers, on=cells.KEY, how="left").assign(seeds_by_code=code_runs["seed"].nunique())
    return judged[[*cells.KEY, "reproduced_by_code", "inside_by_code", "seeds_by_code"]]


def judge(printed: pd.DataFrame, numbers: Mapping[Key, np.ndarray]) -> pd.DataFrame:
    """The cells, each with the range of the repetitions, and whether the printed number is inside.

    ``printed`` has ``table``, ``row``, ``quantity`` and, as text, ``reported``. The range goes from ``low`` to ``high``: it
    leaves out the 2.5 % lowest and the 2.5 % highest repetitions, and has half a unit of the last printed digit more on each
    side. A matcher or a k has no range: it is inside if at least 2.5 % of the repetitions choose it, and ``chosen`` is their
    share. ``inside`` is :data:`INSIDE`, :data:`OUTSIDE`, or :data:`UNKNOWN` without repetitions.
    """
    keys = printed[[*cells.KEY, "reported"]].to_numpy()
    rows = [judge_number(text, numbers.get(tuple(key))) for *key, text in keys]
    return printed.join(pd.DataFrame(rows, columns=["low", "high", "chosen", "inside"], index=printed.index))


def judge_number(printed: str, values: np.ndarray | None) -> tuple[float, float, float, str]:
    """``low``, ``high``, ``chosen`` and ``inside`` of one number, see :func:`judge`."""
    if values is None:
        return np.nan, np.nan, np.nan, UNKNOWN
    if values.dtype == object:
        n_chosen = int((values == printed).sum())
        return np.nan, np.nan, n_chosen / len(values), INSIDE if n_chosen >= _LEFT_OUT else OUTSIDE
    present = np.sort(values[~np.isnan(values)])
    if len(present) <= 2 * _LEFT_OUT:
        return np.nan, np.nan, np.nan, UNKNOWN
    half_unit = last_digit_unit(printed) / 2
    low, high = round(present[_LEFT_OUT] - half_unit, _DECIMALS), round(present[-1 - _LEFT_OUT] + half_unit, _DECIMALS)
    return low, high, np.nan, INSIDE if low <= float(printed) <= high else OUTSIDE


def last_digit_unit(printed: str) -> float:
    """The unit of the last printed digit: 0.001 for ``.836``, 1 for ``17``."""
    return float(f"1e-{len(printed.partition('.')[2])}")
