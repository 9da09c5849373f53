"""Write files so that none is ever half-written, and read files so that damaged and misplaced ones are noticed.

Every file is written under a temporary name, flushed to the disk, and then renamed, so that no reader sees half a file, even
after a power cut.

A file that one step writes for another also holds its own place (path below the folder of results) and the SHA-256 of its
content. An ``.npz`` file holds both in a member, JSON in a key, and text in the first line. ``runs.csv``, which people read,
has a ``.sha256`` file beside it instead. A damaged file is removed, so that the next run of the workflow makes it again. A
misplaced file is left alone, because a person must have put it there.
"""

import csv
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from clusterlets.errors import ClusterletsError, UnusableFileError

T = TypeVar("T")
# From the bytes of a file to its place and content, and the reverse.
Parse = Callable[[bytes], tuple[str, T]]
Serialize = Callable[[str, T], bytes]

#: Name of the member of an ``.npz`` file, and of the key of a JSON file, that holds the place and the SHA-256.
ABOUT = "about"
_ABOUT_MEMBER = f"{ABOUT}.npy"

# Matches the place of a file of the results, wherever the folder of results is. For any other file, it matches the name.
_PLACE = re.compile(
    r"(?<![^/])((variants/[^/]+/)?((prepared|geometry)/[^/]+|runs\.csv[^/]*"
    r"|(runs|pieces|labels|distances|partitions)/[^/]+/[^/]+/[^/]+/seeds[^/]+)|[^/]+)\Z"
)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write ``content`` to ``path``. At any moment, the file is either unchanged or complete.

    Symbolic links are followed, and an existing file keeps its mode. A device, a pipe, or the file that this process prints to
    cannot be replaced, so the content is written into it.
    """
    try:
        old_status = _stat_or_none(path)
        stream = _open_in_place(path, old_status) if old_status else None
        if stream:
            with stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content, old_status)
    except OSError as error:
        error.filename = os.fspath(path)  # the error may name no file, or only the temporary one
        raise


def check_writable(path: str | os.PathLike) -> None:
    """Raise an OSError if :func:`write_bytes` could not write to ``path``. Leaves no file behind."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():  # a device or a pipe
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    folder = next(ancestor for ancestor in path.parents if os.path.exists(ancestor))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}."):
        pass


def _stat_or_none(path: str | os.PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _open_in_place(path: str | os.PathLike, status: os.stat_result) -> BinaryIO | None:
    """Open a device, a pipe, or the file that this process prints to. Returns None for a file that can be replaced."""
    for descriptor, output in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # the descriptor may be closed
            if os.path.samestat(status, os.fstat(descriptor)):
                output.flush()
                return open(descriptor, "wb", closefd=False)
    return None if stat.S_ISREG(status.st_mode) else open(path, "wb")


def _replace(path: Path, content: bytes, old_status: os.stat_result | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary_path = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if old_status:
                with suppress(PermissionError):  # the old file belongs to another user
                    os.fchown(descriptor, old_status.st_uid, old_status.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old_status.st_mode) if old_status else 0o666 & ~_umask())
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary_path, path)
    except BaseException:
        Path(temporary_path).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Flush a folder to the disk, if possible, so that a rename in it survives a power cut."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write text in UTF-8 with :func:`write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | os.PathLike, content: Mapping) -> None:
    """Write an object as indented JSON with :func:`write_bytes`."""
    write_text(path, _indented_json(content))


def csv_text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Rows as CSV with a header line. Missing values, None and NaN become empty fields."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if value is None or value != value else value for name, value in row.items()})
    return buffer.getvalue()


def _indented_json(content: Mapping) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


# ---- files that one step writes for another --------------------------------------------------------------------------


def save_arrays(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays (no object arrays) as ``.npz``. Equal arrays at the same place give equal bytes.

    The member ``about`` holds, as JSON, the file's place and a hash of the place and all other members.

    Raises
    ------
    ValueError
        If an array is called ``about``.
    """
    if ABOUT in arrays:
        raise ValueError(f"an array of {path} cannot be called {ABOUT!r}: that member says what the file is")
    members = {f"{name}.npy": _serialize_array(array) for name, array in arrays.items()}
    write_bytes(path, _serialize_npz(result_place(path), members))


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read what :func:`save_arrays` wrote.

    Raises
    ------
    ClusterletsError
        If the file is missing.
    UnusableFileError
        If the file is damaged, and has been removed, or if it belongs at another place.
    OSError
        If the file cannot be read.
    """
    members = _load_checked(Path(path), _parse_npz, _serialize_npz)
    return {name.removesuffix(".npy"): _parse_array(content) for name, content in members.items()}


def save_json(path: str | os.PathLike, content: Mapping) -> None:
    """Write an object as JSON, with its place and hash under the key ``about``. ValueError if the object has this key."""
    if ABOUT in content:
        raise ValueError(f"a key of {path} cannot be called {ABOUT!r}: it says what the file is")
    write_bytes(path, _serialize_json(result_place(path), content))


def load_json(path: str | os.PathLike) -> dict:
    """Read what :func:`save_json` wrote, without the key ``about``. Raises the same errors as :func:`load_arrays`."""
    return _load_checked(Path(path), _parse_json, _serialize_json)


def save_text(path: str | os.PathLike, text: str) -> None:
    """Write text below an added comment line: ``# <place> sha256 <hash>``."""
    write_bytes(path, _serialize_text(result_place(path), text))


def load_text(path: str | os.PathLike) -> str:
    """Read what :func:`save_text` wrote, without the added line. Raises the same errors as :func:`load_arrays`."""
    return _load_checked(Path(path), _parse_text, _serialize_text)


def is_intact(path: str | os.PathLike) -> bool:
    """Whether a file of :func:`save_arrays`, :func:`save_json` or :func:`save_text` is undamaged and at its own place.

    The format follows from the suffix. No file is removed.
    """
    formats: dict[str, tuple[Parse, Serialize]] = {
        ".npz": (_parse_npz, _serialize_npz),
        ".json": (_parse_json, _serialize_json),
    }
    parse, serialize = formats.get(Path(path).suffix, (_parse_text, _serialize_text))
    place_and_content = _read_if_intact(Path(path).read_bytes(), parse, serialize)
    return place_and_content is not None and place_and_content[0] == result_place(path)


def write_checksum(path: str | os.PathLike) -> None:
    """Write the SHA-256 of a file to a second file beside it, which ``sha256sum --check`` can read."""
    path = Path(path)
    save_text(_checksum_path(path), _checksum_line(path))


def check_checksum(path: str | os.PathLike) -> None:
    """Check a file against the SHA-256 beside it, if both exist. If they disagree, both are removed.

    Raises the same errors as :func:`load_arrays`.
    """
    path = Path(path)
    checksum_path = _checksum_path(path)
    if checksum_path.is_file() and path.is_file() and load_text(checksum_path) != _checksum_line(path):
        checksum_path.unlink()
        raise _remove_damaged(path)


def hash_of_file(path: str | os.PathLike) -> str:
    """SHA-256 of any file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _checksum_line(path: Path) -> str:
    return f"{hash_of_file(path)}  {path.name}\n"


# ---- the place and the SHA-256 in a file -----------------------------------------------------------------------------


def result_place(path: str | os.PathLike) -> str:
    """The place of a file: its path below the folder of results or, for a file outside, its name."""
    match = _PLACE.search(Path(os.path.abspath(path)).as_posix())
    return match[0] if match else ""


def _load_checked(path: Path, parse: Parse[T], serialize: Serialize[T]) -> T:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.") from None
    place_and_content = _read_if_intact(content, parse, serialize)
    if place_and_content is None:
        raise _remove_damaged(path)
    place, value = place_and_content
    if place != result_place(path):
        raise UnusableFileError(
            path,
            f"{path} holds what belongs at {place}, so it was not used. It was left as it is: remove it or move it there.",
            "Then run the same command again: what is missing is built again.",
        )
    return value


def _read_if_intact(content: bytes, parse: Parse[T], serialize: Serialize[T]) -> tuple[str, T] | None:
    """The place and the content of a file from its bytes, or None if the bytes are damaged."""
    try:
        place, value = parse(content)
        # All bytes are compared, because readers of ZIP and JSON ignore some of them.
        return (place, value) if serialize(place, value) == content else None
    except MemoryError:
        raise
    except Exception:  # nothing is read from the disk here, so the bytes must be damaged
        return None


def _remove_damaged(path: Path) -> UnusableFileError:
    """Remove a damaged file, and return the error to raise."""
    # If the path is a link, its target is in Snakemake's cache, which would provide the damaged file again.
    for file in (Path(os.path.realpath(path)), path):
        file.unlink(missing_ok=True)
    return UnusableFileError(
        path,
        f"{path} was damaged (its content does not match its own SHA-256) and has been removed.",
        "Run the same command again: the file will be built again.",
    )


def _about(place: str, *parts: bytes) -> dict[str, str]:
    """The entry that identifies a file: its place, and a hash of the place and all parts of the content."""
    digest = hashlib.sha256(os.fsencode(place))
    for part in parts:
        digest.update(b"%d\n" % len(part))  # otherwise moving bytes to the next part would not change the hash
        digest.update(part)
    return {"place": place, "sha256": digest.hexdigest()}


def _serialize_npz(place: str, members: Mapping[str, bytes]) -> bytes:
    about = _about(place, *(part for name, content in members.items() for part in (name.encode(), content)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:  # not numpy.savez, whose bytes depend on the version of Python
        for name, content in {_ABOUT_MEMBER: _serialize_array(np.array(json.dumps(about))), **members}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _parse_npz(content: bytes) -> tuple[str, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(str(_parse_array(members.pop(_ABOUT_MEMBER))))["place"], members


def _serialize_array(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _parse_array(content: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def _serialize_json(place: str, content: Mapping) -> bytes:
    return _indented_json({**content, ABOUT: _about(place, _indented_json(content).encode())}).encode()


def _parse_json(content: bytes) -> tuple[str, dict]:
    value = json.loads(content)
    return value.pop(ABOUT)["place"], value


def _serialize_text(place: str, text: str) -> bytes:
    return f"# {place} sha256 {_about(place, text.encode())['sha256']}\n{text}".encode()


def _parse_text(content: bytes) -> tuple[str, str]:
    first_line, _, text = content.decode().partition("\n")
    return first_line.removeprefix("# ").rpartition(" sha256 ")[0], text
