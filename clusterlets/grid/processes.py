"""Processes that end with the run that started them, even if the run is killed.

A run is a process of Snakemake. It holds a pipe open, its lifeline, which the operating system closes when the run ends. Each
step has a guard: a small process that watches the lifeline and ends the step.

This needs Linux. On other systems, the steps of a killed run continue to their end, and so do programs that a fit left in the
background.
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
from typing import NoReturn

_LIFELINE = "CLUSTERLETS_LIFELINE"
_GRACE_PERIOD = 10  # seconds that a step has to remove its temporary files
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # from linux/prctl.h


def open_lifeline() -> Callable[[], None]:
    """Let the steps that this process starts end together with it. The returned function ends them earlier."""
    read_end, write_end = os.pipe()  # other programs do not inherit these ends, so they cannot hold the pipe open
    os.environ[_LIFELINE] = f"{os.getpid()}:{read_end}:{_pid_namespace()}"

    def close() -> None:
        with suppress(OSError):  # already closed
            os.close(write_end)

    return close


def end_with_run() -> None:
    """Let a guard end this process, by SIGTERM and then by SIGKILL, when the run that started it ends.

    Does nothing if no run started this process. Must be called before any thread starts, because the guard is a fork.
    """
    lifeline_address, _, namespace = os.environ.get(_LIFELINE, "").rpartition(":")
    if not namespace or namespace != _pid_namespace():  # the run is on another machine or in another container
        return
    run_pid, descriptor = lifeline_address.split(":")
    try:
        lifeline = os.open(f"/proc/{run_pid}/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:  # this user may not watch the run's process
        return
    except OSError:
        sys.exit("The run that started this step has ended.")
    step_pid = os.getpid()
    if os.fork() == 0:
        _guard(step_pid, lifeline)
    os.close(lifeline)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as for Ctrl-C: Python removes temporary files


def _guard(step_pid: int, lifeline: int) -> NoReturn:
    """Wait in this process until the lifeline is closed, and then end the step."""
    os.setsid()  # a signal to the step's process group must not end its guard
    end_with_parent()
    null_device = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # otherwise a reader of the step's output would wait for the guard
        os.dup2(null_device, stream)
    poller = select.poll()
    poller.register(lifeline, 0)  # 0: wait only for the end of the pipe
    poller.poll()
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if os.getppid() == step_pid:  # the step still runs
            os.kill(step_pid, signum)
            time.sleep(_GRACE_PERIOD)
    os._exit(0)


def end_with_parent() -> None:
    """Let the operating system end this process when its parent ends. Linux only."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Let this process become the parent of all its orphaned descendants. Linux only."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants() -> None:
    """End the children of this process and, after :func:`adopt_orphans`, their descendants. Linux only."""
    with suppress(PermissionError):  # a child runs as another user
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
    """Identifies the PID namespace on this machine since its last boot, without colons; empty if there is no /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}".replace(":", "")
    except OSError:
        return ""
