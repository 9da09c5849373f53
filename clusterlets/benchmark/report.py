"""The report: what is missing, what came back, every number beside the paper's, on one page that needs no network."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

import clusterlets
from clusterlets.benchmark import comparison, reported, selection, statistics, tables
from clusterlets.benchmark.figures import CAPTIONS

_GRID_OF_PAPER = {"k": (2, 5, 10, 20, 30), "hops": (1, 2, 3, 4), "omega": (0, 0.25, 0.5, 0.75)}
_SETTINGS_OF_PAPER = {
    "scaling": "none", "sample_size": 250_000, "pinball_scope": "last", "greedy_scope": "cluster", "deviation": "absolute",
    "equation": "corrected",
    "frac": {"variant": "FRAC", "tau": "balanced", "init": "random", "max_iter": 100, "tol": 0.0001},
}  # fmt: skip
_METHODS_OF_PAPER = (*selection.PAPER_NAMES.values(), "FRAC (nearest)")
_SYMBOLS = dict(zip(comparison.VERDICTS, "✓≈✗–", strict=True))


@dataclass(frozen=True)
class Results:
    """Everything that follows from the runs, each part computed once and when it is asked for."""

    runs: pd.DataFrame
    settings: Mapping

    @cached_property
    def tables(self) -> dict[str, tables.Table]:
        return {table.name: table for table in tables.make(self.runs)}

    @cached_property
    def comparison(self) -> pd.DataFrame:
        return comparison.compare(self.runs)

    @cached_property
    def counts(self) -> pd.DataFrame:
        return comparison.counts(self.comparison)

    @cached_property
    def rankings(self) -> list[statistics.Ranking]:
        return statistics.rank_all(self.runs)

    @cached_property
    def datasets(self) -> list[str]:
        return selection.in_order(self.runs["dataset"], reported.datasets())

    @property
    def has_paper_data(self) -> bool:
        return any(name in self.datasets for name in reported.datasets())


# ---- in words --------------------------------------------------------------------------------------------------------


def missing_lines(results: Results) -> list[str]:
    """What a reader must know before any number: datasets, settings and runs that are not there."""
    runs = results.runs
    absent = [name for name in reported.datasets() if name not in results.datasets]
    extra = [name for name in results.datasets if name not in reported.datasets()]
    lines = []
    if absent:
        total = len(reported.datasets())
        lines.append(f"Of the paper's {total} datasets, {total - len(absent)} are here; missing: {', '.join(absent)}.")
    if extra:
        lines.append(f"Datasets that the paper does not have, shown but not compared: {', '.join(extra)}.")
    lines += _unlike_the_paper(runs) + _other_settings(_SETTINGS_OF_PAPER, results.settings)
    troubled = runs[runs["status"] != "ok"]
    for (status, method), group in troubled.groupby(["status", selection.names(troubled)]):
        where = ", ".join(f"{name} ({count})" for name, count in group["dataset"].value_counts(sort=False).items())
        lines.append(f"{len(group)} runs of {method} have no result, status {status}: {where}.")
    for note, count in selection.ok(runs)["note"].value_counts().sort_index().items():
        lines.append(f"{count} runs carry the note: {note}")
    return lines or ["Nothing is missing: all of the paper's datasets, settings and seeds, every run with a result."]


def _unlike_the_paper(runs: pd.DataFrame) -> list[str]:
    lines = []
    methods = [name for name in _METHODS_OF_PAPER if name not in set(selection.names(runs))]
    if methods:
        lines.append(f"Methods of the paper without runs: {', '.join(methods)}.")
    for parameter, values in _GRID_OF_PAPER.items():
        absent = [f"{value:g}" for value in values if value not in set(runs[parameter])]
        if absent:
            lines.append(f"Values of {parameter} in the paper's grid that were not run: {', '.join(absent)}.")
    seeds = runs["seed"].nunique()
    if seeds < selection.SEEDS_OF_PAPER:
        lines.append(f"Seeds: {seeds} instead of the paper's {selection.SEEDS_OF_PAPER}.")
    if seeds > selection.SEEDS_OF_PAPER:
        lines.append(
            f"Tables are made from the first {selection.SEEDS_OF_PAPER} of {seeds} seeds, as in the paper; "
            "the others show how noisy choosing a single run is."
        )
    return lines


def _other_settings(paper: Mapping, ours: Mapping, inside: str = "") -> list[str]:
    """Settings that change what a number means, where they are not those that the paper's numbers come from."""
    lines = []
    for key, value in paper.items():
        if isinstance(value, Mapping):
            lines += _other_settings(value, ours[key], f"{key}.")
        elif ours[key] != value:
            lines.append(f"Setting {inside}{key}: {ours[key]} instead of {value}.")
    scaled = [name for name, table in ours.get("tables", {}).items() if table["scaling"] != ours["scaling"]]
    return lines + [f"Dataset {name}: scaling {ours['tables'][name]['scaling']}." for name in scaled]


def verdict_lines(results: Results) -> list[str]:
    """The verdicts counted, and what they leave open."""
    if not results.has_paper_data:
        return ["Nothing can be held against the paper: none of its datasets is among these runs."]
    total = results.counts.iloc[-1]
    lines = [
        f"Of {total['counted']} numbers and choices in the paper's tables, {total['reproduced']} are reproduced, "
        f"{total['close']} are close and {total['differs']} differ; {total['not comparable']} cannot be compared, each "
        f"with its reason. {total['only_shown']} more are shown but not counted: structural zeros, and rows that "
        "repeat another."
    ]
    noise = results.comparison.query("counted and verdict == 'differs'")["within_selection_noise"].dropna()
    if len(noise):
        lines.append(
            f"Of those that differ, {int(noise.sum())} of {len(noise)} lie within what choosing a single run on other "
            "seeds gives; they still count as differing."
        )
    reading = comparison.closer_reading(results.comparison)
    if reading:
        lines.append(
            f"Table 5 is nearer to the paper with s read as {reading[0].replace('_', ' ')} "
            f"(off by {reading[1]:.3f} on average)."
        )
    return lines


def telling_lines(results: Results, report: str) -> list[str]:
    """The five lines to read if one reads no more: ``results/summary.txt``."""
    counts = results.runs["status"].value_counts().sort_index()
    left_out = ", ".join(f"{count} {status}" for status, count in counts.drop("ok", errors="ignore").items())
    return [
        _best_matcher_line(results),
        _frac_line(results.tables["table4_frac_vs_clusterlets"].frame),
        verdict_lines(results)[0],
        _significance_line(results.rankings[0]),
        f"Datasets: {', '.join(results.datasets) or 'none'}; runs counted: {counts.get('ok', 0)}, "
        f"left out: {left_out or 'none'}. Report: {report}",
    ]


def _best_matcher_line(results: Results) -> str:
    ours = results.tables["table1_matchers"].frame.dropna(subset=["deviation_mean"])
    if ours.empty:
        return "No run of Clusterlets has a result."
    printed = reported.table("table1_matchers")
    printed = printed.loc[printed["deviation_mean"].astype(float).idxmin()]
    best = ours.loc[ours["deviation_mean"].idxmin()]
    where = f"on {len(reported.datasets())} datasets" if results.has_paper_data else "on other datasets"
    return (
        f"Best matcher by mean deviation, over all runs: {best['matcher']}, {best['deviation_mean']:.3f} "
        f"on {_datasets(len(results.datasets))} (the paper {where}: {printed['matcher']}, {printed['deviation_mean']})."
    )


def _frac_line(table4: pd.DataFrame) -> str:
    """Averages over the datasets on which every method has a best run, or they would not be of the same data."""
    chosen = table4.pivot(index="dataset", columns="method", values="deviation_mean").dropna(axis=1, how="all").dropna()
    if chosen.empty or "Clusterlets" not in chosen or chosen.shape[1] < 2:
        return "Clusterlets against FRAC: not both have a run with at least 3 clusters and an overlap below 0.5."
    means = ", ".join(f"{method} {value:.4f}" for method, value in chosen.mean().sort_values(kind="stable").items())
    lower = ", ".join(
        f"{method} on {int((chosen['Clusterlets'] < chosen[method]).sum())}"
        for method in ("FRAC (nearest)", "FRAC (fair)")
        if method in chosen
    )
    return (
        f"Mean deviation of each dataset's best run, averaged over {_datasets(len(chosen))}: {means}. "
        f"Clusterlets is below {lower}. The paper scored FRAC as nearest; fair is the algorithm as defined."
    )


def _significance_line(ranking: statistics.Ranking) -> str:
    if ranking.obstacle:
        return f"Significance of the matchers' differences: not computed. {ranking.obstacle}"
    pairs = ranking.pairs
    return (
        f"{int(pairs['significant'].sum())} of {len(pairs)} pairs of matchers differ significantly over "
        f"{_datasets(len(ranking.values))} (Friedman p {statistics.p_in_words(ranking.p_value)}; Nemenyi's critical "
        f"difference {ranking.critical_difference:.2f} ranks)."
    )


def _datasets(number: int) -> str:
    return "1 dataset" if number == 1 else f"{number} datasets"


# ---- the page --------------------------------------------------------------------------------------------------------


def render(results: Results, images: Mapping[str, bytes], report: str) -> str:
    """The page as HTML. ``images`` are the PNG figures by name; ``report`` is where the page will lie."""
    environment = Environment(
        loader=PackageLoader("clusterlets.benchmark"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        version=clusterlets.__version__,
        missing=missing_lines(results),
        verdicts=verdict_lines(results),
        summary=telling_lines(results, report),
        counts=results.counts.to_dict("split"),
        symbols=_SYMBOLS,
        sections=[_section(table, results.comparison) for table in results.tables.values()],
        reasons=_reasons(results.comparison),
        figures=[(CAPTIONS[name], b64encode(image).decode()) for name, image in images.items()],
        settings=_flat(results.settings),
        assumptions=statistics.ASSUMPTIONS,
        rankings=[(ranking.title, statistics.in_words(ranking)) for ranking in results.rankings],
    )


def _flat(settings: Mapping, inside: str = "") -> list[tuple[str, str]]:
    """Every setting as key and value, inner ones by dotted keys; the tables are in the list of the data."""
    rows = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            rows += [] if key == "tables" else _flat(value, f"{inside}{key}.")
        else:
            rows.append((f"{inside}{key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return rows


def _section(table: tables.Table, compared: pd.DataFrame) -> dict:
    """A table of ours, and beside it the paper's numbers where there is something to compare."""
    compared = compared[compared["table"] == table.name]
    return {
        "table": table,
        "header": [column.title for column in table.columns],
        "rows": tables.cells(table),
        "beside": _beside(compared) if compared["reproduced"].notna().any() else None,
    }


def _beside(compared: pd.DataFrame) -> dict:
    """Rows and quantities of one table in the paper's order; a cell is None where the paper prints nothing."""
    cells = {(cell["row"], cell["quantity"]): cell for cell in compared.to_dict("records")}
    quantities = list(compared["quantity"].unique())
    return {
        "quantities": [quantity.replace("_", " ") for quantity in quantities],
        "rows": [
            (row, [_beside_cell(cells.get((row, quantity))) for quantity in quantities])
            for row in compared["row"].unique()
        ],
    }


def _beside_cell(cell: dict | None) -> dict | None:
    return cell and {
        "ours": _like(cell["reported"], cell["reproduced"]),
        "printed": cell["reported"],
        "symbol": _SYMBOLS[cell["verdict"]],
        "style": cell["verdict"].replace(" ", "-") if cell["counted"] else "only-shown",
        "reason": cell["reason"],
    }


def _like(printed: str, ours: str) -> str:
    """Our number with as many decimals as the paper prints; text and missing values as they are."""
    if pd.isna(ours):
        return "–"
    try:
        return f"{float(ours):.{len(printed.partition('.')[2])}f}"
    except ValueError:
        return ours


def _reasons(compared: pd.DataFrame) -> list[tuple[str, int]]:
    """Why cells were not compared, with how many."""
    reasons = compared.loc[compared["counted"] & (compared["verdict"] == "not comparable"), "reason"]
    return list(reasons.value_counts(sort=False).items())
