"""Fetch raw files: put there by hand, or from a mirror, their publishers, or scikit-learn's own package.

The sources are tried in that order. Files with the known SHA-256 are accepted at once. Other bytes may still be the same
data (publishers change line endings), so they are prepared, and the fingerprint of the table decides. Anything else
counts as a failure of the source. Nothing is written before this check. No message contains a password.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clusterlets import storage
from clusterlets.datasets import prepare
from clusterlets.datasets.catalogue import describe
from clusterlets.datasets.transfer import SourceFailed, get, unpack
from clusterlets.errors import ClusterletsError


class Answer(NamedTuple):
    """What a source served; ``is_right`` is None if no table is known to compare it with.

    ``source`` is ``mirror`` and its location without a password, ``bundled``, or an address.
    """

    source: str
    is_right: bool | None
    verdict: str
    files: dict[str, bytes]


def fetch(name: str, raw_dir: str | os.PathLike, mirror: str | None = None) -> dict:
    """Fetch the raw files of a dataset to ``<raw_dir>/<name>/<file>`` and say where they came from.

    Two processes may fetch the same dataset at once: one waits for the other.

    Parameters
    ----------
    name : str
        One of :func:`clusterlets.datasets.names`.
    raw_dir : path
        Folder of all raw files. Files that are there already count as put by hand and are not changed.
    mirror : str, optional
        A folder or an http(s) or file address, laid out ``<mirror>/<dataset>/<file>``.

    Returns
    -------
    dict
        The receipt: ``dataset``, ``source`` (``by hand``, ``mirror``, ``bundled`` or the address), ``files`` (name ->
        ``bytes``, ``sha256``) and ``sha256_matches`` (all files have the known SHA-256; nbfi: the known git blob id).

    Raises
    ------
    ClusterletsError
        If the dataset is unknown, no source served it (the message has the reason of each), or the folder cannot be
        written. No file is written then.
    """
    dataset, folder = describe(name), Path(raw_dir, name)
    files, problems = _files_by_hand(dataset, folder)
    try:
        if problems:  # else nothing is written, because the folder may be read-only
            folder.mkdir(parents=True, exist_ok=True)
            with open(folder / ".lock", "w", encoding="utf-8") as lock:
                with contextlib.suppress(OSError):  # on a file system without locks each process fetches for itself
                    fcntl.flock(lock, fcntl.LOCK_EX)
                files = _fetch_missing(dataset, folder, mirror)
    except OSError as error:
        raise ClusterletsError(
            f"{name}: no file can be written to {folder}: {error.strerror or error}. No file was left half-written.\n"
            "What to do: free space on its disk, make it a folder that you may write to, or make the folder of the raw files "
            "a link to another place, and run the same command again."
        ) from None
    return _receipt(dataset, files, _origins(folder))


def ask_sources(name: str) -> list[Answer]:
    """Download from every source of a dataset, in order, and judge it as :func:`fetch` does. No file is kept.

    Raises
    ------
    ClusterletsError
        If the dataset is unknown.
    """
    return list(_answers(describe(name), {}, None))


def _files_by_hand(dataset: dict, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files in the folder, and why each of the others is missing or cannot be data."""
    files, problems = {}, []
    for file in dataset["files"]:
        try:
            files[file["name"]] = get(str(folder / file["name"]))
        except SourceFailed as failure:
            problems.append(str(failure))
    return files, problems


def _fetch_missing(dataset: dict, folder: Path, mirror: str | None) -> dict[str, bytes]:
    """Fetch into the folder what is not there, from the first source that is right, else the first that may be right."""
    by_hand, problems = _files_by_hand(dataset, folder)
    if not problems:  # another process has fetched them meanwhile
        return by_hand
    answers = [Answer("by hand", False, problem, {}) for problem in problems]
    for answer in _answers(dataset, by_hand, mirror):
        answers.append(answer)
        if answer.is_right:
            break
    served = next((answer for verdict in (True, None) for answer in answers if answer.is_right is verdict), None)
    if served is None:
        attempts = "\n".join(f"  - {answer.source}: {answer.verdict}" for answer in answers)
        paths = " and ".join(str(folder / file["name"]) for file in dataset["files"])
        raise ClusterletsError(
            f"{dataset['name']}: no source served the raw files. Tried, in this order:\n{attempts}\n"
            f"What to do: put {paths} there by hand; or name a mirror, a folder or an address laid out "
            f"<mirror>/{dataset['name']}/<file>, in the configuration or in the environment variable CLUSTERLETS_MIRROR; "
            f"or leave the dataset out: `make reproduce EXCLUDE={dataset['name']}` (commas between several)."
        )
    fetched = {file: content for file, content in served.files.items() if file not in by_hand}
    origin = served.source.partition(" ")[0]  # without a mirror's location
    origins = _origins(folder) | {_sha256(content): origin for content in fetched.values()}
    storage.write_json(folder / ".origin.json", origins)
    for file, content in fetched.items():
        if not (folder / file).is_file():  # a pipe would be written into
            (folder / file).unlink(missing_ok=True)
        storage.write_bytes(folder / file, content)
    return served.files


def _answers(dataset: dict, by_hand: dict[str, bytes], mirror: str | None) -> Iterator[Answer]:
    """Ask every source, in order, for the files that were not put by hand, and judge all files together."""
    get_once = functools.cache(get)  # one archive may hold several files
    for source, places in _sources(dataset, mirror):
        files = {}
        try:
            for file, (place, member) in places.items():
                files[file] = by_hand.get(file) or unpack(get_once(place), member)
            is_right, verdict = _judge(dataset, files)
        except SourceFailed as failure:
            is_right, verdict = False, _without_password(str(failure))
        yield Answer(source, is_right, verdict, files)


def _sources(dataset: dict, mirror: str | None) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Each source's name and, for each file, its path or address there and its path within an archive ("" if there is none)."""
    names = [file["name"] for file in dataset["files"]]
    if mirror and dataset["module"] != "bundled":
        folder = f"{mirror.rstrip('/')}/{dataset['name']}"
        yield f"mirror {_without_password(mirror)}", {name: (f"{folder}/{name}", "") for name in names}
    for source in dataset["sources"]:
        if source == "bundled":
            bundled = importlib.metadata.distribution("scikit-learn").locate_file("sklearn/datasets/data")
            yield "bundled", {name: (f"{bundled}/{name}", "") for name in names}
        else:
            members = source.get("members", {})
            yield source["url"], {name: (source["url"], members.get(name, "")) for name in names}


def _without_password(text: str) -> str:
    """The text without user and password, which follow ``//`` or, in a mirror that lacks it, ``scheme:`` at the start."""
    return re.sub(r"(\A(?!file:)[\w+.-]+:(?!//)|(?<!file:)//).*@", r"\1", text)


def _judge(dataset: dict, files: dict[str, bytes]) -> tuple[bool | None, str]:
    """Whether the files are the dataset, and why; SourceFailed if they give a different table."""
    if _receipt(dataset, files, {})["sha256_matches"]:
        return True, "serves the known bytes"
    with tempfile.TemporaryDirectory() as raw_dir:
        for file, content in files.items():
            storage.write_bytes(Path(raw_dir, dataset["name"], file), content)
        try:
            prepare(dataset["name"], raw_dir)
        except ClusterletsError as error:
            problem = str(error).splitlines()[0].removeprefix(f"{dataset['name']}: ")
            raise SourceFailed(f"serves bytes other than the known ones, and {problem}") from None
    if dataset["strict"] and dataset["fingerprint"]:
        return True, "serves other bytes, but the known table"
    return None, "serves other bytes, and no table is known"


def _receipt(dataset: dict, files: dict[str, bytes], origins: dict[str, str]) -> dict:
    """The receipt; a file whose bytes no source served was put there by hand."""
    described, sources, matches = {}, [], True
    for file in dataset["files"]:
        content = files[file["name"]]
        digest = _sha256(content)
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # what git calls these bytes
        matches = matches and (digest == file.get("sha256") or blob in file.get("git_blob", ()))
        described[file["name"]] = {"bytes": len(content), "sha256": digest}
        sources.append(origins.get(digest, "by hand"))
    source = " and ".join(dict.fromkeys(sources))
    return {"dataset": dataset["name"], "source": source, "sha256_matches": matches, "files": described}


def _origins(folder: Path) -> dict[str, str]:
    """The sources of earlier fetches, by the SHA-256 of the files that they served."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads((folder / ".origin.json").read_text(encoding="utf-8")))
    return {}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
