"""Processes that end with the run that started them, even if it is killed.

A run (Snakemake) holds a pipe open, its lifeline, and the system closes it when the run ends, even by SIGKILL. Each step
has a guard, a small process that watches the lifeline and ends the step. This needs Linux: elsewhere a step whose run was
killed goes on to its end, and so do programs that a fit left in the background.
"""

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LIFELINE = "CLUSTERLETS_LIFELINE"
_GRACE = 10  # seconds that a step has to remove its temporary files
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # from linux/prctl.h


def open_lifeline() -> Callable[[], None]:
    """Make the steps that this process starts end with it; the returned function ends them at once."""
    watched, held = os.pipe()  # not inherited, so no other program can hold it open
    os.environ[_LIFELINE] = f"{os.getpid()}:{watched}:{_system()}"

    def close() -> None:
        with suppress(OSError):  # closed already
            os.close(held)

    return close


def end_with_run() -> None:
    """End this process, by SIGTERM and then by SIGKILL, when the run that started it ends; does nothing without a run.

    It forks, so it must be called before anything starts a thread.
    """
    run, _, system = os.environ.get(_LIFELINE, "").rpartition(":")
    if not system or system != _system():  # a run of another machine or container cannot be watched
        return
    process, descriptor = run.split(":")
    try:
        lifeline = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:
        return
    except OSError:
        sys.exit("The run that started this step has ended.")
    step = os.getpid()
    if os.fork():
        os.close(lifeline)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as on Ctrl-C, no temporary file is left
        return
    os.setsid()  # what ends the step's group must not end its guard
    end_with_parent()
    streams = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # so that a reader of the step's output does not wait for the guard
        os.dup2(streams, stream)
    watch = select.poll()
    watch.register(lifeline, 0)
    watch.poll()
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if os.getppid() == step:
            os.kill(step, signum)
            time.sleep(_GRACE)
    os._exit(0)


def end_with_parent() -> None:
    """Let the system end this process when its parent ends. On Linux."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, so that :func:`end_descendants` finds them. On Linux."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants() -> None:
    """End and reap all children of this process and, if it adopts orphans, all their descendants. On Linux."""
    with suppress(PermissionError):  # a program that became another user's
        while children := _children():
            for child in children:
                os.kill(child, signal.SIGKILL)
            for child in children:
                os.waitpid(child, 0)


def _children() -> list[int]:
    try:
        return [int(child) for child in Path("/proc/thread-self/children").read_text(encoding="ascii").split()]
    except FileNotFoundError:
        return []


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _system() -> str:
    """What identifies this machine and its table of processes; empty where there is no /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}".replace(":", "")
    except OSError:
        return ""
