"""Checks of the paths and folders of a run, before it begins."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clusterlets.errors import ClusterletsError

_ROOM_FOR_LOGS = 1_000_000  # bytes


def check_paths(checkout: str, module_moves_files: bool) -> None:
    """Raise ClusterletsError if Snakemake would misread the checkout's path, or if a Snakemake module changes file paths."""
    if set("{}") & set(checkout):
        raise ClusterletsError(
            f"The checkout is in {checkout}, but Snakemake reads braces in a path as a wildcard. Move it to a folder without "
            "braces."
        )
    if module_moves_files:
        raise ClusterletsError(
            "This workflow does not support prefix: or replace_prefix: in a module, which change the paths of files but not "
            "the parameters that name them. Set results: in the configuration instead (docs/extending.md)."
        )


def check_writable(folder: str | os.PathLike, remedy: str) -> None:
    """Raise ClusterletsError if this process cannot write to a folder. The folder need not exist yet.

    ``remedy`` says how to use another folder.
    """
    path = Path(folder).absolute()
    existing = next(ancestor for ancestor in (path, *path.parents) if ancestor.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ClusterletsError(
            f"{existing} cannot be written: it is read-only, or another user's. Nothing was run. Make it writable, or {remedy}."
        )


def fetch_all(names: Iterable[str], mirror: str | None) -> None:
    """Fetch the raw files of datasets to ``data/raw``, as far as they are missing. ``mirror`` is that of the configuration.

    Raises ClusterletsError, with what is missing and what to do, if any dataset cannot be had.
    """
    from clusterlets.benchmark.datasets.fetch import fetch  # imported late: most runs fetch nothing

    def failure(name: str) -> str:
        try:
            fetch(name, "data/raw", os.environ.get("CLUSTERLETS_MIRROR") or mirror)
        except ClusterletsError as error:
            return str(error)
        return ""

    names = list(names)
    with ThreadPoolExecutor(max(1, len(names))) as threads:  # hosts that do not answer cost the time of one
        failures = {name: message for name, message in zip(names, threads.map(failure, names), strict=True) if message}
    if failures:
        raise ClusterletsError(
            "\n".join(failures.values())
            + f"\nNothing of the grid was run. To leave out what is missing: --config exclude={','.join(failures)}"
        )


def full_disk(folder: str | os.PathLike) -> str:
    """What to do about the full disk of a folder; empty if it has room. On a full disk, the logs of jobs stay empty."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize >= _ROOM_FOR_LOGS:
        return ""
    return f"The disk of {Path(folder).absolute()} is full: free space there, and run the same command again."
