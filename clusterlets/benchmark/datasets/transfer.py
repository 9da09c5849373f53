"""Read a raw file from a folder, a web address or a zip archive, within limits of size and time."""

import contextlib
import functools
import io
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

_MAX_BYTES = 128 * 2**20  # bytes of a file, downloaded or unpacked; the largest raw file has 23 MB
_PIECE = 2**12  # compressed bytes that are unpacked together; a whole member could unpack to far more than it declares
_TIMEOUT = 60  # seconds to connect, and to wait for the next byte
_ATTEMPTS = 3


class SourceFailed(Exception):
    """A source does not serve a file; the message says why."""


def get(location: str) -> bytes:
    """The bytes of the file at a path or an address. Raises :class:`SourceFailed` if it is empty or a web page."""
    scheme = location.partition(":")[0].lower()
    if scheme in ("http", "https"):
        content = _download(location)
    else:
        content = _read(Path(unquote(urlsplit(location).path) if scheme == "file" else location))
    name, head = location.rpartition("/")[2], content[: 2**16].lstrip()[:9].lower()
    if not head:
        raise SourceFailed(f"{name} is empty")
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise SourceFailed(f"{name} is a web page, not data")
    return content


def unpack(archive: bytes, path: str) -> bytes:
    """The file at a path in a zip archive. An empty path stands for the archive itself.

    The path may lead through an archive inside the archive: ``inner.zip/name``. Publishers wrap folders around files, so a name
    is looked up in all folders, and the match nearest to the top is used.
    """
    for name in PurePosixPath(path).parts:
        try:
            with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
                members = [member for member in zip_file.infolist() if member.filename.rpartition("/")[2] == name]
                if not members:
                    raise SourceFailed(f"it holds no {name}")
                outermost = min(members, key=lambda member: member.filename.count("/"))
                _refuse_large(outermost.file_size)  # zipfile reads no more than this size, which may be a lie
                with zip_file.open(outermost) as member:
                    archive = b"".join(iter(functools.partial(member.read, _PIECE), b""))
        except Exception as error:  # a damaged archive raises anything from struct.error to zlib.error
            raise SourceFailed(f"its archive cannot be used: {error}") from None
    return archive


def _refuse_large(n_bytes: int) -> None:
    if n_bytes > _MAX_BYTES:
        raise SourceFailed(f"a file of more than {_MAX_BYTES // 2**20} MB cannot be the expected one")


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise SourceFailed(f"{path} is missing")
    _refuse_large(path.stat().st_size)
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceFailed(f"{path} cannot be read ({error.strerror or error})") from None


class _SizeLimitedFile(io.BufferedWriter):
    """A file that refuses to grow beyond :data:`_MAX_BYTES`."""

    def write(self, chunk) -> int:
        _refuse_large(self.tell() + len(chunk))
        return super().write(chunk)


def _download(url: str) -> bytes:
    """The bytes of the file at an address, after up to :data:`_ATTEMPTS` attempts."""
    import pooch  # both imported late: they take 0.1 s, and reading from a folder does not need them
    import requests

    def attempt(url: str, path: str, _) -> None:
        with _SizeLimitedFile(io.FileIO(path, "w")) as file, contextlib.ExitStack() as responses:  # pooch leaves responses open
            hooks = {"response": lambda response, **_: responses.enter_context(response)}
            pooch.HTTPDownloader(chunk_size=2**14, timeout=_TIMEOUT, hooks=hooks)(url, file, None)

    pooch.get_logger().setLevel("WARNING")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        files = pooch.create(folder, "", registry={"file": None}, urls={"file": url}, retry_if_failed=_ATTEMPTS - 1)
        try:
            path = files.fetch("file", downloader=attempt)
        except (requests.RequestException, ValueError) as error:
            # requests wraps the errors of urllib3.
            reason = getattr(error.args[0], "reason", error) if error.args else error
            raise SourceFailed(f"{str(reason)[:300]} ({type(error).__name__}, attempts: {_ATTEMPTS})") from None
        except OSError as error:
            raise SourceFailed(f"cannot be stored in {folder} ({error.strerror or error})") from None
        return Path(path).read_bytes()
