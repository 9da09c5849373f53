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


def decimal(value: float, places: int = 3) -> str:
    """``0.032``, ``−2.500``: fixed places, or two digits where these would show a number that is not zero as 0.

    What is zero to 12 decimals is zero: the rest is the noise of its sums.
    """
    if round(value, 12) == 0:
        return f"{0:.{places}f}"
    fixed = f"{value:.{places}f}"
    return significant(value) if float(fixed) == 0 else fixed.replace("-", "−")


def significant(value: float, digits: int = 2) -> str:
    """``0.012``, ``1.2e−7``: so many digits, with the same minus sign everywhere and no zeros before an exponent."""
    mantissa, exponential, exponent = f"{value:.{digits}g}".partition("e")
    return (f"{mantissa}e{int(exponent)}" if exponential else mantissa).replace("-", "−")


def markdown_table(frame: "pd.DataFrame") -> list[str]:
    """The lines of a table in Markdown: its columns' names, a rule, and its rows."""
    rows = [list(map(str, frame.columns)), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
