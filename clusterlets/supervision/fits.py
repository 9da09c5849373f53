"""Run fits of a method within a budget of time and memory, and measure the time and memory that each one took.

Fits run in a forked process: one process for each fit, or one for several if fits are stateless. A method that hangs, crashes
or exhausts the memory loses only its own run. This process reads the outcomes and the output of the other one, stops it at its
deadline, and afterwards ends every process and removes every temporary file that it left. Windows cannot fork, so there
fits run in this process, and nothing stops them.
:mod:`clusterlets.supervision.processes` says what happens when this process itself is ended.
"""

import functools
import math
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from clusterlets.errors import ClusterletsError, MethodError, NoClusteringError
from clusterlets.supervision import processes
from clusterlets.supervision.measures import cpu_seconds, peak_memory, reset_peak_memory
from clusterlets.supervision.statuses import FAILED, OK, OUT_OF_MEMORY, TIMEOUT

_LONGEST_NOTE = 200  # characters
_LARGEST_BATCH = 50  # seeds per process
_LONGEST_OUTPUT = 100_000  # bytes; the middle of a longer output is left out
_PIPE_SIZE = 1 << 16  # bytes, the most that a pipe usually holds
_POLL_INTERVAL = 0.1  # seconds between two checks whether a process has ended whose children hold its pipes open
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)  # may raise an exception in this process
#: The wall-clock time of a fit may be this many times its budget of CPU time, because it may wait or share busy cores.
PATIENCE = 4
#: Whether this system can run fits in processes of their own, and stop them.
CAN_STOP_FITS = hasattr(os, "fork") and hasattr(signal, "setitimer") and resource is not None


@dataclass(frozen=True)
class Budget:
    """Seconds and megabytes (10^6 bytes) that a fit may take; None for any.

    Seconds are CPU time, which hardly depends on other work on the machine. The CPU time of a fit that waits or runs a
    program does not grow, so a fit is also stopped after :data:`PATIENCE` times as many seconds of wall-clock time. Memory is
    the address space that the fit adds to its process, because the operating system can limit only address space.
    """

    seconds: float | None = None
    memory_mb: float | None = None


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit. ``note`` says why there is no result; ``seconds`` are CPU time, and ``memory_mb`` is the peak."""

    status: str
    note: str = ""
    result: Any = None
    seconds: float = 0.0
    memory_mb: float = 0.0


def fits(
    fit: Callable[[int], Any], seeds: Iterable[int], budget: Budget, *, stateless: bool = False
) -> Iterator[tuple[int, Fit]]:
    """Run ``fit(seed)`` for every seed. An exception, an exceeded budget or a crash becomes the status of the fit.

    By default each fit has its own fork of this process, so it cannot change the next one. ``stateless`` fits cannot do so
    anyway, so they share a process. This saves 13 ms of CPU time per fit with Numba, a seventh of the time of the paper's grid.
    """
    remaining = list(seeds)
    if not CAN_STOP_FITS:
        _say_that_budgets_are_not_kept()
        yield from ((seed, _run_fit(fit, seed, Budget())) for seed in remaining)
        return
    while remaining:
        outcomes = _fits_in_one_process(fit, remaining[: _LARGEST_BATCH if stateless else 1], budget)
        yield from zip(remaining, outcomes, strict=False)
        del remaining[: len(outcomes)]


@functools.cache
def _say_that_budgets_are_not_kept() -> None:
    print("clusterlets: this system cannot stop a fit, so limits on a fit's time and memory are not kept.", file=sys.stderr)


def _fits_in_one_process(fit: Callable[[int], Any], seeds: list[int], budget: Budget) -> list[Fit]:
    """Fit in another process, and end every process and remove every temporary file that it leaves.

    Returns at least one outcome, and fewer than there are seeds if a fit was stopped or ended the process.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    outcomes: list[Fit] = []
    (receiver, sender), (output, output_end), log = Pipe(duplex=False), os.pipe(), _Log()
    timeout = math.inf if budget.seconds is None else PATIENCE * budget.seconds
    parent, wait_status, start = os.getpid(), None, time.perf_counter()
    folder = tempfile.TemporaryDirectory(prefix="clusterlets-", ignore_cleanup_errors=True)
    with _one_interrupt(), receiver, open(output, "rb", buffering=0) as output_pipe, folder as temporary:
        sources: list[Any] = [receiver, output_pipe]

        def receive(seconds: float) -> None:
            """Read an outcome and some output if the process sends them within ``seconds``."""
            nonlocal start
            for source in wait(sources, seconds):
                try:
                    if source is receiver:
                        outcomes.append(receiver.recv())
                        start = time.perf_counter()  # the next fit has its own deadline
                    elif not log.write(output_pipe.read(_PIPE_SIZE)):
                        raise EOFError
                except (EOFError, OSError):  # OSError: the process ended while it sent an outcome
                    sources.remove(source)

        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)  # an exception right after the fork would leave the process
        process = os.fork()
        if process == 0:
            _run_fits(fit, seeds, budget, sender, output_end, temporary, parent)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
            sender.close()
            os.close(output_end)
            while wait_status is None and time.perf_counter() < start + timeout:
                receive(_POLL_INTERVAL if sources else 0.001)  # without sources, the process is about to end
                ended, status = os.waitpid(process, os.WNOHANG)
                wait_status = status if ended else None
        finally:
            _end(process, has_ended=wait_status is not None)
        for _ in seeds:  # the pipes may hold outcomes and output
            receive(0)
        log.close()
    if len(outcomes) < len(seeds):
        elapsed = time.perf_counter() - start
        if wait_status is None:
            outcomes.append(Fit(TIMEOUT, f"stopped after {timeout:g} s", seconds=elapsed))
        else:
            outcomes.append(_outcome_of_crash(wait_status, elapsed, budget.seconds))
    return outcomes


def _end(process: int, has_ended: bool) -> None:
    """End the process of fits and all that they started. ``has_ended``: it has been waited for."""
    if not has_ended:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    with suppress(ProcessLookupError, PermissionError):  # the process group is empty
        os.killpg(process, signal.SIGKILL)
    processes.end_children()


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Let the first SIGINT or SIGTERM raise an exception, and ignore others until all that fits left is removed.

    A killed run sends SIGTERM several times, once for each of its threads. A signal that is handled already stays so.
    """
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    handlers = {signum: handler for signum, handler in defaults.items() if signal.getsignal(signum) == handler}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    interrupted = False

    def interrupt(signum: int, _: Any) -> None:
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            raise KeyboardInterrupt if signum == signal.SIGINT else SystemExit(128 + signum)

    for signum in handlers:
        signal.signal(signum, interrupt)
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)


def _outcome_of_crash(wait_status: int, elapsed: float, max_seconds: float | None) -> Fit:
    """The outcome of a fit whose process ended without sending one."""
    signum = os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else 0
    if signum == signal.SIGPROF and max_seconds is not None:
        return Fit(TIMEOUT, f"stopped after {max_seconds:g} s of CPU time", seconds=max_seconds)
    # The operating system sends SIGKILL when memory runs out.
    status = OUT_OF_MEMORY if signum == signal.SIGKILL else FAILED
    return Fit(status, f"ended by {signal.Signals(signum).name}" if signum else "ended its process", seconds=elapsed)


class _Log:
    """Passes on what a fit and its programs print to standard error; of a long output, only the beginning and the end."""

    def __init__(self):
        self._n_bytes, self._end, self._ends_with_newline = 0, b"", True

    def write(self, chunk: bytes) -> bytes:
        room = max(0, _LONGEST_OUTPUT // 2 - self._n_bytes)
        _print(chunk[:room])
        self._n_bytes += len(chunk)
        self._ends_with_newline = chunk.endswith(b"\n") if chunk else self._ends_with_newline
        self._end = (self._end + chunk[room:])[-_LONGEST_OUTPUT // 2 :]
        return chunk

    def close(self) -> None:
        omitted = self._n_bytes - _LONGEST_OUTPUT
        gap = f"\n[{omitted:,} bytes of output are left out]\n" if omitted > 0 else ""
        _print(gap.encode() + self._end + (b"" if self._ends_with_newline else b"\n"))


def _print(content: bytes) -> None:
    with suppress(OSError):  # a full disk or a closed pipe must not stop the fit
        while content:
            content = content[os.write(2, content) :]


def _run_fits(
    fit: Callable[[int], Any],
    seeds: list[int],
    budget: Budget,
    sender: Connection,
    output_end: int,
    temporary: str,
    parent: int,
) -> NoReturn:
    """Run fits in this process, send their outcomes, and exit without flushing the parent's buffers.

    The process gets its own session, temporary folder and output, so that its parent can end or remove all that it leaves.
    """
    process = os.getpid()
    try:
        os.setsid()
        for signum in (*_INTERRUPTS, signal.SIGPROF):  # the parent's handlers must not run here
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        processes.end_with_parent(parent)
        for stream in (1, 2):
            os.dup2(output_end, stream)
        sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
        if budget.memory_mb is not None:
            _limit_memory(budget.memory_mb)
        for seed in seeds:
            if budget.seconds is not None:
                signal.setitimer(signal.ITIMER_PROF, budget.seconds)  # SIGPROF ends the process
            outcome = _run_fit(fit, seed, budget)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if os.getpid() != process:  # the fit returned in a process that it forked, too
                os._exit(1)
            sender.send(outcome)
        sys.stdout.flush()
    except BaseException:
        _print_traceback()
        os._exit(1)
    os._exit(0)


def _run_fit(fit: Callable[[int], Any], seed: int, budget: Budget) -> Fit:
    reset_peak_memory()
    start = cpu_seconds()
    status, note, result = OK, "", None
    try:
        result = fit(seed)
    except MemoryError:
        status, note = OUT_OF_MEMORY, "out of memory" if budget.memory_mb is None else f"more than {budget.memory_mb:g} MB"
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
    import traceback  # imported late: only failed fits need it

    traceback.print_exc()


def _limit_memory(megabytes: float) -> None:
    """Limit the address space to its present size plus ``megabytes``. Does nothing on systems without /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    limit = pages * resource.getpagesize() + int(megabytes * 1e6)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
