"""Files that are whole or absent, and that know when they were damaged.

Everything is written beside its final name and then renamed, so a reader never meets half a file.
Arrays travel as ``.npz`` without pickle, together with a SHA-256 of their content; a file whose
content does not match is removed, so that the next run of the workflow builds it again.
"""

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clusterlets.errors import ClusterletsError

_DIGEST = "sha256"


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write ``content`` to ``path`` so that ``path`` is at any moment either as it was or complete."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """:func:`write_bytes` for text, as UTF-8 with the line ends it already has."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | os.PathLike, content: Mapping) -> None:
    """:func:`write_text` for an object as indented JSON."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def save_arrays(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays (no object arrays) as ``.npz``; equal arrays give equal bytes."""
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays, **{_DIGEST: np.array(content_hash(arrays))})
    write_bytes(path, buffer.getvalue())


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read what :func:`save_arrays` wrote.

    Raises
    ------
    ClusterletsError
        If the file is missing, or damaged: then it is removed, so that the next run rebuilds it.
    """
    path = Path(path)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        intact = str(arrays.pop(_DIGEST)) == content_hash(arrays)
    except FileNotFoundError:
        raise ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.") from None
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile):
        intact = False
    if not intact:
        path.unlink(missing_ok=True)
        raise ClusterletsError(
            f"{path} was damaged (its content does not match its own SHA-256) and has been removed. "
            "Run the same command again: the file will be built anew."
        )
    return arrays


def content_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and values, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
