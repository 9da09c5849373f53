"""What a workflow that was killed leaves behind, told apart from one that is alive.

Snakemake's locks are files that name no owner, so after ``kill -9`` or a power cut they stay and the next run is refused.
A lock of the kernel's ends with the process that holds it, however it ends: who gets it alone is alone in the folder, and
Snakemake's locks in it are nobody's.
"""

import fcntl
import platform
import shutil
from pathlib import Path
from typing import TextIO


def remove_locks(state: Path) -> TextIO | None:
    """Remove the locks that killed runs left in ``state``, Snakemake's folder, and hold it until this process ends.

    Locks are left alone where another run is alive, and where runs of another machine were seen: on some shared file systems
    machines do not see each other's locks. Keep what is returned; it is None where the folder cannot be written.
    """
    try:
        state.mkdir(exist_ok=True)
        alive = (state / "alive").open("a+", encoding="utf-8")
    except OSError:
        return None
    alive.seek(0)
    seen, here = [line.split() for line in alive.read().splitlines()], _machine()
    if here not in seen:
        print(*here, file=alive, flush=True)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
    else:
        if all(set(here).intersection(other) for other in seen if other):
            shutil.rmtree(state / "locks", ignore_errors=True)
    try:
        fcntl.flock(alive, fcntl.LOCK_SH)
    except OSError:  # a file system without such locks
        alive.close()
        return None
    return alive


def _machine() -> list[str]:
    """What tells this machine from others: its name, and the boot of its kernel, which all its containers share."""
    boot = Path("/proc/sys/kernel/random/boot_id")  # Linux alone
    return [*platform.node().split(), *(boot.read_text(encoding="utf-8").split() if boot.is_file() else [])]
