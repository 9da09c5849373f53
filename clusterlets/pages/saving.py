"""Write figures as PNG, PDF or SVG, always with the same bytes for the same figure."""

import io
from collections.abc import Mapping
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from clusterlets.errors import ClusterletsError
from clusterlets.storage import write_bytes

# None leaves out entries that would differ between runs or versions: the date, and Matplotlib's version.
_METADATA: dict[str, dict] = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def write(figure: Figure, path: str, dpi: int = 150) -> None:
    """Write the figure atomically, in the format of the file's extension. Raises ClusterletsError if the format is unknown."""
    suffix = Path(path).suffix
    if suffix not in _METADATA:
        raise ClusterletsError(f"{path}: the name of a picture must end in {', '.join(_METADATA)}.")
    write_bytes(path, as_bytes(figure, suffix, dpi))


def as_bytes(figure: Figure, suffix: str, dpi: int = 150, metadata: Mapping = {}, **options) -> bytes:
    """The figure as the bytes of a file with this suffix. ``metadata`` and ``options`` are passed to ``savefig``."""
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "clusterlets"}):  # otherwise the ids of elements are random
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata={**_METADATA[suffix], **metadata}, **options)
    return content.getvalue()
