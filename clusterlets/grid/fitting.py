"""Run fits of a method under limits of time and memory, and measure the time and memory that each one took.

Fits run in forked processes. A method that hangs, crashes or exhausts the memory loses only its own run, and the programs that
it started end with it. Three kinds of process take part:

- the parent asks for fits and reads their outcomes;
- a keeper, forked from the parent, stops fits and cleans up after them;
- a fit's process, forked from the keeper, runs the method: for one seed, or for several if fits are stateless.
"""

import os
import pickle
import resource
import selectors
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from clusterlets.errors import ClusterletsError, MethodError, NoClusteringError
from clusterlets.grid import processes
from clusterlets.grid.artifacts import FAILED, OK, OUT_OF_MEMORY, TIMEOUT
from clusterlets.grid.measures import cpu_seconds, peak_memory, reset_peak_memory

_LONGEST_NOTE = 200  # characters
_LARGEST_BATCH = 50  # seeds per process
_LONGEST_REQUEST = 4096  # bytes; a pipe passes this many in one piece
_LONGEST_OUTPUT = 100_000  # bytes; the middle of a longer output is left out
#: The wall-clock time of a fit may be this many times its limit of CPU time, because it may wait or share busy cores.
PATIENCE = 4
# The parent's ends of the pipes to all keepers. A keeper ends when the parent closes its pipe, so no other keeper may inherit
# that end.
_PARENTS_ENDS: set[int] = set()
# Lets one thread fork at a time. It is reentrant, because a fit may itself start fits in a fork of the same thread.
_FORKING = threading.RLock()


@dataclass(frozen=True)
class Limits:
    """Seconds and megabytes (10^6 bytes) that a fit may take; None for no limit.

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
    fit: Callable[[int], Any], seeds: Iterable[int], limits: Limits, *, stateless: bool = False
) -> Iterator[tuple[int, Fit]]:
    """Run ``fit(seed)`` for every seed. An exception, an exceeded limit or a crash becomes the status of the fit.

    By default each fit has its own fork of this process, so it cannot change the next one. ``stateless`` fits cannot do so
    anyway, so they share a process. This saves 13 ms of CPU time per fit with Numba, a seventh of the time of the paper's grid.
    """
    keeper, remaining = None, list(seeds)
    try:
        while remaining:
            if keeper is None or not keeper.alive:
                keeper = _Keeper(fit, limits)
            batch = remaining[: _LARGEST_BATCH if stateless else 1]
            keeper.request(batch)
            for seed in batch:
                yield seed, keeper.outcome()
                remaining.pop(0)
                if not keeper.alive:
                    break
    finally:  # also if the caller stops iterating early
        if keeper and keeper.alive:
            keeper.end()


class _Keeper:
    """The parent's side of a keeper: a forked process that runs each request in another fork, and ends what the fits started.

    The keeper has its own session, so it survives a signal that ends its parent's session. When the parent ends, the
    keeper ends the fit and exits.
    """

    def __init__(self, fit: Callable[[int], Any], limits: Limits):
        sys.stdout.flush()
        sys.stderr.flush()
        with _FORKING:
            requests, replies = os.pipe(), os.pipe()
            _PARENTS_ENDS.update((requests[1], replies[0]))
            self._process = os.fork()
            if self._process == 0:
                for end in _PARENTS_ENDS:
                    os.close(end)
                _PARENTS_ENDS.clear()
                _run_keeper(fit, limits, requests[0], replies[1])
            os.close(requests[0])
            os.close(replies[1])
        self._requests, self._replies = os.fdopen(requests[1], "wb", buffering=0), os.fdopen(replies[0], "rb")
        self.alive = True

    def request(self, seeds: list[int]) -> None:
        """Ask for fits. All their outcomes must be read before the next request."""
        with suppress(BrokenPipeError):  # the keeper was killed
            self._requests.write(" ".join(map(str, seeds)).encode())

    def outcome(self) -> Fit:
        """The outcome for the next seed."""
        start = time.perf_counter()
        try:
            size = self._replies.read(8)
            content = self._replies.read(int.from_bytes(size, "little"))
        except BaseException:  # mainly Ctrl-C
            self.end()
            raise
        return pickle.loads(content) if content else _outcome_of_crash(self.end(), time.perf_counter() - start)

    def end(self) -> int:
        """End the keeper and its running fit, and return the keeper's wait status."""
        with _FORKING:
            for pipe in (self._requests, self._replies):
                _PARENTS_ENDS.discard(pipe.fileno())
                pipe.close()
        self.alive = False
        return os.waitpid(self._process, 0)[1]


def _run_keeper(fit: Callable[[int], Any], limits: Limits, requests: int, replies: int) -> NoReturn:
    """Answer requests until the parent closes its pipe. Then call ``_exit``, which does not flush the parent's buffers."""
    try:
        os.setsid()
        processes.adopt_orphans()
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF):  # the parent's handlers must not run here
            signal.signal(signum, signal.SIG_DFL)
        wakeup_reader, wakeup_writer = os.pipe()
        os.set_blocking(wakeup_writer, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler, SIGCHLD would not write to the wakeup pipe
        signal.set_wakeup_fd(wakeup_writer)
        with os.fdopen(replies, "wb") as pipe:
            while seeds := [int(seed) for seed in os.read(requests, _LONGEST_REQUEST).split()]:
                while seeds:
                    n_done = _fit_in_own_process(fit, seeds, limits, requests, wakeup_reader, pipe)
                    seeds = seeds[n_done:]
    except BrokenPipeError:  # the parent has ended
        os._exit(0)
    except BaseException:
        _print_traceback()
        os._exit(1)
    os._exit(0)


def _fit_in_own_process(
    fit: Callable[[int], Any], seeds: list[int], limits: Limits, requests: int, wakeup_reader: int, replies: BinaryIO
) -> int:
    """Fit in another process, forward its outcomes, and end every process and remove every temporary file that it leaves.

    Returns the number of seeds that have an outcome. It is at least one, and less than ``len(seeds)`` if a fit was stopped or
    crashed, because its process cannot fit the remaining seeds.
    """
    outcomes, output = os.pipe(), os.pipe()
    start, received, log = time.perf_counter(), bytearray(), _Log()
    sinks = {outcomes[0]: received.extend, output[0]: log.write}
    timeout = None if limits.seconds is None else PATIENCE * limits.seconds
    n_done = 0

    def forward_outcomes() -> None:
        nonlocal start, n_done
        # The last outcome is sent after the process has ended.
        while n_done < len(seeds) - 1 and (outcome := _next_outcome(received)):
            start, n_done = time.perf_counter(), n_done + 1  # the next fit has its own time limit
            with suppress(BrokenPipeError):  # the parent has ended: first clean up after the process
                _reply(replies, outcome)

    with _temporary_folder() as folder:
        process = os.fork()
        if process == 0:
            _run_fits(fit, seeds, limits, outcomes[1], output[1], folder)
        os.close(outcomes[1])
        os.close(output[1])
        wait_status, is_waiting, has_parent = None, True, True
        with selectors.DefaultSelector() as selector:
            for pipe in (requests, wakeup_reader):
                selector.register(pipe, selectors.EVENT_READ)
            for pipe, sink in sinks.items():
                selector.register(pipe, selectors.EVENT_READ, sink)
            while wait_status is None and is_waiting:
                seconds_left = None if timeout is None else start + timeout - time.perf_counter()
                ready = {key.fd: key.data for key, _ in selector.select(seconds_left)}
                has_parent = requests not in ready  # ready only if the parent closed it: no request comes during another
                is_waiting = bool(ready) and has_parent  # nothing is ready when the time is up
                for pipe, sink in ready.items():
                    if sink and not _read(pipe, sink):
                        selector.unregister(pipe)
                forward_outcomes()
                if wakeup_reader in ready:
                    os.read(wakeup_reader, 1024)
                    ended, status = os.waitpid(process, os.WNOHANG)
                    wait_status = status if ended else None
        if wait_status is None:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        with suppress(ProcessLookupError, PermissionError):  # the process group is empty
            os.killpg(process, signal.SIGKILL)
        processes.end_descendants()
    for pipe, sink in sinks.items():
        os.set_blocking(pipe, False)
        with suppress(BlockingIOError):  # outside Linux, a program that the process started may still hold the pipe
            while _read(pipe, sink):
                pass
        os.close(pipe)
    log.close()
    forward_outcomes()
    elapsed = time.perf_counter() - start
    if not has_parent:
        raise BrokenPipeError  # ends the keeper
    if wait_status is None:
        _reply(replies, pickle.dumps(Fit(TIMEOUT, f"stopped after {timeout:g} s", seconds=elapsed)))
    else:
        outcome = _next_outcome(received) if wait_status == 0 else b""
        _reply(replies, outcome or pickle.dumps(_outcome_of_crash(wait_status, elapsed, limits.seconds)))
    return n_done + 1


def _next_outcome(received: bytearray) -> bytes:
    """Remove the first pickled outcome from ``received``, and return it; ``b""`` if it is incomplete."""
    end = 8 + int.from_bytes(received[:8], "little")  # the first 8 bytes are the length
    if len(received) < max(9, end):
        return b""
    outcome = bytes(received[8:end])
    del received[:end]
    return outcome


def _reply(pipe: BinaryIO, outcome: bytes) -> None:
    pipe.write(len(outcome).to_bytes(8, "little") + outcome)
    pipe.flush()


@contextmanager
def _temporary_folder() -> Iterator[str | None]:
    """A folder that is removed afterwards. Yields None if it cannot be made, because few methods need it."""
    try:
        folder = tempfile.mkdtemp(prefix="clusterlets-")
    except OSError:
        yield None
        return
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _read(pipe: int, sink: Callable[[bytes], Any]) -> bool:
    """Pass on what is in a pipe; False at its end."""
    chunk = os.read(pipe, 1 << 16)
    sink(chunk)
    return bool(chunk)


def _outcome_of_crash(wait_status: int, elapsed: float, max_seconds: float | None = None) -> Fit:
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

    def write(self, chunk: bytes) -> None:
        room = max(0, _LONGEST_OUTPUT // 2 - self._n_bytes)
        _print(chunk[:room])
        self._n_bytes += len(chunk)
        self._ends_with_newline = chunk.endswith(b"\n") if chunk else self._ends_with_newline
        self._end = (self._end + chunk[room:])[-_LONGEST_OUTPUT // 2 :]

    def close(self) -> None:
        omitted = self._n_bytes - _LONGEST_OUTPUT
        gap = f"\n[{omitted:,} bytes of output are left out]\n" if omitted > 0 else ""
        _print(gap.encode() + self._end + (b"" if self._ends_with_newline else b"\n"))


def _print(content: bytes) -> None:
    with suppress(OSError):  # a full disk or a closed pipe must not stop the fit
        while content:
            content = content[os.write(2, content) :]


def _run_fits(
    fit: Callable[[int], Any], seeds: list[int], limits: Limits, outcomes: int, output: int, folder: str | None
) -> NoReturn:
    """Run fits in this process, send their outcomes, and exit.

    The process gets its own session, temporary folder and output, so that the keeper can end or remove all that it leaves.
    """
    try:
        os.setsid()
        processes.end_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        if folder is not None:
            os.environ["TMPDIR"] = tempfile.tempdir = folder
        if limits.memory_mb is not None:
            _limit_memory(limits.memory_mb)
        with os.fdopen(outcomes, "wb") as pipe:
            for seed in seeds:
                if limits.seconds is not None:
                    signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # SIGPROF ends the process at the limit
                outcome = pickle.dumps(_run_fit(fit, seed, limits))
                signal.setitimer(signal.ITIMER_PROF, 0)
                _reply(pipe, outcome)
        sys.stdout.flush()
    except BaseException:
        _print_traceback()
        os._exit(1)
    os._exit(0)


def _run_fit(fit: Callable[[int], Any], seed: int, limits: Limits) -> Fit:
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
