"""What happens before a run: checks of its paths and folders, and the removal of locks that killed runs left."""

import fcntl
import os
import platform
import shutil
from pathlib import Path
from typing import TextIO

from clusterlets.errors import ClusterletsError


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


def check_writable(folder: str | os.PathLike) -> None:
    """Raise ClusterletsError if this process cannot write to a folder. The folder need not exist yet."""
    path = Path(folder).absolute()
    existing = next(ancestor for ancestor in (path, *path.parents) if ancestor.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ClusterletsError(
            f"{existing} cannot be written: it is read-only, or another user's. Nothing was run. Make it writable, work in "
            "another folder (--directory), or name another one under 'results' in the configuration."
        )


def remove_locks(state: Path) -> TextIO | None:
    """Remove the locks that killed runs left in Snakemake's folder ``state``, and mark the folder as in use.

    A lock of Snakemake is a file that names no owner. So each run also holds a kernel lock on the file ``alive``, until its
    process ends. A run that gets the kernel lock exclusively is alone in the folder, so it removes Snakemake's locks. It
    keeps them if the folder was used on another machine, because on some shared file systems machines do not see each other's
    kernel locks.

    The returned file holds the kernel lock, so keep it open during the run. It is None if the folder cannot be written or
    locked.
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
    except OSError:  # another run is alive
        pass
    else:
        # One word in common is enough: containers on one machine differ in name, and a reboot changes the boot id.
        if all(set(this_machine).intersection(machine) for machine in machines if machine):
            shutil.rmtree(state / "locks", ignore_errors=True)
    try:
        fcntl.flock(alive, fcntl.LOCK_SH)
    except OSError:  # the file system has no kernel locks
        alive.close()
        return None
    return alive


def _machine() -> list[str]:
    """Words that identify this machine: its name and the boot id of its kernel. Containers on a machine share the boot id."""
    boot = Path("/proc/sys/kernel/random/boot_id")  # Linux only
    return [*platform.node().split(), *(boot.read_text(encoding="utf-8").split() if boot.is_file() else [])]
