"""Remove the locks of killed workflows, and leave those of a running one.

Snakemake's locks are files that name no owner, so after ``kill -9`` or a power cut they stay and block the next run. So a
run also holds a lock of the kernel, which ends with its process, however that ends: a run that gets it exclusively is alone
in the folder, so Snakemake's locks there are stale.
"""

import fcntl
import platform
import shutil
from pathlib import Path
from typing import TextIO


def remove_locks(state: Path) -> TextIO | None:
    """Remove the locks that killed runs left in ``state``, Snakemake's folder, and hold it until this process ends.

    Locks stay if another run is alive, and if runs of another machine were seen: on some shared file systems, machines do not
    see each other's locks. Keep the returned file open; it is None if the folder cannot be written or locked.
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
