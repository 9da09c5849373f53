"""Marks the PNGs of figures without data, so that pages leave them out."""

EMPTY = "nothing to show"


def comment_of(label: object) -> dict[str, str]:
    """PNG metadata of a figure with this label."""
    return {"Comment": EMPTY} if label == EMPTY else {}


def is_empty(png: bytes) -> bool:
    """Whether a PNG is of a figure without data; comments come before the pixels."""
    return f"Comment\0{EMPTY}".encode() in png.partition(b"IDAT")[0]
