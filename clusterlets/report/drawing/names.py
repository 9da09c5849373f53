"""User-supplied names in figures: printed literally, and no longer than there is room for."""

import matplotlib

matplotlib.rcParams["text.parse_math"] = False  # "$0-$20k" is a name; no figure has formulas


def cut(name: str, letters: int) -> str:
    """Shorten a name to this many letters, ending in an ellipsis if it was longer; tables show it in full."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
