"""The paper beside ours at a glance: table 1, the shares of numbers inside our ranges, and what follows, in sentences."""

import pandas as pd

from clusterlets.benchmark.paper import copies, ranges, reported
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.paper.table_names import TITLES
from clusterlets.text import counted

_TABLE1 = reported.TABLES[0]
#: The columns of the overview of table 1, and their titles.
_QUANTITIES = {
    "deviation_mean": "deviation",
    "deviation_max": "largest",
    "size": "clusters",
    "cohesion": "cohesion",
    "overlap": "overlap",
}
MARK = "*"
MARK_MEANS = (
    f"{MARK} The paper's number is outside the range that 95 % of our repetitions give, by the text or by the authors' "
    "published code."
)
_SHARE_TITLES = ("", "numbers", "the paper, by the text", "by the published code", "a perfect copy", "wrong copies")


def table1(comparison: pd.DataFrame) -> pd.DataFrame:
    """Each matcher of table 1 in three rows: the paper, ours by the text, and ours by the published code; all as text.

    Ours have as many decimals as the paper's, and :data:`MARK` where the paper's number is outside our range. Without a run,
    a cell is empty. There are no rows if table 1 cannot be compared.
    """
    cells = comparison[(comparison["table"] == _TABLE1) & comparison["quantity"].isin(_QUANTITIES)]
    if counted_cells(cells).empty:
        return pd.DataFrame(columns=["matcher", "numbers", *_QUANTITIES.values()])
    sources = {
        "the paper": ("reported", ""),
        "by the text": ("reproduced", "inside"),
        "by the code": ("reproduced_by_code", "inside_by_code"),
    }
    rows = [
        {"matcher": matcher, "numbers": source}
        | {_QUANTITIES[cell["quantity"]]: _as_printed(cell, *columns) for cell in group.to_dict("records")}
        for matcher, group in cells.groupby("matcher", sort=False)
        for source, columns in sources.items()
    ]
    return pd.DataFrame(rows)[["matcher", "numbers", *_QUANTITIES.values()]]


def _as_printed(cell: dict, column: str, inside: str) -> str:
    if pd.isna(cell[column]):
        return ""
    decimals = len(cell["reported"].partition(".")[2])
    mark = MARK if inside and cell["counted"] and cell[inside] == ranges.OUTSIDE else ""
    return f"{float(cell[column]):.{decimals}f}{mark}"


def share_table(shares: pd.DataFrame) -> pd.DataFrame:
    """The shares of numbers inside, in percent: a row for each of the paper's tables; all as text."""
    rows = [
        (
            TITLES[table],
            f"{by_source['numbers'].get(copies.BY_TEXT, 0):.0f}",
            *(_percent(by_source["inside"].get(source)) for source in (copies.BY_TEXT, copies.BY_CODE)),
            _percent_with_range(by_source),
            _span([by_source["inside"][source] for source in copies.WRONG if source in by_source.index]),
        )
        for table, by_source in _by_table(shares).items()
    ]
    return pd.DataFrame(rows, columns=list(_SHARE_TITLES))


def _by_table(shares: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each table that has numbers of the paper, by source."""
    groups = {str(table): rows.set_index("source") for table, rows in shares.groupby("table", sort=False)}
    return {table: rows for table, rows in groups.items() if copies.BY_TEXT in rows.index}


def _percent(share: float | None) -> str:
    return "–" if share is None or pd.isna(share) else f"{100 * share:.0f} %"


def _percent_with_range(by_source: pd.DataFrame) -> str:
    if copies.PERFECT not in by_source.index:
        return "–"
    perfect = by_source.loc[copies.PERFECT]
    return f"{_percent(perfect['inside'])} ({100 * perfect['least']:.0f} to {100 * perfect['most']:.0f})"


def _span(shares: list[float]) -> str:
    if not shares:
        return "–"
    return " to ".join(dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares)))) + " %"


def sentences(comparison: pd.DataFrame, shares: pd.DataFrame) -> list[str]:
    """What the shares say of each table; empty if nothing can be compared."""
    by_table = _by_table(shares)
    perfect = {table: rows.loc[copies.PERFECT] for table, rows in by_table.items() if copies.PERFECT in rows.index}
    if not perfect:
        return []
    groups: dict[str, list[str]] = {"text": [], "code": [], "neither": []}
    for table, copy in perfect.items():
        inside = by_table[table]["inside"]
        is_text = inside[copies.BY_TEXT] >= copy["least"]
        is_code = inside.get(copies.BY_CODE, 0.0) >= copy["least"]
        groups["text" if is_text else "code" if is_code else "neither"].append(table)
    templates = {
        "text": "{} {} as many numbers inside as the worst perfect copy, or more.",
        "code": "{} {} as many only by the authors' published code.",
        "neither": "{} {} fewer.",
    }
    lines = [
        templates[group].format(_names_of(tables), "has" if len(tables) == 1 else "have")
        for group, tables in groups.items()
        if tables
    ]
    weak = [table for table, rows in by_table.items() if any(rows["inside"].get(source, 0.0) > 0.5 for source in copies.WRONG)]
    if weak:
        lines.append(f"{_names_of(weak)} could hardly show a difference: over half of a wrong copy is inside.")
    return [*lines, *_on_table5(comparison), *_on_seeds(comparison)]


def _names_of(tables: list[str]) -> str:
    numbers = [name[5] for name in tables]  # "1" of "table1_matchers"
    if len(numbers) == 1:
        return f"Table {numbers[0]}"
    return f"Tables {', '.join(numbers[:-1])} and {numbers[-1]}"


def _on_table5(comparison: pd.DataFrame) -> list[str]:
    """How far our correlations are from the paper's, with s read as in the text, and as in the caption."""
    rows = comparison[(comparison["table"] == reported.TABLES[4]) & (comparison["inside"] != ranges.UNKNOWN)]
    distances = (rows["reproduced"].astype(float) - rows["reported"].astype(float)).abs()
    of_text, of_caption = (distances[rows["row"].str.contains(f" {name} ")] for name in ("silhouette", "cohesion"))
    if of_text.empty or of_caption.empty:
        return []
    return [
        f"In table 5, s is the silhouette, as in the text: our correlations are off by at most {of_text.max():.3f}.",
        f"With s as the cohesion, as in the caption, they are off by up to {of_caption.max():.3f}.",
        "This reading of the text was found after the first comparison.",
    ]


def _on_seeds(comparison: pd.DataFrame) -> list[str]:
    """On how many seeds the ranges rest."""
    seeds, of_code = (comparison[name].dropna() for name in ("seeds", "seeds_by_code"))
    if seeds.empty:
        return []
    text = f"The ranges rest on {counted(int(seeds.iloc[0]), 'seed')} by the text"
    return [f"{text}, and on {int(of_code.iloc[0])} by the published code." if len(of_code) else f"{text}."]
