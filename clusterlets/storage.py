"""Files that are whole or absent, and that know what they are and when they were damaged.

Everything is written beside its final name, flushed to the disk, and then renamed, so that neither a reader nor a power
cut meets half a file. What one step hands to another is sealed: it ends with its place, which is its path below the folder
of results, and with the SHA-256 of all that stands before. Arrays (``.npz`` without pickle) have both in the archive's
comment, JSON under its last keys, text in its last lines; a table for people, which has no room for them, lies beside a
sealed ``.sha256``. A reader checks the seal before it looks into the content. What was damaged is removed, so that the next
run of the workflow builds it again; what belongs to another place is left to the person who put it here.
"""

import errno
import hashlib
import io
import json
import os
import re
import stat
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from clusterlets.errors import ClusterletsError, UnusableFileError

_PLACE, _DIGEST = "place", "sha256"
# What stands before and after the digest of a sealed file.
_Form = tuple[bytes, bytes]
_LINES: _Form = (f"# {_DIGEST} ".encode(), b"\n")
_KEYS: _Form = (f'  "{_DIGEST}": "'.encode(), b'"\n}\n')
_PLACE_LINE = f"# {_PLACE} ".encode()

# The end of a path that says what a file of the results is, wherever their folder lies; of any other file it is the name.
_PLACES = re.compile(
    r"(?<![^/])((variants/[^/]+/)?((prepared|geometry)/[^/]+|runs\.csv[^/]*"
    r"|(runs|pieces|labels|distances|partitions)/[^/]+/[^/]+/[^/]+/seeds[^/]+)|[^/]+)\Z"
)


# ---- writing ---------------------------------------------------------------------------------------------------------


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
    write_text(path, _as_json(content))


def _as_json(content: Mapping) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


# ---- what steps hand to each other -----------------------------------------------------------------------------------


def save_arrays(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays (no object arrays) as ``.npz``; equal arrays at equal places give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as entries:  # numpy.savez leaves more of the archive's bytes to Python's version
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            entries.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    line = _place_line(path)
    seal_length = len(line) + len(_seal(b"", _LINES))
    buffer.seek(-2, os.SEEK_END)  # a zip archive ends with the length of its comment and the comment
    buffer.write(seal_length.to_bytes(2, "little") + line)
    with buffer.getbuffer() as archive:
        seal = _seal(archive, _LINES)
    buffer.write(seal)
    write_bytes(path, buffer.getvalue())


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read what :func:`save_arrays` wrote.

    Raises
    ------
    ClusterletsError
        If the file is missing.
    UnusableFileError
        If it was damaged: then it is removed, so that the next run rebuilds it. If it belongs to another place: it stays.
    OSError
        If it cannot be read, which says nothing of its content.
    """
    content, _ = _unsealed_lines(Path(path))
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def save_json(path: str | os.PathLike, content: Mapping) -> None:
    """:func:`write_json` with place and SHA-256 under two more keys, which must not be in use: ValueError."""
    used = {_PLACE, _DIGEST} & content.keys()
    if used:
        raise ValueError(f"the key {used.pop()!r} is kept for the seal of {path}")
    last_key, end = _KEYS
    text = _as_json({**content, _PLACE: place(path), _DIGEST: ""}).encode("utf-8").removesuffix(last_key + end)
    write_bytes(path, text + _seal(text, _KEYS))


def load_json(path: str | os.PathLike) -> dict:
    """Read what :func:`save_json` wrote, without the seal; errors as those of :func:`load_arrays`."""
    path = Path(path)
    found = json.loads(_intact(path, _KEYS))
    found.pop(_DIGEST)
    _check_place(path, found.pop(_PLACE, None))
    return found


def save_text(path: str | os.PathLike, text: str) -> None:
    """:func:`write_text` with two more lines, comments that hold the place and the SHA-256 of what stands above."""
    content = text.encode("utf-8") + _place_line(path)
    write_bytes(path, content + _seal(content, _LINES))


def load_text(path: str | os.PathLike) -> str:
    """Read what :func:`save_text` wrote, without its last lines; errors as those of :func:`load_arrays`."""
    content, seal_at = _unsealed_lines(Path(path))
    return content[:seal_at].decode("utf-8")


def write_checksum(path: str | os.PathLike) -> None:
    """Write the SHA-256 of a file beside it, sealed, and as ``sha256sum --check`` reads it."""
    path = Path(path)
    save_text(_checksum_file(path), _checksum(path))


def check_checksum(path: str | os.PathLike) -> None:
    """Hold a file against what :func:`write_checksum` wrote beside it, if that is there; errors as :func:`load_arrays`."""
    path = Path(path)
    beside = _checksum_file(path)
    if beside.is_file() and path.is_file() and load_text(beside) != _checksum(path):
        beside.unlink()
        raise _damaged(path)


def hash_of_file(path: str | os.PathLike) -> str:
    """SHA-256 of a file, whatever it holds, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _DIGEST).hexdigest()


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.{_DIGEST}")


def _checksum(path: Path) -> str:
    return f"{hash_of_file(path)}  {path.name}\n"


# ---- the seal --------------------------------------------------------------------------------------------------------


def place(path: str | os.PathLike) -> str:
    """What a file of the results is: its path below their folder, which may lie anywhere. Of any other file its name."""
    found = _PLACES.search(Path(os.path.abspath(path)).as_posix())
    return found[0] if found else ""


def _seal(content: bytes | memoryview, form: _Form) -> bytes:
    mark, end = form
    return mark + hashlib.sha256(content).hexdigest().encode() + end


def _is_sealed(content: bytes, form: _Form) -> bool:
    at = max(content.rfind(form[0]), 0)
    return content[at:] == _seal(memoryview(content)[:at], form)


def _intact(path: Path, form: _Form) -> bytes:
    """A sealed file; only what its bytes say makes it a damaged one."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.") from None
    if not _is_sealed(content, form):
        raise _damaged(path)
    return content


def _place_line(path: str | os.PathLike) -> bytes:
    return _PLACE_LINE + os.fsencode(place(path)) + b"\n"


def _unsealed_lines(path: Path) -> tuple[bytes, int]:
    """A file with its seal in its last lines, and where they begin."""
    content = _intact(path, _LINES)
    seal_at, digest_at = content.rfind(_PLACE_LINE), content.rfind(_LINES[0])
    _check_place(path, os.fsdecode(content[seal_at + len(_PLACE_LINE) : digest_at - 1]) if seal_at >= 0 else None)
    return content, seal_at


def _check_place(path: Path, found: str | None) -> None:
    if found != place(path):
        fault, back = (f"holds what belongs at {found}", " or move it there") if found else ("does not say what it is", "")
        raise UnusableFileError(
            path,
            f"{path} {fault}, so it was not used. It was left as it is: remove it{back}.",
            "Then run the same command again: what is missing is built anew.",
        )


def _damaged(path: Path) -> UnusableFileError:
    """Removes the file."""
    path.unlink(missing_ok=True)
    return UnusableFileError(
        path,
        f"{path} was damaged (its content does not match its own SHA-256) and has been removed.",
        "Run the same command again: the file will be built anew.",
    )
