"""The report: one page that opens from disk without a network, in the order in which a reader asks."""

import re
import struct
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import clusterlets
from clusterlets.analysis import at_fairness, selection, statistics
from clusterlets.paper import bands, comparison, tables
from clusterlets.paper.claims.findings import FAILS
from clusterlets.paper.claims.findings import VERDICTS as CLAIM_VERDICTS
from clusterlets.paper.results import Results
from clusterlets.report import standings, verdict
from clusterlets.report.figures import CAPTIONS, LEADERBOARD_CAPTIONS
from clusterlets.report.narrative import (
    basis_sentence,
    missing_lines,
    remarks_on_numbers,
    verdict_sentences,
)
from clusterlets.report.standings import Standings
from clusterlets.text import counted, decimal, in_percent

# Color and symbol of a verdict: never the color alone.
TONES = dict(zip(comparison.VERDICTS, ("good", "near", "vague", "bad", "open"), strict=True))
TONES |= dict(zip(CLAIM_VERDICTS, ("good", "near", "bad", "open"), strict=True))
SYMBOLS = {"good": "✓", "near": "≈", "vague": "?", "bad": "✗", "open": "–"}

_TITLES = {
    "table1_matchers": "Table 1: the matchers",
    "table2_best_by_deviation": "Table 2: the best runs by deviation",
    "table3_best_by_cohesion": "Table 3: the best runs by cohesion",
    "table4_frac_vs_clusterlets": "Table 4: Clusterlets against FRAC",
    "table5_correlations": "Table 5: correlations",
    "table2_by_configuration_mean": "Beside table 2: the best configurations by deviation",
    "table3_by_configuration_mean": "Beside table 3: the best configurations by cohesion",
    "table2_with_controls": "Beside table 2: FRAC and the controls, by deviation",
    "table3_with_controls": "Beside table 3: FRAC and the controls, by cohesion",
}
# Title, what is to be said of all the reasons below it, and the verdict that they are given for.
_WHY = (
    ("Why numbers differ", "Written of the run in reference/paper: ten datasets, the paper's grid.", "differs"),
    ("Why numbers say nothing", "", "uninformative"),
    ("Why numbers were not compared", "", "not comparable"),
)
# Tables of results/statistics that the page shows whole.
STATISTICS = {
    "wilcoxon": "Pairs of methods: Wilcoxon's test with Holm's correction, and effect sizes",
    "intervals": "Ratios of mean deviations, with t intervals of their logarithms",
    "bayes": "Probabilities by the Bayesian signed-rank test",
    "held_out": "Configurations chosen on some seeds and scored on others, and the best of equally many",
}


# What the report shows of the leaderboard's figures, and the rankings that it shows among the controls.
FRONT_FIGURE = "price_against_unfairness"
_CONTROLLED = (statistics.WITH_CONTROLS, statistics.ALL_METHODS)
_RANKING_OF = {
    "figure1_critical_difference": "matchers",
    "critical_difference_with_controls": statistics.WITH_CONTROLS,
    "critical_difference_all_methods": statistics.ALL_METHODS,
}


@dataclass(frozen=True)
class Findings:
    """What other steps made of the runs, as it lies in their files; each may be empty, and the page then says so.

    ``images`` are the PNG figures by name; ``statistics`` tables by the stem of their file. ``steps``,
    ``fits`` and ``provenance`` are the only ones that differ between two runs of equal results.
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
    runtime: bytes = b""


@dataclass(frozen=True)
class View:
    """A table for the page: titles with whether they head numbers, rows of text, and the best cells as (row, column)."""

    columns: list[tuple[str, bool]]
    rows: list[list[str]]
    best: frozenset[tuple[int, int]] = frozenset()


def render(results: Results, findings: Findings) -> str:
    """The page as HTML."""
    of_paper = results.has_paper_data
    figures = [figure(CAPTIONS[name], name, findings.images[name]) for name in _figures_with_content(results, findings)]
    judged = _claims(results.claims) if of_paper else []
    rankings = [
        (ranking, f"{statistics.in_words(ranking)} {statistics.beside_random(ranking)}".strip()) for ranking in results.rankings
    ]
    return fill(
        "report.html",
        tones=TONES,
        symbols=SYMBOLS,
        of_paper=of_paper,
        title=_title(results),
        lead=_lead(results),
        answers=verdict.answers(results, findings.standings),
        glossary=list(verdict.GLOSSARY.items()),
        further_glossary=list(verdict.FURTHER_GLOSSARY.items()),
        missing=missing_lines(results),
        basis=basis_sentence(results),
        sentences=verdict_sentences(results) if of_paper else [],
        scores=_scores(results) if of_paper else [],
        standings=standings.in_short(findings.standings),
        standings_table=_standings_table(findings.standings),
        leaderboard_figures=[
            figure(LEADERBOARD_CAPTIONS[name], name, findings.images[name])
            for name in (FRONT_FIGURE,)
            if name in findings.images and not findings.standings.is_empty
        ],
        failing=[claim for claim in judged if claim["verdict_ours"] == FAILS],
        other_claims=[claim for claim in judged if claim["verdict_ours"] != FAILS],
        claim_verdicts=_counted(results.claims["verdict_ours"], CLAIM_VERDICTS) if of_paper else [],
        counts=_counts(results.counts) if of_paper else [],
        remarks=remarks_on_numbers(results),
        cell_verdicts=_counted(results.comparison["verdict"], comparison.VERDICTS) if of_paper else [],
        sections=[_section(table, results.comparison) for table in results.tables.values() if of_paper or len(table.frame)],
        numbers=_numbers(results.comparison) if of_paper else [],
        reasons=[(title, remark, _reasons(results.comparison, given)) for title, remark, given in _WHY] if of_paper else [],
        figures=[shown for shown in figures if shown["name"] != "sensitivity"],
        assumptions=statistics.ASSUMPTIONS,
        with_controls=[(ranking.title, words) for ranking, words in rankings if ranking.name in _CONTROLLED],
        rankings=[(ranking.title, words) for ranking, words in rankings if ranking.name not in _CONTROLLED],
        at_limits=at_fairness.in_words(results.at_given_fairness),
        at_limits_table=_if_any(at_fairness.counts(results.at_given_fairness)),
        tests=[(name, STATISTICS[name], view(frame)) for name, frame in findings.statistics.items() if len(frame)],
        sensitivity=_sensitivity(findings.sensitivity),
        sensitivity_figures=[shown for shown in figures if shown["name"] == "sensitivity"],
        bands=_bands(),
        settings=_flat({key: value for key, value in results.settings.items() if key != "tables"}),
        datasets=_if_any(findings.datasets),
        methods=_if_any(findings.methods),
        steps=_if_any(findings.steps),
        fits=_if_any(_fits_by_method(findings.fits)) if len(findings.fits) else None,
        provenance=_accounts({key: value for key, value in findings.provenance.items() if key != "settings"}),
        runtime=picture(findings.runtime) if findings.runtime else None,
    )


def _title(results: Results) -> str:
    if results.has_paper_data:
        return "Fair Clustering with Clusterlets: does the paper hold?"
    methods = selection.names(results.runs).nunique()
    return f"Fair clustering: {counted(methods, 'method')} on {counted(len(results.datasets), 'dataset')}"


def _lead(results: Results) -> str:
    if results.has_paper_data:
        return "Every number and every claim of the paper's experiments, computed again from raw data."
    return "How fair each method is on these tables, what its fairness costs, and whether the methods differ significantly."


def _figures_with_content(results: Results, findings: Findings) -> list[str]:
    """The names of the figures that these runs can fill: no axes without a mark."""
    obstacles = {ranking.name: ranking.obstacle for ranking in results.rankings}
    empty = {name for name, ranking in _RANKING_OF.items() if obstacles.get(ranking)}
    if not results.has_paper_data:
        empty |= {"reported_vs_reproduced", "sensitivity"}
    if findings.sensitivity.empty:
        empty.add("sensitivity")
    if "C" not in set(results.runs["matcher"]):
        empty.add("omega_effect")
    return [name for name in CAPTIONS if name in findings.images and name not in empty]


def _standings_table(found: Standings) -> View | None:
    return None if found.is_empty else view(standings.all_methods(found.under(standings.SHOWN_LIMIT)))


def _if_any(frame: pd.DataFrame) -> View | None:
    return view(frame) if len(frame) else None


def fill(template: str, **content: Any) -> str:
    """A page of its own: a template with the style and the script of all pages, which loads nothing from elsewhere."""
    environment = Environment(
        loader=PackageLoader("clusterlets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _template("report.css"), _template("report.js")
    return environment.get_template(template).render(
        version=clusterlets.__version__,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        **content,
    )


def _template(name: str) -> str:
    return (files("clusterlets.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source for the content security policy: this very text and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# ---- verdicts --------------------------------------------------------------------------------------------------------


def _counted(verdicts: pd.Series, known: tuple[str, ...]) -> list[tuple[str, int]]:
    """How often each verdict was given; those that never were are left out."""
    counts = Counter(verdicts)
    return [(verdict, counts[verdict]) for verdict in known if counts[verdict]]


def _scores(results: Results) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Name, place on the page and counted verdicts of what the verdict sums up."""
    scores = []
    if results.has_paper_data:
        numbers = results.comparison.loc[results.comparison["counted"], "verdict"]
        scores.append(("Numbers and choices in the tables", "tables", _counted(numbers, comparison.VERDICTS)))
    for side, words in (("ours", "our"), ("paper", "the paper's own")):
        scores.append((f"Claims, by {words} numbers", "claims", _counted(results.claims[f"verdict_{side}"], CLAIM_VERDICTS)))
    return scores


def _counts(counts: pd.DataFrame) -> list[dict]:
    """Of each of the paper's tables: title, place, counted verdicts, what is only shown, and shares beside those of chance."""
    return [
        {
            "title": _TITLES[row["table"]],
            "place": row["table"],
            "verdicts": [(word, row[word]) for word in comparison.VERDICTS],
            "only_shown": row["only_shown"],
            "shares": [
                f"{in_percent(row[share])} ({in_percent(row[f'{share}_by_chance'])})" for share in ("share", "share_bands")
            ],
        }
        for row in counts[counts["table"] != "all"].to_dict("records")
    ]


def _claims(claims: pd.DataFrame) -> list[dict]:
    return [row | {"evidence": _evidence(row["evidence"])} for row in claims.fillna("").astype(str).to_dict("records")]


def _evidence(text: str) -> list[tuple[str, str]]:
    """Files as (name, link): to the place where the page shows the file, or to the file beside the page."""
    return [_shown_at(PurePosixPath(word)) for word in re.split(r"[\s,;]+", text) if word]


def _shown_at(path: PurePosixPath) -> tuple[str, str]:
    if path.stem in _TITLES:
        return _TITLES[path.stem].partition(":")[0], f"#{path.stem}"
    if path.stem in CAPTIONS:
        return "Figure", f"#figure-{path.stem}"
    if path.stem in STATISTICS:
        return path.name, f"#statistics-{path.stem}"
    return path.name, {"comparison.csv": "#numbers", "sensitivity.csv": "#sensitivity"}.get(str(path), str(path))


def _bands() -> list[tuple[str, list[str]]]:
    """The bands of each kind of quantity in words: how far from the paper's number is still the verdict by bands."""

    def words(absolute: float, share: float) -> str:
        return f"{absolute:g}" + (f" or {100 * share:g} %, the larger" if share else "")

    kinds = {kind.replace("centroid", "centroid silhouette"): both for kind, both in bands.BANDS.items()}
    return [(kind, [words(*band) for band in both]) for kind, both in kinds.items()]


def _reasons(compared: pd.DataFrame, verdict: str) -> list[tuple[str, int]]:
    """Why cells have this verdict, with how many; most of what is reproduced has none."""
    reasons = compared.loc[compared["counted"] & (compared["verdict"] == verdict), "reason"]
    return list(reasons[reasons != ""].value_counts(sort=False).items())


# ---- tables ----------------------------------------------------------------------------------------------------------


def view(frame: pd.DataFrame) -> View:
    """Any table: numbers with three decimals or, where these would show 0, two digits; ``–`` where there is no value."""
    columns = [(_words(name), pd.api.types.is_numeric_dtype(frame[name])) for name in frame]
    return View(columns, [[_text(value) for value in row] for row in frame.itertuples(index=False)])


def _sensitivity(frame: pd.DataFrame) -> View | None:
    """The sensitivity analysis, with tables by their names."""
    names = {stem: title.partition(":")[0] for stem, title in _TITLES.items()}
    return view(frame.replace(names)) if len(frame) else None


def _fits_by_method(fits: pd.DataFrame) -> pd.DataFrame:
    """Time and memory of the fits of each method, the slowest first."""
    found = fits.groupby("method").agg(
        fits=("seconds", "size"),
        median_seconds=("seconds", "median"),
        longest_seconds=("seconds", "max"),
        largest_memory_mb=("memory_mb", "max"),
    )
    return found.sort_values("median_seconds", ascending=False, kind="stable").reset_index()


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if pd.isna(value):
        return "–"
    if not isinstance(value, float):
        return str(value)
    if value.is_integer():
        return f"{value:.0f}"
    return decimal(value)


def _section(table: tables.Table, compared: pd.DataFrame) -> dict:
    """A table of ours, and beside it the paper's numbers where there is something to compare."""
    compared = compared[compared["table"] == table.name]
    return {
        "table": table,
        "title": _TITLES[table.name],
        "view": View(
            [(column.title, column.decimals is not None) for column in table.columns], tables.cells(table), tables.best(table)
        ),
        "beside": _beside(compared) if compared["reproduced"].notna().any() else None,
    }


def _beside(compared: pd.DataFrame) -> dict:
    """Rows and quantities of one table in the paper's order; a cell is None where the paper prints nothing.

    ``best`` marks our best value among the rows of a dataset, or among all rows without datasets.
    """
    best = {
        (row, quantity)
        for (_, quantity), group in compared.groupby(["dataset", "quantity"], dropna=False)
        for row in group.loc[tables.is_best(group["reproduced"], quantity), "row"]
    }
    keys = list(zip(compared["row"], compared["quantity"], strict=True))
    cells = {key: _number(cell) | {"best": key in best} for key, cell in zip(keys, compared.to_dict("records"), strict=True)}
    quantities = list(compared["quantity"].unique())
    return {
        "quantities": [_words(quantity) for quantity in quantities],
        "rows": [
            (_row(compared["table"].iloc[0], row), [cells.get((row, quantity)) for quantity in quantities])
            for row in compared["row"].unique()
        ],
    }


def _row(table: str, row: str) -> str:
    """The name of a row for readers: ``Pearson · Cohesion · Omega`` of a correlation."""
    return " · ".join(map(tables.in_words, row.split())) if table == "table5_correlations" else row


def _numbers(compared: pd.DataFrame) -> list[dict]:
    """Every number of the paper, one after the other."""
    return [_number(cell) for cell in compared.to_dict("records")]


def _number(cell: dict) -> dict:
    """One number of the paper beside ours, as the page shows it."""
    ours = _like(cell["reported"], cell["reproduced"])
    return {
        "table": _TITLES[cell["table"]].partition(":")[0],
        "row": _row(cell["table"], cell["row"]),
        "quantity": _words(cell["quantity"]),
        "ours": ours,
        "sort": "" if pd.isna(cell["reproduced"]) else cell["reproduced"],
        "printed": _with_zero(cell["reported"]),
        "difference": "–" if pd.isna(cell["difference"]) else _signed(cell["difference"]),
        "verdict": cell["verdict"],
        "counted": cell["counted"],
        "reason": cell["reason"],
    }


def _like(printed: str, ours: str) -> str:
    """Our number with as many decimals as the paper prints; text and missing values as they are."""
    if pd.isna(ours):
        return "–"
    try:
        return decimal(float(ours), len(printed.partition(".")[2]))
    except ValueError:
        return ours


def _signed(difference: float) -> str:
    return ("+" if difference > 0 else "") + decimal(difference)


def _with_zero(printed: str) -> str:
    """A printed number in the page's style: the paper prints ``.029`` and ``-.25``."""
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", printed).replace("-", "−") if re.fullmatch(r"-?[\d.]+", printed) else printed


def _flat(content: Mapping, inside: str = "") -> list[tuple[str, str]]:
    """Every entry as key and value, inner ones by dotted keys."""
    rows = []
    for key, value in content.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{inside}{key}.")
        else:
            rows.append((f"{inside}{key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return rows


def _accounts(provenance: Mapping) -> list[dict]:
    """The parts of the provenance: a table where every entry has the same columns, else keys and values."""
    single = {key: value for key, value in provenance.items() if not isinstance(value, Mapping)}
    parts: list[dict] = [{"title": "In short", "rows": _flat(single), "view": None}] if single else []
    for name, content in provenance.items():
        if name in single:
            continue
        nested = bool(content) and all(isinstance(value, Mapping) for value in content.values())
        frame = pd.DataFrame.from_dict(content, orient="index").rename_axis("name").reset_index() if nested else None
        parts.append({"title": _words(name).capitalize(), "rows": _flat(content), "view": view(frame) if nested else None})
    return parts


# ---- figures ---------------------------------------------------------------------------------------------------------


def figure(caption: str, name: str, image: bytes) -> dict:
    """A figure with its caption, of which the first sentence is the title."""
    title, _, rest = caption.partition(". ")
    return {"name": name, "title": title.rstrip("."), "caption": rest, **picture(image)}


def picture(image: bytes) -> dict:
    """A PNG as text, with its size in pixels, which stands in its first chunk: the page then never jumps."""
    width, height = struct.unpack(">II", image[16:24])
    return {"data": b64encode(image).decode(), "width": width, "height": height}
