"""Machine code of kernels, compiled once per machine and cached.

The first process that needs a kernel compiles it and caches the result beside the source, or in the user's cache if the
source folder is read-only. Other processes wait for it and then load the result. If neither place is writable, each
process compiles for itself.

Numba compiles without fast-math, so LLVM neither reorders a sum nor joins a product and a sum into one rounding. Code
that fixes the order of its sums therefore gives the same bits on every processor.
"""

import fcntl
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numba import config, njit
from numba.core import event


def compiled(signature: str) -> Callable[[Callable], Callable]:
    """Decorator: compile a function for one signature when it is first called.

    Parameters
    ----------
    signature : str
        Numba's, as in ``"void(float64[:,::1], int64)"``. A call with other types is a TypeError and compiles nothing.

    Notes
    -----
    Numba notices a changed kernel by its source file. So a kernel may only call functions of its own file.
    """

    def decorate(function: Callable) -> Callable:
        if config.DISABLE_JIT:  # numba's switch for debugging: plain Python
            return function

        @functools.cache
        def machine_code() -> Callable:
            return _machine_code(function, signature)

        @functools.wraps(function)
        def call(*arguments):
            return machine_code()(*arguments)

        return call

    return decorate


@contextmanager
def before_compiling(notify: Callable[[], None]) -> Iterator[None]:
    """Call ``notify`` before the first kernel that the block compiles; never if all of them are cached."""

    class FirstTime(event.Listener):
        has_started = False

        def on_start(self, _):
            if not self.has_started:
                self.has_started = True
                notify()

        def on_end(self, _):
            pass

    with event.install_listener("numba:compile", FirstTime()):
        yield


def _machine_code(function: Callable, signature: str) -> Callable:
    try:
        dispatcher = njit(cache=True)(function)
        cache = Path(dispatcher.stats.cache_path)
        cache.mkdir(parents=True, exist_ok=True)
    except (RuntimeError, OSError):  # no writable cache folder
        return _for_signature(njit(function), signature)
    with _locked(cache):
        try:
            return _for_signature(dispatcher, signature)
        except Exception:  # the cached file is damaged, and unpickling may raise anything
            for file in cache.glob(f"{Path(function.__code__.co_filename).stem}.{function.__name__}-*.nb[ic]"):
                file.unlink(missing_ok=True)
            return _for_signature(njit(cache=True)(function), signature)


def _for_signature(dispatcher, signature: str) -> Callable:
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock on a folder's kernels. Without locks on the file system, processes only compile more often."""
    try:
        lock = os.open(folder / "kernels.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)  # this releases the lock
