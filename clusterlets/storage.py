"""Write files so that none is ever half-written, and read files so that damaged and misplaced ones are noticed.

Every file is written under a temporary name, flushed to the disk, and then renamed, so that no reader sees half a file, even
after a power cut.

A file that one step writes for another also holds its own check: an ``.npz`` file the CRC of each member, as every ZIP; JSON a
SHA-256 under the key ``about``; and CSV its CRC as the last column, so that every program can read it. ``runs.csv`` has a
``.sha256`` file beside it. Arrays and JSON do not tell by their content which dataset they belong to, so ``about`` also holds
their place, the path below the folder of results. A file that is damaged, misplaced or of another version is refused and left
as it is: it may be a result that somebody keeps.
"""

import csv
import errno
import hashlib
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from clusterlets.errors import ClusterletsError, UnusableFileError

T = TypeVar("T")
Parse = Callable[[bytes], T]

#: Name of the member of an ``.npz`` file, and of the key of a JSON file, that says what the file is.
ABOUT = "about"

#: Name of the last column of a CSV file that holds its own check: the CRC-32 of the file without this column, in every row.
CRC = "crc32"

#: The SHA-256 of each file that this process has written, by path. A job logs it, so that later damage is found.
WRITTEN: dict[str, str] = {}

# Matches the place of a file of the results, wherever the folder of results is. For any other file, it matches the name.
_PLACE = re.compile(
    r"(?<![^/])((variants/[^/]+/)?((prepared|geometry)/[^/]+|plain_costs/[^/]+/[^/]+"
    r"|(runs|pieces|labels|distances|partitions)/[^/]+/[^/]+/[^/]+/seeds[^/]+)|[^/]+)\Z"
)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write ``content`` to ``path``. At any moment, the file is either unchanged or complete.

    Symbolic links are followed, and an existing file keeps its mode. A device, a pipe, or the file that this process prints to
    cannot be replaced, so the content is written into it.
    """
    try:
        stream = _open_in_place(path)
        if stream:
            with stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
            WRITTEN[os.fspath(path)] = hashlib.sha256(content).hexdigest()
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


def _open_in_place(path: str | os.PathLike) -> BinaryIO | None:
    """Open a device, a pipe, or the file that this process prints to. Returns None for a file that can be replaced."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    for descriptor, output in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # the descriptor may be closed
            if os.path.samestat(status, os.fstat(descriptor)):
                output.flush()
                return open(descriptor, "wb", closefd=False)
    return None if stat.S_ISREG(status.st_mode) else open(path, "wb")


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary_path = path.with_name(f".{path.name[:200]}.{uuid.uuid4().hex}")
    try:
        with open(temporary_path, "xb") as file:
            file.write(content)
            if path.exists():
                shutil.copymode(path, temporary_path)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary_path, path)
    except BaseException:
        temporary_path.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # some file systems cannot flush a folder; where they can, the rename survives a power cut
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


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

    Raises
    ------
    ValueError
        If an array is called ``about``: this member holds the file's place and the names of the arrays.
    """
    if ABOUT in arrays:
        raise ValueError(f"an array of {path} cannot be called {ABOUT!r}: that member says what the file is")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # not numpy.savez, whose bytes depend on the version of Python
        for name, array in {ABOUT: np.array([result_place(path), *arrays]), **arrays}.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    write_bytes(path, content.getvalue())


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read what :func:`save_arrays` wrote.

    Raises
    ------
    ClusterletsError
        If the file is missing.
    UnusableFileError
        If the file is damaged or of another version, or if it belongs at another place.
    OSError
        If the file cannot be read.
    """
    return _load_at_its_place(Path(path), _parse_arrays)


def save_json(path: str | os.PathLike, content: Mapping) -> None:
    """Write an object as JSON, with its place and SHA-256 under the key ``about``. ValueError if the object has this key."""
    if ABOUT in content:
        raise ValueError(f"a key of {path} cannot be called {ABOUT!r}: it says what the file is")
    place = result_place(path)
    write_json(path, {**content, ABOUT: {"place": place, "sha256": _digest(place, _indented_json(content))}})


def load_json(path: str | os.PathLike) -> dict:
    """Read what :func:`save_json` wrote, without the key ``about``. Raises the same errors as :func:`load_arrays`."""
    return _load_at_its_place(Path(path), _parse_json)


def save_rows(path: str | os.PathLike, rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Write rows as CSV with :data:`CRC` as a further column. There must be a row, because the rows hold the CRC."""
    write_text(path, _csv_with_crc(list(rows), columns))


def load_rows(path: str | os.PathLike) -> list[dict[str, str]]:
    """Read what :func:`save_rows` wrote, as text and without the CRC. Raises the same errors as :func:`load_arrays`.

    A CSV file does not hold its place: what it belongs to must follow from its columns.
    """
    return _load(Path(path), _parse_rows)


def write_checksum(path: str | os.PathLike) -> None:
    """Write the SHA-256 of a file to a second file beside it, which ``sha256sum --check`` can read."""
    path = Path(path)
    write_text(_checksum_path(path), _checksum_line(path))


def check_checksum(path: str | os.PathLike) -> None:
    """Check a file against the SHA-256 beside it, if both exist. Raises the same errors as :func:`load_arrays`."""
    path = Path(path)
    checksum_path = _checksum_path(path)
    if checksum_path.is_file() and path.is_file() and checksum_path.read_bytes() != _checksum_line(path).encode():
        raise _refused(path)


def hash_of_file(path: str | os.PathLike) -> str:
    """SHA-256 of any file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _checksum_line(path: Path) -> str:
    return f"{hash_of_file(path)}  {path.name}\n"


# ---- what a file is --------------------------------------------------------------------------------------------------


def result_place(path: str | os.PathLike) -> str:
    """The place of a file: its path below the folder of results or, for a file outside, its name."""
    match = _PLACE.search(Path(os.path.abspath(path)).as_posix())
    return match[0] if match else ""


def _load(path: Path, parse: Parse[T]) -> T:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.") from None
    try:
        return parse(content)
    except MemoryError:
        raise
    except Exception:  # nothing is read from the disk here, so the bytes must be damaged
        raise _refused(path) from None


def _load_at_its_place(path: Path, parse: Parse[tuple[str, T]]) -> T:
    place, value = _load(path, parse)
    if place != result_place(path):
        raise UnusableFileError(
            path,
            f"{path} holds what belongs at {place}, so it was not used. It was left as it is: remove it or move it there.",
            "Then run the same command again: what is missing is built again.",
        )
    return value


def _refused(path: Path) -> UnusableFileError:
    return UnusableFileError(
        path,
        f"{path} does not match its own checksum: it is damaged, was edited, or is of another version. It was left as it is.",
        "Remove it, and run the same command again, which builds it again.",
    )


def _digest(place: str, text: str) -> str:
    """SHA-256 of a file's place and text."""
    content = text.encode()
    return hashlib.sha256(os.fsencode(place) + b"%d\n" % len(content) + content).hexdigest()


def _parse_arrays(content: bytes) -> tuple[str, dict[str, np.ndarray]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        # Whole members: numpy.load does not reach the CRC of a large array if damage makes its header name a smaller one.
        members = {name.removesuffix(".npy"): io.BytesIO(archive.read(name)) for name in archive.namelist()}
    arrays = {name: np.lib.format.read_array(member, allow_pickle=False) for name, member in members.items()}
    place, *names = arrays.pop(ABOUT).tolist()
    if names != list(arrays):  # zipfile does not notice the damage that hides members
        raise ValueError
    return place, arrays


def _parse_json(content: bytes) -> tuple[str, dict]:
    value = json.loads(content)
    about = value.pop(ABOUT)
    if about["sha256"] != _digest(about["place"], _indented_json(value)):
        raise ValueError
    return about["place"], value


def _csv_with_crc(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> str:
    crc = zlib.crc32(csv_text(rows, columns).encode())  # a decimal number: pandas would read some hexadecimal ones as floats
    return csv_text(({**row, CRC: crc} for row in rows), [*columns, CRC])


def _parse_rows(content: bytes) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(content.decode(), newline=""))
    *columns, _ = reader.fieldnames or ()
    rows = [{name: row[name] for name in columns} for row in reader]
    if not rows or _csv_with_crc(rows, columns).encode() != content:
        raise ValueError
    return rows
