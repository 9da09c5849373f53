"""Numbers in sentences, and tables in Markdown."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def counted(number: int, one: str, several: str = "") -> str:
    """``1 run``, ``7,200 runs``: a number before the words that it takes, with an s where no other plural is given."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def in_percent(share: float) -> str:
    """``77 %``: a share from 0 to 1, rounded; ``none`` where there is none (NaN)."""
    return "none" if share != share else f"{share:.0%}".replace("%", " %")


def markdown_table(frame: "pd.DataFrame") -> list[str]:
    """The lines of a table in Markdown: its columns' names, a rule, and its rows."""
    rows = [list(map(str, frame.columns)), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
