"""Files that are whole or absent, and that know when they were damaged.

Everything is written beside its final name, flushed to the disk, and then renamed, so that neither a reader nor a power
cut meets half a file.
What one step hands to another is saved with a SHA-256 of its content, which the reader checks: arrays (``.npz`` without
pickle) and JSON hold it inside, text has it as its last line, and a table for people, which has no room for it, lies
beside a ``.sha256`` of its own. A file that does not match is removed, so that the next run of the workflow builds it again.
"""

import errno
import hashlib
import io
import json
import os
import stat
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from clusterlets.errors import ClusterletsError

_DIGEST = "sha256"
_LAST_LINE = f"# {_DIGEST} "


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write ``content`` to ``path`` so that ``path`` is at any moment either as it was or complete, even after a power cut.

    Symbolic links are followed, and a file that is there keeps its mode. What cannot be replaced is written into: a
    device, a pipe, and the file that this process's own output goes to.
    """
    try:
        there = _status(path)
        stream = _stream(path, there) if there else None
        if stream:
            with stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content, there)
    except OSError as error:
        error.filename = os.fspath(path)  # a full disk names none, and the one beside means nothing to anybody
        raise


def _status(path: str | os.PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stream(path: str | os.PathLike, there: os.stat_result) -> BinaryIO | None:
    """What is to be written into, opened; None for a file that can be replaced."""
    for descriptor, text in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # it may be closed
            if os.path.samestat(there, os.fstat(descriptor)):
                text.flush()
                return open(descriptor, "wb", closefd=False)
    return None if stat.S_ISREG(there.st_mode) else open(path, "wb")


def _replace(path: Path, content: bytes, there: os.stat_result | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if there:
                with suppress(PermissionError):  # another user's
                    os.fchown(handle, there.st_uid, there.st_gid)
            os.fchmod(handle, stat.S_IMODE(there.st_mode) if there else 0o666 & ~_umask())
            file.flush()
            os.fsync(handle)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a new name in a folder outlive a power cut, where the file system can do that and the folder may be read."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


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
        raise _missing(path) from None
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile):
        intact = False
    if not intact:
        raise _damaged(path)
    return arrays


def save_json(path: str | os.PathLike, content: Mapping) -> None:
    """:func:`write_json` with a SHA-256 of the content under one more key, which must not be in use: ValueError."""
    if _DIGEST in content:
        raise ValueError(f"the key {_DIGEST!r} is kept for the hash of the content of {path}")
    write_json(path, {**content, _DIGEST: _hash_of_json(content)})


def load_json(path: str | os.PathLike) -> dict:
    """Read what :func:`save_json` wrote, without the hash; errors as those of :func:`load_arrays`."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        intact = content.pop(_DIGEST) == _hash_of_json(content)
    except FileNotFoundError:
        raise _missing(path) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        intact = False
    if not intact:
        raise _damaged(path)
    return content


def save_text(path: str | os.PathLike, text: str) -> None:
    """:func:`write_text` with one more line, a comment that holds the SHA-256 of what stands above it."""
    write_text(path, f"{text}{_LAST_LINE}{hashlib.sha256(text.encode()).hexdigest()}\n")


def load_text(path: str | os.PathLike) -> str:
    """Read what :func:`save_text` wrote, without the last line; errors as those of :func:`load_arrays`."""
    path = Path(path)
    try:
        text, _, digest = path.read_bytes().rpartition(_LAST_LINE.encode())
    except FileNotFoundError:
        raise _missing(path) from None
    if digest != hashlib.sha256(text).hexdigest().encode() + b"\n":
        raise _damaged(path)
    return text.decode()


def write_checksum(path: str | os.PathLike) -> None:
    """Write the SHA-256 of a file beside it, as ``sha256sum --check`` reads it."""
    path = Path(path)
    write_text(_checksum_file(path), f"{_hash_of_file(path)}  {path.name}\n")


def check_checksum(path: str | os.PathLike) -> None:
    """Hold a file against what :func:`write_checksum` wrote beside it, if that is there; errors as :func:`load_arrays`."""
    path = Path(path)
    beside = _checksum_file(path)
    if beside.is_file() and path.is_file() and beside.read_bytes().split()[:1] != [_hash_of_file(path).encode()]:
        beside.unlink()
        raise _damaged(path)


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.{_DIGEST}")


def _hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, _DIGEST).hexdigest()


def _hash_of_json(content: Mapping) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _missing(path: Path) -> ClusterletsError:
    return ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.")


def _damaged(path: Path) -> ClusterletsError:
    """Removes the file."""
    path.unlink(missing_ok=True)
    return ClusterletsError(
        f"{path} was damaged (its content does not match its own SHA-256) and has been removed. "
        "Run the same command again: the file will be built anew."
    )


def content_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and values, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
