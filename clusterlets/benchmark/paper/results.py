"""Everything that follows from a grid's runs: tables, rankings, and what comes back of the paper's numbers and claims.

The step that analyses the runs computes them once; figures and report read its files.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from clusterlets.benchmark.analysis import overview, paired, selection, statistics
from clusterlets.benchmark.grid.runs_frame import read_results_table, read_runs, write_csv
from clusterlets.benchmark.paper import claims, comparison, copies, readings, reported, tables
from clusterlets.storage import write_text


@dataclass(frozen=True)
class Results:
    """The runs, their settings, and everything derived from them."""

    runs: pd.DataFrame
    settings: Mapping
    tables: Mapping[str, tables.Table]
    rankings: list[statistics.Ranking]
    comparison: pd.DataFrame
    shares: pd.DataFrame
    readings: pd.DataFrame
    claims: pd.DataFrame

    @classmethod
    def from_runs(
        cls,
        runs: pd.DataFrame,
        settings: Mapping,
        undivided_cohesion: Mapping[str, float] = {},
        code_runs: pd.DataFrame | None = None,
    ) -> "Results":
        """Compute everything. The paper's numbers and claims are compared only with runs on the paper's datasets.

        ``undivided_cohesion`` is the cohesion of each dataset as one cluster, for those where it was measured. ``code_runs``
        are those of the variant that does what the authors' published code does, if there is one.
        """
        paper_runs = runs[runs["dataset"].isin(reported.datasets())]
        our_tables = tables.make(runs)
        tables_on_paper_data = our_tables if len(paper_runs) == len(runs) else tables.make(paper_runs)
        # A configuration with ladders compares all methods, as workflow/configs/field.yaml does, so all are ranked.
        is_paper_grid = len(paper_runs) and not settings["ladders"]
        ranked_runs = selection.without_other_methods(runs, settings["method_settings"]) if is_paper_grid else runs
        rankings = statistics.rank_all(ranked_runs)
        judged = _judge(paper_runs, tables_on_paper_data, undivided_cohesion, code_runs)
        return cls(runs, settings, our_tables, rankings, *judged)

    @classmethod
    def read(cls, folder: Path, settings: Mapping) -> "Results":
        """Read everything from the files in a folder of results."""
        runs = read_runs(folder / "runs.csv")
        our_tables = tables.read(folder / "tables", runs)
        rankings = statistics.from_tables(
            *(read_results_table(folder / f"statistics/{name}.csv") for name in statistics.TABLES)
        )
        if not runs["dataset"].isin(reported.datasets()).any():  # nothing of the paper was judged
            return cls(runs, settings, our_tables, rankings, *_judge(runs[:0], tables.make(runs[:0])))
        return cls(
            runs,
            settings,
            our_tables,
            rankings,
            comparison.read(folder / "comparison.csv"),
            read_results_table(folder / "shares.csv"),
            read_results_table(folder / "readings.csv"),
            read_results_table(folder / "claims.csv"),
        )

    def write(self, folder: Path) -> None:
        """Write all files that follow from the runs into a folder of results."""
        for name, content in self.files():
            if isinstance(content, str):
                write_text(folder / name, content)
            else:
                write_csv(folder / name, content)

    def files(self) -> Iterator[tuple[str, pd.DataFrame | str]]:
        """The path below the results folder and the content of each file: tables for :meth:`read`, and versions for people."""
        yield "tables/all_tables.tex", tables.document(tables.NAMES)
        for name, table in self.tables.items():
            yield f"tables/{name}.csv", table.frame
            yield f"tables/{name}.md", tables.to_markdown(table)
            yield f"tables/{name}.tex", tables.to_latex(table)
        tests = paired.wilcoxon(paired.samples(self.runs, self.rankings))
        for name, frame in (statistics.to_tables(self.rankings) | {"wilcoxon": tests}).items():
            yield f"statistics/{name}.csv", frame
        sections = [statistics.to_markdown(self.rankings, reported.datasets()), paired.to_markdown(tests)]
        yield "statistics/statistics.md", "\n".join(sections)
        yield "methods.csv", overview.by_method(self.runs, self.settings["method_settings"])
        if not self.has_paper_data:
            return
        yield "comparison.csv", self.comparison
        yield "shares.csv", self.shares
        yield "readings.csv", self.readings
        yield "claims.csv", self.claims
        yield "claims.md", claims.to_markdown(self.claims)

    @cached_property
    def datasets(self) -> list[str]:
        """Names of the datasets: first the paper's, in its order."""
        return selection.in_order(self.runs["dataset"], reported.datasets())

    @cached_property
    def on_paper_data(self) -> "Results":
        """These results from the paper's datasets alone; from all datasets if none of the paper's was run."""
        runs = reported.runs_of_paper(self.runs)
        return self if len(runs) == len(self.runs) else replace(Results.from_runs(runs, self.settings), claims=self.claims)

    @property
    def has_paper_data(self) -> bool:
        """Whether any of the datasets is the paper's."""
        return any(name in self.datasets for name in reported.datasets())

    @property
    def has_mixed_datasets(self) -> bool:
        """Whether there are both datasets of the paper and others."""
        return self.on_paper_data is not self


def _judge(
    paper_runs: pd.DataFrame,
    our_tables: Mapping[str, tables.Table],
    undivided_cohesion: Mapping[str, float] = {},
    code_runs: pd.DataFrame | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The comparison with the paper's numbers, the shares inside, the readings of its quantities, and its claims."""
    if code_runs is not None:
        code_runs = reported.runs_of_paper(code_runs)
    compared = comparison.compare(paper_runs, our_tables, code_runs)
    measured = copies.measure(paper_runs)
    return (
        compared,
        copies.shares(compared, measured if len(measured) else reported.copies()),
        readings.measure(paper_runs),
        claims.assess(paper_runs, our_tables, undivided_cohesion),
    )
