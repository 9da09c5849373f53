"""Machine code of kernels, compiled once per machine and cached.

The first process that needs a kernel compiles it and caches the result beside the source, or in the user's cache if the
source folder is read-only. Other processes wait for it and then load the result. If neither place is writable, each
process compiles for itself.

Numba compiles without fast-math, so LLVM neither reorders a sum nor joins a product and a sum into one rounding. Code
that fixes the order of its sums therefore gives the same bits on every processor.
"""

import fcntl
import functools
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

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

        call.machine_code = machine_code  # type: ignore[attr-defined]
        return call

    return decorate


def inner(function: Callable) -> Callable:
    """Decorator of functions that only kernels call: compiled with these, without the wrapper by which Python would call them.

    The wrapper takes a fifth of the time of compilation.
    """
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def compile_together(kernels: Sequence[str]) -> None:
    """Compile and cache the kernels that are not cached yet on two cores: every other one in a second process.

    Does nothing with one core, or where no cache is writable. The first fit of a method compiles several slow kernels, and
    compilation does not run in threads.

    Parameters
    ----------
    kernels : sequence of str
        As ``module.function`` of ``clusterlets.algorithms``; they should alternate in the time that they take.
    """
    uncached = [] if config.DISABLE_JIT else [kernel for kernel in kernels if not _is_cached(_kernel(kernel).__wrapped__)]
    if len(uncached) < 2 or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import compile_here; compile_here({uncached[1::2]!r})"
    # If the other process fails, its kernels are compiled when they are used.
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        compile_here(uncached[::2])


def compile_here(kernels: Sequence[str]) -> None:
    """Compile kernels, named as in :func:`compile_together`, one after the other."""
    for kernel in kernels:
        _kernel(kernel).machine_code()


def _kernel(name: str):
    module, function = name.split(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), function)


def _is_cached(function: Callable) -> bool:
    """Whether its machine code is cached, or can be cached nowhere."""
    try:
        cache = Path(_dispatcher(function, cache=True).stats.cache_path)
    except (RuntimeError, OSError):
        return True
    return any(cache.glob(f"{_cached_files(function)}i"))


def _cached_files(function: Callable) -> str:
    return f"{Path(function.__code__.co_filename).stem}.{function.__name__}-*.nb"


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
        dispatcher = _dispatcher(function, cache=True)
        cache = Path(dispatcher.stats.cache_path)
        cache.mkdir(parents=True, exist_ok=True)
    except (RuntimeError, OSError):  # no writable cache folder
        return _for_signature(_dispatcher(function, cache=False), signature)
    with _locked(cache, function):
        try:
            return _for_signature(dispatcher, signature)
        except Exception:  # the cached file is damaged, and unpickling may raise anything
            for file in cache.glob(f"{_cached_files(function)}[ic]"):
                file.unlink(missing_ok=True)
            return _for_signature(_dispatcher(function, cache=True), signature)


def _dispatcher(function: Callable, cache: bool):
    return njit(cache=cache, no_cfunc_wrapper=True)(function)  # no kernel is called from C


def _for_signature(dispatcher, signature: str) -> Callable:
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _locked(folder: Path, function: Callable) -> Iterator[None]:
    """Hold the lock of a kernel, one byte of the folder's lock file. Without file locks, several processes may compile it."""
    try:
        lock = os.open(folder / "kernels.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.lockf(lock, fcntl.LOCK_EX, 1, crc32(_cached_files(function).encode()))
        yield
    finally:
        os.close(lock)  # this releases the lock
