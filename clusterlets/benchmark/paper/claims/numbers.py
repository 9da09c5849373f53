"""The numbers by which claims are judged: the paper's five tables, or our tables and the runs from which they were made."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.paper.claims.findings import Inconclusive
from clusterlets.benchmark.paper.tables import Table

_TEXT_COLUMNS = ("dataset", "method", "matcher", "coefficient", "x", "y")


@dataclass(frozen=True)
class Numbers:
    """Five tables with the columns of the paper's, and the runs that they summarise (None for the paper itself)."""

    tables: Mapping[str, pd.DataFrame]
    runs: pd.DataFrame | None = None

    @classmethod
    def from_paper(cls) -> "Numbers":
        """The printed numbers. The paper's FRAC is FRAC (nearest).

        Our copy of table 5 calls the quantity s cohesion, as its caption does. It is called s here, because the text calls it
        the silhouette.
        """
        paper_tables = {}
        for name in reported.TABLES:
            table = reported.table(name).replace({"FRAC": "FRAC (nearest)", "cohesion": "s"})
            paper_tables[name] = table.astype({column: float for column in table if column not in _TEXT_COLUMNS})
        return cls(paper_tables)

    @classmethod
    def from_runs(cls, runs: pd.DataFrame, our_tables: Mapping[str, Table]) -> "Numbers":
        """Our tables, and the runs that they summarise. The quantity s of table 5 is the silhouette, as in the text."""
        names = [*reported.TABLES, _TABLE_BY_RULE["best configuration by deviation"]]
        return cls({name: our_tables[name].frame.replace("silhouette", "s") for name in names if name in our_tables}, runs)

    def matcher(self, name: str) -> pd.Series:
        """A matcher's row of table 1. Raises ``Inconclusive`` if it is missing."""
        rows = self.tables["table1_matchers"].set_index("matcher")
        if name not in rows.index or pd.isna(rows.loc[name, "deviation_mean"]):
            raise Inconclusive(f"No numbers for matcher {name}.")
        return rows.loc[name]

    def every_matcher(self) -> pd.DataFrame:
        """Table 1. Raises ``Inconclusive`` if any of the paper's matchers is missing."""
        return pd.DataFrame([self.matcher(name) for name in selection.PAPER_NAMES.values()])

    def selected_runs(self, rule: str) -> pd.DataFrame:
        """The run that a rule selects on each dataset.

        A rule may also be the name of a method. It then selects that method's rows of table 4.
        """
        if rule in _RULES_WITHOUT_TABLE:
            condition, by = _RULES_WITHOUT_TABLE[rule]
            candidates = selection.seeds_of_paper(self.ok_runs).query(condition)
            rows = selection.best(candidates, by, ["dataset"]).rename(columns={"n_clusters": "size"})
            rows = rows.assign(matcher=selection.paper_names(rows["matcher"]))
        elif rule in _TABLE_BY_RULE:
            rows = self.tables[_TABLE_BY_RULE[rule]]
        else:
            table4 = self.tables["table4_frac_vs_clusterlets"]
            rows = table4[table4["method"] == rule]
        rows = rows[rows["deviation_mean"].notna()].set_index("dataset")
        if rows.empty:
            raise Inconclusive(f"No numbers for {rule}.")
        return rows.loc[selection.in_order(rows.index, reported.datasets())]

    @property
    def single_runs(self) -> pd.DataFrame:
        """Runs of Clusterlets without the degenerate ones: all of ours, or those that the paper shows in tables 2 and 3."""
        if self.runs is not None:
            runs = selection.seeds_of_paper(self.ok_runs)
            return selection.without_degenerate(runs[runs["method"] == "Clusterlets"])
        return pd.concat([self.tables[reported.TABLES[1]], self.tables[reported.TABLES[2]]], ignore_index=True)

    @property
    def ok_runs(self) -> pd.DataFrame:
        """Every run with status ok. Raises ``Inconclusive`` for the paper, because its tables show only a few of its runs."""
        if self.runs is None:
            raise Inconclusive("The printed tables do not show it; it takes the runs.")
        return selection.ok(self.runs)

    @cached_property
    def rankings(self) -> dict[str, statistics.Ranking]:
        """Rankings of the paper's matchers, alone and with FRAC and the controls. Other methods are left out.

        Raises ``Inconclusive`` for the paper, because figure 1 is an empty picture in its source.
        """
        if self.runs is None:
            raise Inconclusive("Figure 1, which would show it, is an empty picture in the paper's source.")
        methods_by_name = {"matchers": selection.PAPER_NAMES.values(), "with_frac": selection.WITH_MATCHERS}
        deviations = {name: statistics.blocks(self.ok_runs, methods, ["dataset"]) for name, methods in methods_by_name.items()}
        return {name: statistics.rank(name, "", frame) for name, frame in deviations.items()}


_TABLE_BY_RULE = {
    "best by deviation": "table2_best_by_deviation",
    "best by cohesion": "table3_best_by_cohesion",
    "best configuration by deviation": "table2_by_configuration_mean",
}

# Rules that no table uses: the condition on candidates, and the quantity by which the best candidate is selected. The rules
# for C do not exclude degenerate clusterings, because nearly every run of C has two clusters.
_RULES_WITHOUT_TABLE = {
    "C by deviation": ("matcher == 'C'", "deviation_mean"),
    "C by cohesion": ("matcher == 'C'", "cohesion"),
    "best by deviation, any size": (f"method == 'Clusterlets' and overlap < {selection.OVERLAP_LIMIT}", "deviation_mean"),
}


def align(numbers: Numbers, first: str, second: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs that two rules select, on the datasets where both select one."""
    first_rows, second_rows = numbers.selected_runs(first), numbers.selected_runs(second)
    datasets = [name for name in first_rows.index if name in second_rows.index]
    if not datasets:
        raise Inconclusive(f"No dataset has both {first} and {second}.")
    return first_rows.loc[datasets], second_rows.loc[datasets]


def differ(first_rows: pd.DataFrame, second_rows: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Whether aligned runs differ in any of the columns."""
    first, second = first_rows[columns], second_rows[columns]
    return ~(first.eq(second) | (first.isna() & second.isna())).all(axis=1)
