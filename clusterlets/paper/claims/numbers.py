"""The numbers that decide claims: the paper's five tables, or ours with the runs behind them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from clusterlets.analysis import paired, selection, statistics
from clusterlets.paper import reported
from clusterlets.paper.claims.findings import Undecided
from clusterlets.paper.tables import Table

_TEXT = ("dataset", "method", "matcher", "coefficient", "x", "y")


@dataclass(frozen=True)
class Numbers:
    """The paper's five tables as numbers, in the paper's columns, and the runs behind them (None for the paper's own)."""

    tables: Mapping[str, pd.DataFrame]
    runs: pd.DataFrame | None = None

    @classmethod
    def from_paper(cls) -> "Numbers":
        """The printed numbers. The paper's FRAC is FRAC (nearest); the s of its table 5 stays s, whatever it means."""
        paper_tables = {}
        for name in reported.TABLES:
            table = reported.table(name).replace({"FRAC": "FRAC (nearest)", "cohesion": "s"})
            paper_tables[name] = table.astype({column: float for column in table if column not in _TEXT})
        return cls(paper_tables)

    @classmethod
    def from_runs(cls, runs: pd.DataFrame, our_tables: Mapping[str, Table]) -> "Numbers":
        """Our tables, and the runs behind them; the s of table 5 is the silhouette, as in equation 1."""
        return cls({name: our_tables[name].frame.replace("centroid_silhouette", "s") for name in reported.TABLES}, runs)

    def check_datasets(self) -> None:
        """Raise ``Undecided`` for half of the paper's datasets or fewer: a verdict on these would be on something else."""
        if self.runs is not None and (too_few := reported.why_too_few(self.runs["dataset"].nunique())):
            raise Undecided(too_few)

    def matcher(self, name: str) -> pd.Series:
        """A matcher's row of table 1."""
        rows = self.tables["table1_matchers"].set_index("matcher")
        if name not in rows.index or pd.isna(rows.loc[name, "deviation_mean"]):
            raise Undecided(f"No numbers for matcher {name}.")
        return rows.loc[name]

    def every_matcher(self) -> pd.DataFrame:
        """Table 1; ``Undecided`` if any of the paper's matchers is missing."""
        return pd.DataFrame([self.matcher(name) for name in selection.PAPER_NAMES.values()])

    def chosen_runs(self, name: str) -> pd.DataFrame:
        """The run of each dataset that a table shows, or that the rule of this name selects from the runs."""
        if name in _CHOSEN_BY_TABLE:
            table, method = _CHOSEN_BY_TABLE[name]
            rows = self.tables[table]
            rows = rows if method is None else rows[rows["method"] == method]
        else:
            rows = _CHOSEN_FROM_RUNS[name](self._on_paper_seeds).rename(columns={"n_clusters": "size"})
            rows = rows.assign(matcher=selection.paper_names(rows["matcher"]))
        rows = rows[rows["deviation_mean"].notna()].set_index("dataset")
        if rows.empty:
            raise Undecided(f"No numbers for {name}.")
        return rows.loc[selection.in_order(rows.index, reported.datasets())]

    @property
    def single_runs(self) -> pd.DataFrame:
        """Every single run with numbers, without limit cases: all of ours, tables 2 and 3 of the paper."""
        if self.runs is not None:
            runs = self._on_paper_seeds
            return selection.without_limit_cases(runs[runs["method"] == "Clusterlets"])
        return pd.concat([self.tables[reported.TABLES[1]], self.tables[reported.TABLES[2]]], ignore_index=True)

    @property
    def all_runs(self) -> pd.DataFrame:
        """Every run with a result; ``Undecided`` for the paper, whose tables do not show single runs."""
        if self.runs is None:
            raise Undecided("The printed tables do not show it; it takes the runs.")
        return selection.ok(self.runs)

    @property
    def _on_paper_seeds(self) -> pd.DataFrame:
        return selection.seeds_of_paper(self.all_runs)

    @cached_property
    def rankings(self) -> dict[str, statistics.Ranking]:
        """Rankings of the paper's matchers, alone and with FRAC and the controls, whatever else was run.

        The paper has none: its figure 1 is an empty picture in its source.
        """
        if self.runs is None:
            raise Undecided("Figure 1, which would show it, is an empty picture in the paper's source; the tables do not.")
        runs = selection.ok(self.runs)
        runs = runs.assign(name=selection.names(runs))
        ranked = {"matchers": selection.PAPER_NAMES.values(), "with_frac": selection.WITH_MATCHERS}
        return {
            name: statistics.rank(name, "", statistics.blocks(runs, methods, ["dataset"])) for name, methods in ranked.items()
        }

    @cached_property
    def wilcoxon(self) -> pd.DataFrame:
        """Wilcoxon's test of every pair of matchers over the datasets."""
        return paired.wilcoxon({"matchers": self.rankings["matchers"].complete})


# The table that shows a choice, and the method if the table has several.
_CHOSEN_BY_TABLE = {
    "best by deviation": ("table2_best_by_deviation", None),
    "best by cohesion": ("table3_best_by_cohesion", None),
    "Clusterlets": ("table4_frac_vs_clusterlets", "Clusterlets"),
    "FRAC (nearest)": ("table4_frac_vs_clusterlets", "FRAC (nearest)"),
    "FRAC (fair)": ("table4_frac_vs_clusterlets", "FRAC (fair)"),
}


def _best_of_clusterlets(runs: pd.DataFrame, fewest_clusters: int = 0, overlap_limit: float = np.inf) -> pd.DataFrame:
    runs = runs[(runs["method"] == "Clusterlets") & (runs["n_clusters"] >= fewest_clusters)]
    return selection.best(runs[runs["overlap"] < overlap_limit], "deviation_mean", ["dataset"])


# Choices that no table shows. Those of C include limit cases, because nearly every run of C has two clusters.
_CHOSEN_FROM_RUNS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "C by deviation": lambda runs: selection.best(runs[runs["matcher"] == "C"], "deviation_mean", ["dataset"]),
    "C by cohesion": lambda runs: selection.best(runs[runs["matcher"] == "C"], "cohesion", ["dataset"]),
    "best by deviation, any size": lambda runs: _best_of_clusterlets(runs, overlap_limit=selection.OVERLAP_LIMIT),
    "best by deviation, any overlap": lambda runs: _best_of_clusterlets(runs, selection.FEWEST_CLUSTERS),
}


def align(numbers: Numbers, first: str, second: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two choices of runs, on the datasets that both have."""
    first_rows, second_rows = numbers.chosen_runs(first), numbers.chosen_runs(second)
    datasets = [name for name in first_rows.index if name in second_rows.index]
    if not datasets:
        raise Undecided(f"No dataset has both {first} and {second}.")
    return first_rows.loc[datasets], second_rows.loc[datasets]
