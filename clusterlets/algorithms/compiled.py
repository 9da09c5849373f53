"""Machine code of kernels, compiled once per machine and cached.

The first process that needs a kernel compiles it and caches the result beside the source, or in the user's cache if the
source folder is read-only. Other processes wait for it and then load the result. If neither place is writable, each
process compiles for itself.

Numba compiles without fast-math, so LLVM neither reorders a sum nor fuses a product and a sum into one operation. Code that
fixes the order of its sums therefore gives the same bits on every processor.
"""

import functools
import gc
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
from numba.core.types import unliteral


def compiled(signature: str) -> Callable[[Callable], Callable]:
    """Decorator: compile a function for one signature when it is first called.

    Parameters
    ----------
    signature : str
        In Numba's notation, such as ``"void(float64[:,::1], int64)"``. A call with other types raises TypeError and compiles
        nothing.

    Notes
    -----
    Numba compiles a cached kernel again only if its source file has changed. So a kernel may only call functions of that file.
    """

    def decorate(function: Callable) -> Callable:
        if config.DISABLE_JIT:  # Numba's switch for debugging: run plain Python
            return function

        @functools.cache
        def machine_code() -> Callable:
            return _load_or_compile(function, signature)

        @functools.wraps(function)
        def call(*arguments):
            return machine_code()(*arguments)

        call.machine_code = machine_code  # type: ignore[attr-defined]
        return call

    return decorate


def inner(function: Callable) -> Callable:
    """Decorator for functions that only kernels call. A wrapper for Python would take a fifth of the compilation time.

    Numba would compile a function once more for each constant that it is called with. It compiles once for each type here.
    """
    dispatcher = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    if not config.DISABLE_JIT:
        template_for = dispatcher.get_call_template
        dispatcher.get_call_template = lambda types, by_name: template_for(tuple(map(unliteral, types)), by_name)
    return dispatcher


def compile_together(kernels: Sequence[str]) -> None:
    """Compile and cache, on two cores, the kernels that are not cached yet: a second process compiles every other kernel.

    Threads would not help, because Numba compiles one kernel at a time. Does nothing if there is only one core, if fewer than
    two kernels are missing, or if no cache is writable.

    Parameters
    ----------
    kernels : sequence of str
        Names such as ``module.function``, of modules in ``clusterlets.algorithms``. Their order should give both processes
        about the same amount of work.
    """
    uncached = [] if config.DISABLE_JIT else [name for name in kernels if not _is_cached(_import_kernel(name).__wrapped__)]
    if len(uncached) < 2 or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import compile_here; compile_here({uncached[1::2]!r})"
    # If the other process fails, its kernels are compiled when they are first called.
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        compile_here(uncached[::2])


def compile_here(kernels: Sequence[str]) -> None:
    """Compile kernels one after the other; names as in :func:`compile_together`."""
    for name in kernels:
        _import_kernel(name).machine_code()


def _import_kernel(name: str):
    module, function = name.split(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), function)


def _is_cached(function: Callable) -> bool:
    """Whether the machine code of a function is cached; also true if no cache is writable."""
    try:
        cache = Path(_dispatcher(function, cache=True).stats.cache_path)
    except (RuntimeError, OSError):
        return True
    return any(cache.glob(f"{_cache_pattern(function)}i"))


def _cache_pattern(function: Callable) -> str:
    # Callers append the last letter: Numba's index ends in "nbi", its machine code in "nbc".
    return f"{Path(function.__code__.co_filename).stem}.{function.__name__}-*.nb"


@contextmanager
def before_compiling(notify: Callable[[], None]) -> Iterator[None]:
    """Call ``notify`` before the ``with`` statement compiles its first kernel, and never if all its kernels are cached."""

    class FirstCompilation(event.Listener):
        has_started = False

        def on_start(self, _):
            if not self.has_started:
                self.has_started = True
                notify()

        def on_end(self, _):
            pass

    with event.install_listener("numba:compile", FirstCompilation()):
        yield


def _load_or_compile(function: Callable, signature: str) -> Callable:
    try:
        dispatcher = _dispatcher(function, cache=True)
        cache = Path(dispatcher.stats.cache_path)
        cache.mkdir(parents=True, exist_ok=True)
    except (RuntimeError, OSError):  # no writable cache folder
        return _compile_for(_dispatcher(function, cache=False), signature)
    with _hold_lock(cache, function), _without_garbage_collection():
        try:
            return _compile_for(dispatcher, signature)
        except Exception:  # the cached file is damaged, and unpickling may raise anything
            for file in cache.glob(f"{_cache_pattern(function)}[ic]"):
                file.unlink(missing_ok=True)
            return _compile_for(_dispatcher(function, cache=True), signature)


def _dispatcher(function: Callable, cache: bool):
    # Kernels release Python's lock, so that threads run them at the same time. No kernel is called from C.
    return njit(cache=cache, nogil=True, no_cfunc_wrapper=True)(function)


def _compile_for(dispatcher, signature: str) -> Callable:
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _without_garbage_collection():
    """Let no garbage be collected: Numba makes so many objects that this takes a tenth of the time of a compilation."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _hold_lock(folder: Path, function: Callable) -> Iterator[None]:
    """Hold the lock of a kernel, which is one byte of the folder's lock file.

    Where files cannot be locked, several processes may compile the same kernel.
    """
    try:
        lock_file = os.open(folder / "kernels.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        yield
        return
    try:
        with suppress(OSError, ImportError):  # Windows has no fcntl
            import fcntl

            fcntl.lockf(lock_file, fcntl.LOCK_EX, 1, crc32(_cache_pattern(function).encode()))
        yield
    finally:
        os.close(lock_file)  # closing the file releases the lock
