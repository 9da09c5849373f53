"""Before a run: check its paths, that it can write its files, and that no killed run left its locks."""

import fcntl
import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from clusterlets.errors import ClusterletsError

_NEARLY_FULL = 100e6  # bytes: many times what a block of labels of a large table needs


def check_paths(checkout: str, module_moves_files: bool) -> None:
    """Raise ClusterletsError if Snakemake would misread the checkout's path, or a module changes the paths of files."""
    if set("{}") & set(checkout):
        raise ClusterletsError(
            f"The checkout is in {checkout}, but Snakemake reads braces in a path as a wildcard. Move it to a folder without "
            "braces."
        )
    if module_moves_files:
        raise ClusterletsError(
            "This workflow does not support prefix: or replace_prefix: in a module, which change the paths of files and not "
            "the parameters that name them. Set results: in the configuration instead (docs/extending.md)."
        )


def check_writable(folder: str | os.PathLike) -> None:
    """Raise ClusterletsError if nothing can be written below a folder, which need not exist yet."""
    existing = _existing(folder)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ClusterletsError(
            f"{existing} cannot be written: it is read-only, or another user's. Nothing was run. Make it writable, work in "
            "another folder (--directory), or name another one under 'results' in the configuration."
        )


def nearly_full(folders: Iterable[str | os.PathLike]) -> list[str]:
    """A warning for each folder whose disk is nearly full."""
    free_bytes = {folder: shutil.disk_usage(_existing(folder)).free for folder in folders}
    return [
        f"The disk of {os.path.abspath(folder)} is all but full: {free / 1e6:.1f} MB are left. If a step failed, free "
        "some space and run the same command again: finished work is kept, and nothing half-written is used.\n"
        for folder, free in free_bytes.items()
        if free < _NEARLY_FULL
    ]


def _existing(folder: str | os.PathLike) -> Path:
    path = Path(folder).absolute()
    return next(ancestor for ancestor in (path, *path.parents) if ancestor.exists())


def remove_locks(state: Path) -> TextIO | None:
    """Remove the locks that killed runs left in ``state``, Snakemake's folder, and hold it until this process ends.

    Snakemake's locks are files that name no owner. So a run also holds a lock of the kernel, which ends with its process: a
    run that gets it exclusively is alone in the folder, and Snakemake's locks there are stale. They stay if another run is
    alive, and if runs of another machine were seen: on some shared file systems, machines do not see each other's locks. Keep
    the returned file open; it is None if the folder cannot be written or locked.
    """
    try:
        state.mkdir(exist_ok=True)
        alive = (state / "alive").open("a+", encoding="utf-8", errors="replace")
    except OSError:
        return None
    alive.seek(0)
    machines, this_machine = [line.split() for line in alive.read().splitlines()], _machine()
    if this_machine not in machines:
        print(*this_machine, file=alive, flush=True)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
    else:
        if all(set(this_machine).intersection(machine) for machine in machines if machine):
            shutil.rmtree(state / "locks", ignore_errors=True)
    try:
        fcntl.flock(alive, fcntl.LOCK_SH)
    except OSError:  # a file system without such locks
        alive.close()
        return None
    return alive


def _machine() -> list[str]:
    """What identifies this machine: its name, and its kernel's boot id, which all its containers share."""
    boot = Path("/proc/sys/kernel/random/boot_id")  # Linux only
    return [*platform.node().split(), *(boot.read_text(encoding="utf-8").split() if boot.is_file() else [])]
