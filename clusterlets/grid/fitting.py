"""Fits of a method under limits of time and memory, each with what it took.

Fits run one after the other in a process of their own, which ends with a fit that crosses a limit; the next fit gets a
new one. So a method that hangs, takes all memory or crashes costs its own run alone.
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

from clusterlets.errors import ClusterletsError, NoClusteringError
from clusterlets.grid.artifacts import FAILED, OK, OUT_OF_MEMORY, TIMEOUT
from clusterlets.grid.measures import cpu_seconds, peak_memory, reset_peak_memory

_LONGEST_NOTE = 200
#: How many times the limit of CPU time a fit may last by the clock: it may wait, or other work keep the cores busy.
PATIENCE = 4


@dataclass(frozen=True)
class Limits:
    """Seconds and megabytes (10^6 bytes) that a fit may take; None for no limit.

    Seconds are of CPU time, which other work on the machine hardly changes. A fit that waits, or that runs a program, is
    stopped after :data:`PATIENCE` times as many by the clock. Memory is the address space that a fit adds to that of the
    process, since this is what systems can limit.
    """

    seconds: float | None = None
    memory_mb: float | None = None


@dataclass(frozen=True)
class Fit:
    """What came of a fit: its status, why it has no result, the result, and what it took: seconds of CPU time, megabytes."""

    status: str
    note: str = ""
    result: Any = None
    seconds: float = 0.0
    memory_mb: float = 0.0


def fits(fit: Callable[[int], Any], seeds: Iterable[int], limits: Limits) -> Iterator[tuple[int, Fit]]:
    """``fit(seed)`` of every seed; an exception, a crossed limit or a crash becomes a status."""
    worker = None
    try:
        for seed in seeds:
            if worker is None or not worker.alive:
                worker = _Worker(fit, limits)
            yield seed, worker.fit(seed)
    finally:  # also of a loop over the fits that ends early
        if worker and worker.alive:
            worker.end()


class _Worker:
    """A fork that fits one seed after the other, in a session of its own, so that what it starts ends with it."""

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
        """The outcome of a seed; the worker does not survive a crossed limit."""
        began, seconds = time.perf_counter(), self._limits.seconds
        longest = None if seconds is None else PATIENCE * seconds
        try:
            self._seeds.write(b"%d\n" % seed)
            ready, _, _ = select.select([self._outcomes], [], [], longest)
            size = self._outcomes.read(8) if ready else b""
            content = self._outcomes.read(int.from_bytes(size, "little"))
        except BaseException:  # Ctrl-C above all
            self._kill()
            raise
        if content:
            return pickle.loads(content)
        elapsed = time.perf_counter() - began
        if not ready:
            self._kill()
            return Fit(TIMEOUT, f"stopped after {longest:g} s", seconds=elapsed)
        ended = self.end()
        if ended == signal.SIGPROF and seconds is not None:
            return Fit(TIMEOUT, f"stopped after {seconds:g} s of CPU time", seconds=seconds)
        # SIGKILL is the system's own answer to a lack of memory.
        status = OUT_OF_MEMORY if ended == signal.SIGKILL else FAILED
        return Fit(status, f"ended by {signal.Signals(ended).name}" if ended else "ended its process", seconds=elapsed)

    def end(self) -> int:
        """Let the worker end, which it does without a further seed; the signal that ended it before, or 0."""
        self._seeds.close()
        self._outcomes.close()
        self.alive = False
        _, state = os.waitpid(self._process, 0)
        with suppress(ProcessLookupError):  # what it has started
            os.killpg(self._process, signal.SIGKILL)
        return os.WTERMSIG(state) if os.WIFSIGNALED(state) else 0

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        self.end()


def _serve(fit: Callable[[int], Any], limits: Limits, seeds: int, outcomes: int) -> NoReturn:
    """The life of a worker. It leaves by ``_exit``: nothing of its parent's is to be flushed or put away twice."""
    try:
        os.setsid()
        if limits.memory_mb is not None:
            _limit_memory(limits.memory_mb)
        with os.fdopen(seeds, "rb") as lines, os.fdopen(outcomes, "wb") as pipe:
            for line in lines:
                if limits.seconds is not None:
                    signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # SIGPROF ends it then
                    signal.setitimer(signal.ITIMER_REAL, 2 * PATIENCE * limits.seconds + 1)  # if nobody is left to stop it
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
    began = cpu_seconds()
    status, note, result = OK, "", None
    try:
        result = fit(seed)
    except MemoryError:
        status, note = OUT_OF_MEMORY, "out of memory" if limits.memory_mb is None else f"more than {limits.memory_mb:g} MB"
    except NoClusteringError as error:
        status, note = error.status, str(error)
    except ClusterletsError as error:
        status, note = FAILED, str(error)
    except (Exception, SystemExit) as error:  # somebody's code, which may raise anything
        _print_traceback()
        status, note = FAILED, f"{type(error).__name__}: {error}"
    lines = note.strip().splitlines()
    return Fit(status, lines[-1][:_LONGEST_NOTE] if lines else "", result, cpu_seconds() - began, peak_memory() / 1e6)


def _print_traceback() -> None:
    import traceback  # which a job without a fault does without

    traceback.print_exc()


def _limit_memory(megabytes: float) -> None:
    """Limit the address space to what is taken now and so much more; where /proc tells nothing, there is no limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    limit = pages * resource.getpagesize() + int(megabytes * 1e6)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
