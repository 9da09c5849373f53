"""CPU time and memory of this process. Every job imports this module, so it needs only the standard library."""

import sys
import time
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def cpu_seconds() -> float:
    """CPU seconds of this process and, except on Windows, of the child processes that it has waited for."""
    if resource is None:
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def reset_peak_memory() -> None:
    """Reset the peak that :func:`peak_memory` reports, if the operating system allows it."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the code that resets the peak: see "man 5 proc"


def peak_memory() -> int:
    """Peak memory of this process in bytes; 0 on Windows."""
    try:  # on Linux, ru_maxrss would include the peak of the parent process, Snakemake
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        if resource is None:
            return 0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024  # bytes on macOS, kilobytes elsewhere
