"""A figure without data says so inside its PNG, and pages leave it out: no axes without a mark."""

EMPTY = "nothing to show"


def comment_of(label: object) -> dict[str, str]:
    """What a PNG holds about a figure with this label."""
    return {"Comment": EMPTY} if label == EMPTY else {}


def is_empty(png: bytes) -> bool:
    """Whether a PNG is of a figure without data; comments stand before the pixels."""
    return f"Comment\0{EMPTY}".encode() in png.partition(b"IDAT")[0]
