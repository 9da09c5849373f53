"""Numbers in sentences."""


def counted(number: int, one: str, several: str) -> str:
    """``1 run``, ``7,200 runs``: a number before the words that it takes."""
    return f"{number:,} {one if number == 1 else several}"
