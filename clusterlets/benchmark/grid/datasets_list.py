"""The table of the configured datasets, as text that fits a terminal or in full as CSV."""

from collections.abc import Iterable, Mapping, Sequence

from clusterlets.storage import csv_text
from clusterlets.text import cut, plain_in_markdown

COLUMNS = ("dataset", "source", "rows", "dropped", "features", "groups", "fingerprint ok", "licence", "citation")
_TERMINAL_COLUMNS = tuple(column for column in COLUMNS if column != "dropped")  # warnings below the table mention dropped rows

_MAX_WIDTH = 120  # characters per line
_GAP = 3  # characters between two columns: " | "
_VERDICTS = {True: "yes", False: "no", None: "not known"}


def row(dataset: str, description: Mapping) -> dict[str, str]:
    """The row of a dataset, from its description in ``sources.yaml`` or from its preparation. Unknown values stay empty."""
    groups = description.get("groups") or {}
    return {
        "dataset": dataset,
        "source": description["source"],
        "rows": str(description.get("rows") or ""),
        "dropped": str(description.get("dropped_duplicates", "")),
        "features": str(description.get("features") or ""),
        "groups": f"{len(groups)}: {', '.join(f'{name} {n}' for name, n in groups.items())}" if groups else "",
        "fingerprint ok": _VERDICTS[description["fingerprint_ok"]] if "fingerprint_ok" in description else "",
        "licence": description["licence"],
        "citation": description["citation"],
    }


def listing(descriptions: Mapping[str, Mapping]) -> str:
    """The table of all datasets for a terminal, followed by the warnings from their preparation."""
    warnings = [
        f"- {dataset}: {plain_in_markdown(warning)}"
        for dataset, description in descriptions.items()
        for warning in description.get("warnings", [])
    ]
    table = to_text([row(dataset, description) for dataset, description in descriptions.items()])
    return "\n".join([table, *warnings, *([""] if warnings else [])])


def to_csv(rows: Iterable[Mapping[str, str]]) -> str:
    """All rows and columns as CSV."""
    return csv_text(rows, COLUMNS)


def to_text(rows: Sequence[Mapping[str, str]], columns: Sequence[str] = _TERMINAL_COLUMNS) -> str:
    """A Markdown table that fits a terminal. The widest columns are cut, but never the first."""
    cells = [list(columns), *([plain_in_markdown(" ".join(row[column].split())) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + _GAP * len(widths) + 1 > _MAX_WIDTH:  # with "| " and " |" at the ends of the line
        widths[widths.index(max(widths[1:]), 1)] -= 1
    lines = [_line(row, widths) for row in cells]
    separator = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], separator, *lines[1:], ""])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(f"{cut(cell, width):<{width}}" for cell, width in zip(cells, widths, strict=True)) + " |"
