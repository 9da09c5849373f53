"""Machine code for kernels, made once a machine and kept.

The first process that needs a kernel compiles it and keeps the result beside the source, or in the user's cache where
the source cannot be written. Others wait for it and then load what it made. Where neither place can be written, each
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
        Numba's, as in ``"void(float64[:,::1], int64)"``. A call with other types is a TypeError: nothing is compiled
        behind the caller's back.

    Notes
    -----
    Numba notices changes of a kept kernel by its source file. A kernel may therefore call functions of its own file only.
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
def before_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` before the first kernel that is compiled in the block; not at all if all of them were kept."""

    class FirstTime(event.Listener):
        told = False

        def on_start(self, _):
            if not self.told:
                self.told = True
                tell()

        def on_end(self, _):
            pass

    with event.install_listener("numba:compile", FirstTime()):
        yield


def _machine_code(function: Callable, signature: str) -> Callable:
    try:
        dispatcher = njit(cache=True)(function)
        kept = Path(dispatcher.stats.cache_path)
        kept.mkdir(parents=True, exist_ok=True)
    except (RuntimeError, OSError):  # no place to keep it
        return _for_signature(njit(function), signature)
    with _alone_in(kept):
        try:
            return _for_signature(dispatcher, signature)
        except Exception:  # what was kept is damaged, and unpickling may raise anything
            for file in kept.glob(f"{Path(function.__code__.co_filename).stem}.{function.__name__}-*.nb[ic]"):
                file.unlink(missing_ok=True)
            return _for_signature(njit(cache=True)(function), signature)


def _for_signature(dispatcher, signature: str) -> Callable:
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock on a folder's kernels. A file system without locks lets everybody in: they only compile more often."""
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
        os.close(lock)  # and with it the lock
