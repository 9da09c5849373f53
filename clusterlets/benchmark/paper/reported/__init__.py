"""The paper's numbers and claims. There is one CSV file per table, with the digits as printed."""

from functools import cache
from importlib.resources import files

import pandas as pd
import yaml

from clusterlets.benchmark.grid.runs_frame import fill_text, read_results_table
from clusterlets.benchmark.paper.table_names import NAMES

#: The names of the paper's own tables.
TABLES = NAMES[:5]
#: Columns of a comparison that stay text, with the digits as printed.
TEXT_COLUMNS = ("row", "matcher", "reported", "reproduced", "reproduced_by_code")


@cache
def table(name: str) -> pd.DataFrame:
    """One of the paper's tables. Every cell is text, so that ``.0518`` keeps its printed digits."""
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype=str)


@cache
def datasets() -> tuple[str, ...]:
    """The paper's eleven datasets, in the order of its table 2."""
    return tuple(table("table2_best_by_deviation")["dataset"])


def runs_of_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs to compare with the paper: those on its datasets or, if there are none, all runs."""
    is_in_paper = runs["dataset"].isin(datasets())
    return runs[is_in_paper] if is_in_paper.any() else runs


def why_too_few(n_present: int) -> str:
    """Why runs on ``n_present`` of the paper's datasets give no verdict across datasets; empty for more than half of them."""
    total = len(datasets())
    if 2 * n_present > total:
        return ""
    if not n_present:
        return "None of the paper's datasets is among the runs."
    return f"Only {n_present} of the paper's {total} datasets {'is' if n_present == 1 else 'are'} among the runs."


@cache
def explanations() -> tuple[dict, ...]:
    """Why some of the paper's numbers are outside our ranges: the entries of ``explanations.yaml``.

    An entry has ``cells`` (column -> value or values) and ``explanation``.
    """
    return tuple(yaml.safe_load((files(__name__) / "explanations.yaml").read_text(encoding="utf-8")))


@cache
def ranges() -> pd.DataFrame:
    """The comparison that ``make extended`` made, without reasons: with the ranges that fifty seeds give."""
    frame = _measured("ranges")
    return fill_text(frame, "inside", "inside_by_code")


@cache
def copies() -> pd.DataFrame:
    """The shares of copies that ``make extended`` measured, see :mod:`clusterlets.benchmark.paper.copies`."""
    return _measured("copies")


@cache
def readings() -> pd.DataFrame:
    """The readings that ``make extended`` tried, see :mod:`clusterlets.benchmark.paper.readings`."""
    return _measured("readings")


def _measured(name: str) -> pd.DataFrame:
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as file:
        return read_results_table(file, TEXT_COLUMNS)


@cache
def claims() -> dict:
    """The content of ``claims.yaml``: the ``claims``, each with its test, and the ``scales`` that grade them."""
    return yaml.safe_load((files(__name__) / "claims.yaml").read_text(encoding="utf-8"))
