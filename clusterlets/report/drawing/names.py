"""Names that a person gave, as a figure shows them: letter by letter, and no longer than there is room for."""

import matplotlib

matplotlib.rcParams["text.parse_math"] = False  # "$0-$20k" is a name and no formula; and no figure has a formula


def cut(name: str, letters: int) -> str:
    """A name of at most so many letters, the last an ellipsis where there were more; tables have the whole."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
