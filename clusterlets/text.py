"""Numbers in sentences, and tables in Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import clusterlets.installation  # noqa: F401

if TYPE_CHECKING:
    import pandas as pd


def counted(number: int, singular: str, plural: str = "") -> str:
    """``1 run``, ``7,200 runs``: a number with its noun. By default, the plural is the singular with an s."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def first_of(names: Sequence[str], limit: int) -> list[str]:
    """At most ``limit`` of the names and, if there are more, an entry such as ``and 7 more``."""
    more = len(names) - limit
    return [*names[:limit], *([f"and {more:,} more"] if more > 0 else [])]


def names_of_groups(groups: Iterable[Sequence[Any]]) -> list[str]:
    """A name for each group, from its values in the sensitive columns: ``man + 60 or more``. No two are the same.

    Names are for people alone. Values may hold the sign between them, so a name never says which values a group has.
    """
    groups = list(groups)
    names = [" + ".join(map(str, values)) for values in groups]
    return names if len(set(names)) == len(names) else [" + ".join(map(repr, values)) for values in groups]


def cut(text: str, max_length: int) -> str:
    """Shorten a text to at most ``max_length`` characters, with an ellipsis at its end if it was longer."""
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def decimal(value: float, places: int = 3) -> str:
    """``0.032``, ``−2.500``: fixed places, or two significant digits if a nonzero number would be shown as 0."""
    if round(value, 12) == 0:  # only rounding noise of sums is so small
        return f"{0:.{places}f}"
    fixed = f"{value:.{places}f}"
    return significant(value) if float(fixed) == 0 else fixed.replace("-", "−")


def significant(value: float, digits: int = 2) -> str:
    """``0.012``, ``1.2e−7``: significant digits, with a typographic minus sign."""
    mantissa, separator, exponent = f"{value:.{digits}g}".partition("e")
    return (f"{mantissa}e{int(exponent)}" if separator else mantissa).replace("-", "−")


def plain_in_markdown(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is."""
    return re.sub(r"[\\`*<\[|]|&(?=#?\w+;)", r"\\\g<0>", text)


def markdown_table(frame: "pd.DataFrame") -> list[str]:
    """The lines of a Markdown table."""
    rows = [list(map(str, frame.columns)), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    lines = [" | ".join(cell.replace("|", r"\|") for cell in row) for row in rows]
    return [f"| {line} |" for line in lines]


def aligned(frame: "pd.DataFrame") -> list[str]:
    """The lines of a table of text in columns of equal width: the first one to the left, the others to the right."""
    rows = [list(map(str, frame.columns)), *frame.astype(str).to_numpy().tolist()]
    widths = [max(len(row[position]) for row in rows) for position in range(frame.shape[1])]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]
