"""Numbers in sentences."""


def counted(number: int, one: str, several: str = "") -> str:
    """``1 run``, ``7,200 runs``: a number before the words that it takes, with an s where no other plural is given."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def in_percent(share: float) -> str:
    """``77 %``: a share from 0 to 1, rounded; ``none`` where there is none (NaN)."""
    return "none" if share != share else f"{share:.0%}".replace("%", " %")
