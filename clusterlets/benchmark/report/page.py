"""The report ``report.html``: the paper beside ours, and the tables, figures and tests behind it."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.benchmark.paper import copies, overview, ranges, tables
from clusterlets.benchmark.paper.claims.findings import FAILS
from clusterlets.benchmark.paper.claims.findings import VERDICTS as CLAIM_VERDICTS
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.paper.table_names import TITLES
from clusterlets.benchmark.report import SHOWN_LIMIT, answers, standings
from clusterlets.benchmark.report.figures import declarations
from clusterlets.benchmark.report.narrative import describe_gaps
from clusterlets.benchmark.report.standings import Standings
from clusterlets.pages.templating import PageTable, embed_png, render_template
from clusterlets.text import counted, decimal

#: Whether a number of the paper is inside our range, in words.
PLACES = {ranges.INSIDE: "inside", ranges.OUTSIDE: "outside", ranges.UNKNOWN: "not compared"}
# Each place and each verdict on a claim has a tone, and each tone a symbol, so that the page does not rely on color alone.
TONES = dict(zip(PLACES.values(), ("good", "bad", "open"), strict=True))
TONES |= dict(zip(CLAIM_VERDICTS, ("good", "near", "bad", "open", "open"), strict=True))
SYMBOLS = {"good": "✓", "near": "≈", "bad": "✗", "open": "–"}

# Lists of reasons: the title, a remark, and the place of the numbers.
_REASON_LISTS = (
    ("Why numbers are outside", "Written for the run in reference/paper: ten datasets, the paper's grid.", "outside"),
    ("Why numbers were not compared", "", "not compared"),
)
# The tables of results/statistics that the page shows in full, with their titles.
STATISTICS = {
    "wilcoxon": "Pairs of methods: Wilcoxon's test with Holm's correction, and effect sizes",
}

# The rankings that include the controls, which have a section of their own.
_WITH_CONTROLS = (statistics.WITH_CONTROLS, statistics.ALL_METHODS)


@dataclass(frozen=True)
class StepOutputs:
    """What the page shows from the files of other steps. Any of it may be empty; the page then says so.

    ``images`` holds the PNG figures by name, and ``statistics`` the tables by name. ``steps``, ``fits``, ``provenance`` and the
    figures drawn from them may differ between runs with equal results.
    """

    images: Mapping[str, bytes]
    standings: Standings = field(default_factory=Standings.none)
    datasets: pd.DataFrame = field(default_factory=pd.DataFrame)
    sensitivity: pd.DataFrame = field(default_factory=pd.DataFrame)
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    methods: pd.DataFrame = field(default_factory=pd.DataFrame)
    steps: pd.DataFrame = field(default_factory=pd.DataFrame)
    fits: pd.DataFrame = field(default_factory=pd.DataFrame)
    provenance: Mapping = field(default_factory=dict)


def render(results: Results, outputs: StepOutputs) -> str:
    """The page as HTML."""
    method_standings = outputs.standings
    cells = results.comparison.assign(place=results.comparison["inside"].map(PLACES))
    claim_rows = _claim_rows(results.claims)
    rankings = [
        (ranking, f"{statistics.describe(ranking)} {statistics.compare_with_random(ranking)}".strip())
        for ranking in results.rankings
    ]
    method_count = counted(selection.names(results.runs).nunique(), "method")
    # The first table is that of the fair methods, if there are any.
    methods_under_limit = next(iter(standings.all_methods(method_standings, SHOWN_LIMIT).values()), pd.DataFrame())
    return render_template(
        "report.html",
        "clusterlets.benchmark.report",
        tones=TONES,
        symbols=SYMBOLS,
        has_paper_data=results.has_paper_data,
        scope=f"{method_count} on {counted(len(results.datasets), 'dataset')}",
        answers=answers.answers(results, method_standings),
        glossary=answers.GLOSSARY.items(),
        further_glossary=answers.FURTHER_GLOSSARY.items(),
        missing=describe_gaps(results),
        basis=answers.basis_sentence(results),
        standings=standings.summary(method_standings),
        methods_under_limit=page_table(methods_under_limit),
        failing=[claim for claim in claim_rows if claim["verdict_ours"] == FAILS],
        other_claims=[claim for claim in claim_rows if claim["verdict_ours"] != FAILS],
        claim_verdicts=_count_verdicts(results.claims["verdict_ours"], CLAIM_VERDICTS),
        table1=page_table(overview.table1(results.comparison)),
        mark_means=overview.MARK_MEANS,
        shares=page_table(overview.share_table(results.shares)),
        readings=page_table(results.readings),
        wrong_copies=copies.WRONG.items(),
        places=_count_verdicts(cells["place"], tuple(PLACES.values())),
        sections=[_section(table, cells) for table in results.tables.values() if results.has_paper_data or len(table.frame)],
        numbers=[_number_row(cell) for cell in cells.to_dict("records")],
        reasons=[(title, remark, _count_reasons(cells, place)) for title, remark, place in _REASON_LISTS],
        figures=_figures(outputs.images),
        how_to_read=statistics.HOW_TO_READ,
        with_controls=[(ranking.title, text) for ranking, text in rankings if ranking.name in _WITH_CONTROLS],
        rankings=[(ranking.title, text) for ranking, text in rankings if ranking.name not in _WITH_CONTROLS],
        tests=[(name, STATISTICS[name], page_table(frame)) for name, frame in outputs.statistics.items() if len(frame)],
        sensitivity=page_table(_with_titles(outputs.sensitivity)),
        settings=_flatten({key: value for key, value in results.settings.items() if key != "tables"}),
        datasets=page_table(outputs.datasets),
        methods=page_table(outputs.methods),
        steps=page_table(outputs.steps),
        fits=page_table(_fits_by_method(outputs.fits)),
        provenance=_provenance_parts({key: value for key, value in outputs.provenance.items() if key != "settings"}),
    )


def _count_verdicts(verdicts: pd.Series, order: tuple[str, ...]) -> list[tuple[str, int]]:
    """How often each verdict, or place, was given. Those that were never given are left out."""
    counts = Counter(verdicts)
    return [(verdict, counts[verdict]) for verdict in order if counts[verdict]]


def _claim_rows(claims: pd.DataFrame) -> list[dict]:
    """A row for each claim, with links to its evidence as (text, target)."""
    rows = fill_text(claims, *claims).astype(str).to_dict("records")
    links = [[_evidence_link(PurePosixPath(file)) for file in re.findall(r"[^\s,;]+", row["evidence"])] for row in rows]
    return [row | {"evidence": evidence} for row, evidence in zip(rows, links, strict=True)]


def _evidence_link(path: PurePosixPath) -> tuple[str, str]:
    """Text and target of a link to the part of the page that shows a file or, if there is none, to the file."""
    if path.stem in TITLES:
        return _short_title(path.stem), f"#{path.stem}"
    if path.stem in {figure.name for figure in declarations()}:
        return "Figure", f"#figure-{path.stem}"
    if path.stem in STATISTICS:
        return path.name, f"#statistics-{path.stem}"
    return path.name, {"comparison.csv": "#numbers", "sensitivity.csv": "#sensitivity"}.get(str(path), str(path))


def _count_reasons(cells: pd.DataFrame, place: str) -> list[tuple[str, int]]:
    """The reasons given for counted numbers in this place, each with its number of cells."""
    reasons = cells.loc[cells["counted"] & (cells["place"] == place), "reason"]
    return list(reasons[reasons != ""].value_counts(sort=False).items())


# ---- tables ----------------------------------------------------------------------------------------------------------


def page_table(frame: pd.DataFrame) -> PageTable:
    """A frame as text: decimal fractions are formatted by :func:`decimal`, and missing values become ``–``."""
    columns = [(_label(name), pd.api.types.is_numeric_dtype(frame[name])) for name in frame]
    return PageTable(columns, [[_format_value(value) for value in row] for row in frame.itertuples(index=False)])


def _with_titles(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with ``Table 1`` in place of ``table1_matchers``, and so on."""
    return frame.replace({stem: _short_title(stem) for stem in TITLES})


def _short_title(table: str) -> str:
    """The title up to the colon, such as ``Table 1``."""
    return TITLES[table].partition(":")[0]


def _fits_by_method(fits: pd.DataFrame) -> pd.DataFrame:
    """Time and memory of the fits of each method, the slowest first."""
    if fits.empty:
        return fits
    costs = fits.groupby("method").agg(
        fits=("seconds", "size"),
        median_seconds=("seconds", "median"),
        longest_seconds=("seconds", "max"),
        largest_memory_mb=("memory_mb", "max"),
    )
    return costs.sort_values("median_seconds", ascending=False, kind="stable").reset_index()


def _label(name: str) -> str:
    return name.replace("_", " ")


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if pd.isna(value):
        return "–"
    if not isinstance(value, float):
        return str(value)
    if value.is_integer():
        return f"{value:.0f}"
    return decimal(value)


def _section(table: tables.Table, cells: pd.DataFrame) -> dict:
    """The section of a table: the table, and the paper's numbers beside ours if any can be compared."""
    cells = cells[cells["table"] == table.name]
    return {
        "table": table,
        "title": TITLES[table.name],
        "view": PageTable(
            [(column.title, column.decimals is not None) for column in table.columns], tables.cells(table), tables.best(table)
        ),
        "comparison": _comparison_rows(cells) if cells["reproduced"].notna().any() else None,
    }


def _comparison_rows(cells: pd.DataFrame) -> dict:
    """The numbers of a table in the paper's order. A cell is None if the paper prints nothing there.

    ``best`` marks our best value among the rows of a dataset, or among all rows of a table without datasets.
    """
    best = {
        (row, quantity)
        for (_, quantity), group in cells.groupby(["dataset", "quantity"], dropna=False)
        for row in group.loc[tables.is_best(group["reproduced"], quantity), "row"]
    }
    keys = list(zip(cells["row"], cells["quantity"], strict=True))
    entries = {key: _number_row(cell) | {"best": key in best} for key, cell in zip(keys, cells.to_dict("records"), strict=True)}
    quantities = list(cells["quantity"].unique())
    return {
        "quantities": [_label(quantity) for quantity in quantities],
        "rows": [
            (_row_name(cells["table"].iloc[0], row), [entries.get((row, quantity)) for quantity in quantities])
            for row in cells["row"].unique()
        ],
    }


def _row_name(table: str, row: str) -> str:
    """The name of a row on the page. A correlation's name becomes ``Pearson · Cohesion · Omega``."""
    return " · ".join(map(tables.readable_name, row.split())) if table == "table5_correlations" else row


def _number_row(cell: dict) -> dict:
    """One number of the paper beside ours."""
    has_range = not pd.isna(cell["low"])
    return {
        "table": _short_title(cell["table"]),
        "row": _row_name(cell["table"], cell["row"]),
        "quantity": _label(cell["quantity"]),
        "ours": _format_like(cell["reported"], cell["reproduced"]),
        "by_code": _format_like(cell["reported"], cell["reproduced_by_code"]),
        "sort": "" if pd.isna(cell["reproduced"]) else cell["reproduced"],
        "printed": _format_printed(cell["reported"]),
        "range": f"{decimal(cell['low'])} to {decimal(cell['high'])}" if has_range else "–",
        "place": cell["place"],
        "place_by_code": PLACES[cell["inside_by_code"]],
        "counted": cell["counted"],
        "reason": cell["reason"],
    }


def _format_like(printed: str, ours: str) -> str:
    """Our number with as many decimals as the paper prints. Text stays as it is, and a missing number becomes ``–``."""
    if pd.isna(ours):
        return "–"
    try:
        return decimal(float(ours), len(printed.partition(".")[2]))
    except ValueError:
        return ours


def _format_printed(printed: str) -> str:
    """A number of the paper in the page's style: ``0.029`` and ``−0.25`` for ``.029`` and ``-.25``."""
    if not re.fullmatch(r"-?[\d.]+", printed):
        return printed
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", printed).replace("-", "−")


def _flatten(content: Mapping, prefix: str = "") -> list[tuple[str, str]]:
    """All entries as (key, value). Nested entries have dotted keys."""
    rows = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            rows += _flatten(value, f"{prefix}{key}.")
        else:
            rows.append((f"{prefix}{key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return rows


def _provenance_parts(provenance: Mapping) -> list[dict]:
    """The parts of the provenance. A part whose entries are all mappings is shown as a table."""
    single_values = {key: value for key, value in provenance.items() if not isinstance(value, Mapping)}
    parts: list[dict] = [{"title": "In short", "rows": _flatten(single_values), "view": None}] if single_values else []
    for name, content in provenance.items():
        if name in single_values:
            continue
        is_table = bool(content) and all(isinstance(value, Mapping) for value in content.values())
        frame = pd.DataFrame.from_dict(content, orient="index").rename_axis("name").reset_index() if is_table else None
        view = page_table(frame) if is_table else None
        parts.append({"title": _label(name).capitalize(), "rows": _flatten(content), "view": view})
    return parts


# ---- figures ---------------------------------------------------------------------------------------------------------


def _figures(images: Mapping[str, bytes]) -> dict[str, list[dict]]:
    """The figures that have an image, by section of the page."""
    sections: dict[str, list[dict]] = {}
    for figure in declarations():
        if figure.name not in images:
            continue
        png, pdf = figure.files("png", "pdf")
        entry = {"name": figure.name, "title": figure.title, "caption": figure.caption, "png": png, "pdf": pdf}
        for section in figure.sections:
            sections.setdefault(section.partition("#")[2], []).append(entry | embed_png(images[figure.name]))
    return sections
