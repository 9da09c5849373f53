"""Processes that end with the process that started them, even if that one is killed.

A run of Snakemake starts steps, a step forks fits (``fits.py``), and a fit may start programs. Steps and
fits have their own sessions, and ask Linux for a signal when their parent ends. Whatever else a fit leaves becomes a child of
its step, which ends it. On other systems, the steps of a killed run continue to their end, and so do programs that a fit left
in a session of their own.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_RUN = "CLUSTERLETS_RUN"  # environment variable with the process of the run that started a step
_adopter = 0  # the process that called adopt_orphans; its forks do not adopt
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # from linux/prctl.h


def begin_run() -> None:
    """Let the steps that this process starts end together with it."""
    os.environ[_RUN] = str(os.getpid())


def end_with_run() -> None:
    """Let this step end when the run that started it ends. Does nothing if no run started this process.

    A run ends its steps with SIGINT, so that they remove their temporary files. If it is killed, they get SIGTERM.
    """
    run = os.environ.get(_RUN)
    if not run:
        return
    with suppress(PermissionError):  # the process leads its group already
        os.setsid()  # if SIGKILL ends the run's process group, the step is left to end its programs
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore SIGINT
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        os.kill(int(run), 0)  # sends nothing
    except ProcessLookupError:  # it ended before prctl
        sys.exit("The run that started this step has ended.")
    except PermissionError:  # the process of another user
        pass


def end_with_parent(parent: int) -> None:
    """Let Linux kill this process when ``parent``, which forked it, ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before prctl
        os._exit(1)


def adopt_orphans() -> None:
    """Let this process become the parent of all its orphaned descendants, which :func:`end_children` then ends."""
    global _adopter
    _adopter = os.getpid()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children(spared: Collection[int] = ()) -> None:
    """Kill all descendants of this process but the children ``spared``, if it called :func:`adopt_orphans`. Linux only."""
    if _adopter != os.getpid():
        return
    with suppress(PermissionError, ChildProcessError):  # a child runs as another user, or was waited for by somebody else
        while children := _children().difference(spared):
            for child in children:
                os.kill(child, signal.SIGKILL)
            for child in children:
                os.waitpid(child, 0)


@contextmanager
def ending_descendants() -> Iterator[None]:
    """End what this process starts meanwhile, in whatever session, if it still runs at the end. Linux only."""
    global _adopter
    others = _children()
    adopt_orphans()
    try:
        yield
    finally:
        end_children(spared=others)
        _adopter = 0
        _prctl(_PR_SET_CHILD_SUBREAPER, 0)


def _children() -> set[int]:
    """The children of all threads of this process."""
    return {int(child) for file in Path("/proc/self/task").glob("*/children") for child in file.read_text("ascii").split()}


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
