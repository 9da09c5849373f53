"""CPU time and memory of this process. Only the standard library is imported: every job of a cell measures itself."""

import resource
import sys
import time
from contextlib import suppress


def cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def reset_peak_memory() -> None:
    """Let :func:`peak_memory` start again, where the system can."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
        clear.write("5")


def peak_memory() -> int:
    """Bytes. Not ``ru_maxrss`` on Linux, where a process inherits it from the one that started it (Snakemake)."""
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(int(text.split()[1]) * 1024 for text in status if text.startswith("VmHWM"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
