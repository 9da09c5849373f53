"""Fetch the raw files that a folder lacks: from a mirror, from their publishers or from scikit-learn's package.

The sources are tried in this order. Files with the known SHA-256 are accepted at once. Other files may hold the same data,
because publishers change line endings. So a table is prepared from them, and its fingerprint decides. If it is wrong, the next
source is tried. No file is written before this check. No message contains a password.
"""

import contextlib
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
from clusterlets.benchmark.datasets import prepare
from clusterlets.benchmark.datasets.catalogue import describe, how_to_leave_out
from clusterlets.benchmark.datasets.transfer import SourceFailed, get, unpack
from clusterlets.errors import ClusterletsError


class Answer(NamedTuple):
    """What a source served, and whether it is right.

    ``source`` is ``bundled``, an address, or ``mirror`` and its location. ``is_right`` is None if the right table is unknown.
    ``verdict`` is the reason in words. ``files`` are the bytes served, by file name.
    """

    source: str
    is_right: bool | None
    verdict: str
    files: dict[str, bytes]


def fetch(name: str, raw_dir: str | os.PathLike, mirror: str | None = None) -> dict:
    """Fetch the raw files of a dataset to ``<raw_dir>/<name>/<file>``, and return a receipt that says where they came from.

    Parameters
    ----------
    name : str
        One of :func:`clusterlets.benchmark.datasets.names`.
    raw_dir : path
        Folder of the raw files of all datasets. Usable files that are already there are kept as they are.
    mirror : str, optional
        A folder, or an http(s) or file address, that holds the files as ``<mirror>/<dataset>/<file>``.

    Returns
    -------
    dict
        The receipt: ``dataset``, ``source`` (``by hand``, ``mirror``, ``bundled`` or the address), ``files`` (``bytes`` and
        ``sha256`` of each) and ``sha256_matches`` (whether all files have the known SHA-256 or, for nbfi, a known git blob id).

    Raises
    ------
    ClusterletsError
        If the dataset is unknown, if no source serves it (the message gives the reason for each source), or if the folder
        cannot be written. No file is left half-written.
    """
    dataset, folder = describe(name), Path(raw_dir, name)
    files, problems = _existing_files(dataset, folder)
    try:
        if problems:
            files = _fetch_missing(dataset, folder, files, problems, mirror)
    except OSError as error:
        raise ClusterletsError(
            f"{name}: no file can be written to {folder}: {error.strerror or error}. No file was left half-written.\n"
            "What to do: free space on its disk, make it a folder that you may write to, or make the folder of the raw files "
            "a link to another place, and run the same command again."
        ) from None
    return _receipt(dataset, files, _origins(folder))


def ask_sources(name: str) -> list[Answer]:
    """Download a dataset from each of its sources, in order, and judge each download as :func:`fetch` does. No file is kept.

    Raises
    ------
    ClusterletsError
        If the dataset is unknown.
    """
    return list(_answers(describe(name), {}, None))


def _existing_files(dataset: dict, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The usable files in the folder, by name, and the problems with all other files."""
    files, problems = {}, []
    for file in dataset["files"]:
        try:
            files[file["name"]] = get(str(folder / file["name"]))
        except SourceFailed as failure:
            problems.append(str(failure))
    return files, problems


def _fetch_missing(
    dataset: dict, folder: Path, existing_files: dict[str, bytes], problems: list[str], mirror: str | None
) -> dict[str, bytes]:
    """Fetch the missing files from the first right source, or else from the first that may be right. Return all files."""
    answers = [Answer("by hand", False, problem, {}) for problem in problems]
    for answer in _answers(dataset, existing_files, mirror):
        answers.append(answer)
        if answer.is_right:
            break
    best_answer = next((answer for is_right in (True, None) for answer in answers if answer.is_right is is_right), None)
    if best_answer is None:
        attempts = "\n".join(f"  - {answer.source}: {answer.verdict}" for answer in answers)
        paths = " and ".join(str(folder / file["name"]) for file in dataset["files"])
        raise ClusterletsError(
            f"{dataset['name']}: no source served the raw files. Tried, in this order:\n{attempts}\n"
            f"What to do: put {paths} there by hand; or name a mirror, a folder or an address laid out "
            f"<mirror>/{dataset['name']}/<file>, in the configuration or in the environment variable CLUSTERLETS_MIRROR; "
            f"or leave the dataset out: {how_to_leave_out(dataset['name'])}."
        )
    new_files = {file: content for file, content in best_answer.files.items() if file not in existing_files}
    origin = best_answer.source.partition(" ")[0]  # only "mirror", without its location
    origins = _origins(folder) | {_sha256(content): origin for content in new_files.values()}
    storage.write_json(folder / ".origin.json", origins)
    for file, content in new_files.items():
        storage.write_bytes(folder / file, content)
    return best_answer.files


def _answers(dataset: dict, existing_files: dict[str, bytes], mirror: str | None) -> Iterator[Answer]:
    """Ask each source, in order, for the missing files, and judge them together with the existing ones."""
    get_once = functools.cache(get)  # one archive may hold several files
    for source, locations in _sources(dataset, mirror):
        files = {}
        try:
            for file, (path_or_url, member) in locations.items():
                files[file] = existing_files.get(file) or unpack(get_once(path_or_url), member)
            is_right, verdict = _judge(dataset, files)
        except SourceFailed as failure:
            is_right, verdict = False, _without_password(str(failure))
        yield Answer(source, is_right, verdict, files)


def _sources(dataset: dict, mirror: str | None) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield each source's name, and the location of each file: a path or an address, and the path in an archive there or ""."""
    names = [file["name"] for file in dataset["files"]]
    if mirror and dataset["module"] != "bundled":
        folder = f"{mirror.rstrip('/')}/{dataset['name']}"
        yield f"mirror {_without_password(mirror)}", {name: (f"{folder}/{name}", "") for name in names}
    for source in dataset["sources"]:
        if source == "bundled":
            bundled_folder = importlib.metadata.distribution("scikit-learn").locate_file("sklearn/datasets/data")
            yield "bundled", {name: (f"{bundled_folder}/{name}", "") for name in names}
        else:
            members = source.get("members", {})
            yield source["url"], {name: (source["url"], members.get(name, "")) for name in names}


def _without_password(text: str) -> str:
    """Remove user and password from addresses. They follow ``//``, or ``scheme:`` in a mirror's address without ``//``."""
    return re.sub(r"(\A(?!file:)[\w+.-]+:(?!//)|(?<!file:)//).*@", r"\1", text)


def _judge(dataset: dict, files: dict[str, bytes]) -> tuple[bool | None, str]:
    """Whether the files are right (None if the right table is unknown), and why. Raises SourceFailed if they are wrong."""
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
    return None, "serves other bytes, and the right table is unknown"


def _receipt(dataset: dict, files: dict[str, bytes], origins: dict[str, str]) -> dict:
    """The receipt for files. ``origins`` maps SHA-256 to sources; files whose hash it lacks were put there by hand."""
    entries, sources, all_match = {}, [], True
    for file in dataset["files"]:
        content = files[file["name"]]
        digest = _sha256(content)
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # the id that git gives these bytes
        all_match = all_match and (digest == file.get("sha256") or blob in file.get("git_blob", ()))
        entries[file["name"]] = {"bytes": len(content), "sha256": digest}
        sources.append(origins.get(digest, "by hand"))
    source = " and ".join(dict.fromkeys(sources))
    return {"dataset": dataset["name"], "source": source, "sha256_matches": all_match, "files": entries}


def _origins(folder: Path) -> dict[str, str]:
    """The source of each file that was fetched earlier, by the file's SHA-256."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads((folder / ".origin.json").read_text(encoding="utf-8")))
    return {}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
