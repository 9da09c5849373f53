"""Write figures as PNG, PDF or SVG. The same figure always gives the same bytes."""

import io
from collections.abc import Mapping
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from clusterlets.errors import ClusterletsError
from clusterlets.storage import write_bytes

# Files have no dates, and PNGs do not name Matplotlib's version, so that files are reproducible.
_METADATA: dict[str, dict] = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def write(figure: Figure, path: str, dpi: int = 150) -> None:
    """Write the figure atomically, in the format of the file's extension; ClusterletsError for an unknown extension."""
    suffix = Path(path).suffix
    if suffix not in _METADATA:
        raise ClusterletsError(f"{path}: the name of a picture must end in {', '.join(_METADATA)}.")
    write_bytes(path, as_bytes(figure, suffix, dpi))


def as_bytes(figure: Figure, suffix: str, dpi: int = 150, metadata: Mapping = {}, **options) -> bytes:
    """The figure as the content of a file with ``suffix`` and further ``metadata``; ``options`` are those of ``savefig``."""
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "clusterlets"}):  # otherwise the ids of elements are random
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata={**_METADATA[suffix], **metadata}, **options)
    return content.getvalue()
