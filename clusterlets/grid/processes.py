"""Processes that end with the run that started them, even if the run is killed.

A run is a process of Snakemake, which holds a pipe open: its lifeline. The system closes this pipe when the run ends, even by
SIGKILL. Each step has a guard, a small process that watches the lifeline and ends the step. This needs Linux. On other
systems a step continues to its end after its run was killed, and so do programs that a fit left in the background.
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
_GRACE_PERIOD = 10  # seconds that a step has to remove its temporary files
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # from linux/prctl.h


def open_lifeline() -> Callable[[], None]:
    """Let the steps that this process starts end together with it. The returned function ends them at once."""
    read_end, write_end = os.pipe()  # Programs do not inherit these ends, so none can hold the pipe open.
    os.environ[_LIFELINE] = f"{os.getpid()}:{read_end}:{_pid_namespace()}"

    def close() -> None:
        with suppress(OSError):  # it is closed already
            os.close(write_end)

    return close


def end_with_run() -> None:
    """Let a guard end this process, by SIGTERM and then by SIGKILL, when the run that started it ends.

    Does nothing if no run started this process. Forks the guard, so it must be called before anything starts a thread.
    """
    lifeline_address, _, namespace = os.environ.get(_LIFELINE, "").rpartition(":")
    if not namespace or namespace != _pid_namespace():  # a run on another machine or in another container cannot be watched
        return
    run_pid, descriptor = lifeline_address.split(":")
    try:
        lifeline = os.open(f"/proc/{run_pid}/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:  # the run's process may not be inspected, so it cannot be watched
        return
    except OSError:
        sys.exit("The run that started this step has ended.")
    step_pid = os.getpid()
    if os.fork():
        os.close(lifeline)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, which lets Python remove temporary files
        return
    os.setsid()  # a signal to the step's process group must not end its guard
    end_with_parent()
    null_device = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # a reader of the step's output must not wait for the guard
        os.dup2(null_device, stream)
    poller = select.poll()
    poller.register(lifeline, 0)  # 0: wait for nothing but the end of the pipe
    poller.poll()
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if os.getppid() == step_pid:
            os.kill(step_pid, signum)
            time.sleep(_GRACE_PERIOD)
    os._exit(0)


def end_with_parent() -> None:
    """Let the system end this process when its parent ends. Does nothing on systems other than Linux."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, so that :func:`end_descendants` finds them. Linux only."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants() -> None:
    """End and reap all children of this process and, after :func:`adopt_orphans`, all further descendants. Linux only."""
    with suppress(PermissionError):  # a child that now runs as another user
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


def _pid_namespace() -> str:
    """A string without colons that identifies the PID namespace and the boot of its machine; empty without /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}".replace(":", "")
    except OSError:
        return ""
