"""Fits of a method under limits of time and memory, each with the time and memory that it took.

Fits run one after the other in a separate process, which ends when a fit crosses a limit; the next fit gets a new one. So
a method that hangs, takes all memory or crashes loses only its own run.
"""

import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from clusterlets.errors import ClusterletsError, MethodError, NoClusteringError
from clusterlets.grid.artifacts import FAILED, OK, OUT_OF_MEMORY, TIMEOUT
from clusterlets.grid.measures import cpu_seconds, peak_memory, reset_peak_memory

_LONGEST_NOTE = 200
#: By the clock, a fit may last this many times its limit of CPU time, because it may wait or share busy cores.
PATIENCE = 4


@dataclass(frozen=True)
class Limits:
    """Seconds and megabytes (10^6 bytes) that a fit may take; None for no limit.

    Seconds are of CPU time, which other work on the machine hardly changes. A fit that waits, or that runs a program, is
    stopped after :data:`PATIENCE` times as many seconds by the clock. Memory is the address space that a fit adds to that of
    the process, because that is what systems can limit.
    """

    seconds: float | None = None
    memory_mb: float | None = None


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit: its status, why it has no result, the result, and its cost: seconds of CPU time, megabytes."""

    status: str
    note: str = ""
    result: Any = None
    seconds: float = 0.0
    memory_mb: float = 0.0


def fits(fit: Callable[[int], Any], seeds: Iterable[int], limits: Limits, *, alone: bool = False) -> Iterator[tuple[int, Fit]]:
    """Run ``fit(seed)`` for every seed; an exception, a crossed limit or a crash becomes a status.

    With ``alone``, every seed has its own fork of this process, so that what a fit leaves behind, such as a global variable,
    reaches no other seed. That takes 3 ms of CPU time per seed in a process of 40 MB, and 9 ms in one that has loaded Numba:
    too much for the package's own methods, of which tests show that they leave nothing behind.
    """
    worker = None
    try:
        for seed in seeds:
            if worker is None or not worker.alive:
                worker = _Worker(fit, limits)
            yield seed, worker.fit(seed)
            if alone and worker.alive:
                worker.end()
    finally:  # also if the caller stops iterating early
        if worker and worker.alive:
            worker.end()


class _Worker:
    """A forked process that fits one seed after the other, in its own session, so that what it starts ends with it."""

    def __init__(self, fit: Callable[[int], Any], limits: Limits):
        self._limits = limits
        seeds, outcomes = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._process = os.fork()
        if self._process == 0:
            os.close(seeds[1])
            os.close(outcomes[0])
            _serve(fit, limits, seeds[0], outcomes[1])
        os.close(seeds[0])
        os.close(outcomes[1])
        self._seeds, self._outcomes = os.fdopen(seeds[1], "wb", buffering=0), os.fdopen(outcomes[0], "rb")
        self.alive = True

    def fit(self, seed: int) -> Fit:
        """The outcome for a seed; the worker does not survive a crossed limit."""
        start, seconds = time.perf_counter(), self._limits.seconds
        timeout = None if seconds is None else PATIENCE * seconds
        try:
            self._seeds.write(b"%d\n" % seed)
            ready, _, _ = select.select([self._outcomes], [], [], timeout)
            size = self._outcomes.read(8) if ready else b""
            content = self._outcomes.read(int.from_bytes(size, "little"))
        except BaseException:  # mainly Ctrl-C
            self._kill()
            raise
        if content:
            return pickle.loads(content)
        elapsed = time.perf_counter() - start
        if not ready:
            self._kill()
            return Fit(TIMEOUT, f"stopped after {timeout:g} s", seconds=elapsed)
        signum = self.end()
        if signum == signal.SIGPROF and seconds is not None:
            return Fit(TIMEOUT, f"stopped after {seconds:g} s of CPU time", seconds=seconds)
        # The system itself sends SIGKILL when memory runs out.
        status = OUT_OF_MEMORY if signum == signal.SIGKILL else FAILED
        return Fit(status, f"ended by {signal.Signals(signum).name}" if signum else "ended its process", seconds=elapsed)

    def end(self) -> int:
        """Let the worker end, as it does if no seed follows; returns the signal that ended it before, or 0."""
        self._seeds.close()
        self._outcomes.close()
        self.alive = False
        _, state = os.waitpid(self._process, 0)
        with suppress(ProcessLookupError):  # nothing that it started is left
            os.killpg(self._process, signal.SIGKILL)
        return os.WTERMSIG(state) if os.WIFSIGNALED(state) else 0

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        self.end()


def _serve(fit: Callable[[int], Any], limits: Limits, seeds: int, outcomes: int) -> NoReturn:
    """Run a worker. It ends by ``_exit``, so that nothing of its parent's is flushed or cleaned up twice."""
    try:
        os.setsid()
        if limits.memory_mb is not None:
            _limit_memory(limits.memory_mb)
        with os.fdopen(seeds, "rb") as lines, os.fdopen(outcomes, "wb") as pipe:
            for line in lines:
                if limits.seconds is not None:
                    signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # then SIGPROF ends the worker
                    signal.setitimer(signal.ITIMER_REAL, 2 * PATIENCE * limits.seconds + 1)  # in case the parent is gone
                outcome = _outcome(fit, int(line), limits)
                signal.setitimer(signal.ITIMER_PROF, 0)
                content = pickle.dumps(outcome)
                pipe.write(len(content).to_bytes(8, "little") + content)
                pipe.flush()
    except BaseException:
        _print_traceback()
        os._exit(1)
    os._exit(0)


def _outcome(fit: Callable[[int], Any], seed: int, limits: Limits) -> Fit:
    reset_peak_memory()
    start = cpu_seconds()
    status, note, result = OK, "", None
    try:
        result = fit(seed)
    except MemoryError:
        status, note = OUT_OF_MEMORY, "out of memory" if limits.memory_mb is None else f"more than {limits.memory_mb:g} MB"
    except NoClusteringError as error:
        status, note = error.status, str(error)
    except MethodError as error:
        _print_traceback()
        status, note = FAILED, error.raised
    except ClusterletsError as error:
        status, note = FAILED, str(error)
    except (Exception, SystemExit) as error:  # a method's code may raise anything
        _print_traceback()
        status, note = FAILED, f"{type(error).__name__}: {error}"
    lines = note.strip().splitlines()
    return Fit(status, lines[-1][:_LONGEST_NOTE] if lines else "", result, cpu_seconds() - start, peak_memory() / 1e6)


def _print_traceback() -> None:
    import traceback  # imported late: only a fault needs it

    traceback.print_exc()


def _limit_memory(megabytes: float) -> None:
    """Limit the address space to its present size plus ``megabytes``; without /proc there is no limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    limit = pages * resource.getpagesize() + int(megabytes * 1e6)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
