"""A figure as a file for people: PNG, PDF or SVG, the same bytes for the same figure."""

import io
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from clusterlets.errors import ClusterletsError
from clusterlets.storage import write_bytes

# No dates inside.
_METADATA: dict[str, dict] = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def write(figure: Figure, path: str, dpi: int = 150) -> None:
    """Write the figure, whole or not at all, in the format that the end of its name says; ClusterletsError for another end."""
    suffix = Path(path).suffix
    if suffix not in _METADATA:
        raise ClusterletsError(f"{path}: the name of a picture must end in {', '.join(_METADATA)}.")
    write_bytes(path, as_bytes(figure, suffix, dpi))


def as_bytes(figure: Figure, suffix: str, dpi: int = 150) -> bytes:
    """What the file holds."""
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "clusterlets"}):  # names of parts, which would be random
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    return content.getvalue()
