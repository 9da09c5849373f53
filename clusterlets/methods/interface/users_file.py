"""Load a method from a Python file of the user's, and turn whatever its code raises into an error that names the line."""

import os
import random
import sys
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getattr_static
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import numpy as np

from clusterlets.errors import ClusterletsError, MethodError
from clusterlets.methods.interface.base import Method
from clusterlets.methods.interface.check import ENTRY_POINTS, check
from clusterlets.methods.interface.registry import methods_in

# The names of the modules of users' files begin with this.
_MODULE_PREFIX = f"{__package__}._own_"
_ORIGINAL_EXIT = os._exit
_HASH_SEED = "PYTHONHASHSEED"


def from_file(path: str | Path) -> type[Method]:
    """Load the method from a Python file of your own.

    Raises
    ------
    ClusterletsError
        If the file cannot be read or run, or does not contain exactly one method that :func:`check` accepts.
    """
    path = Path(path)
    if not path.is_file():
        raise ClusterletsError(f"There is no file {path} to load a method from.")
    if path.suffix != ".py":
        raise ClusterletsError(
            f"{path} is not a Python file: a method is a .py file with one subclass of clusterlets.methods.Method."
        )
    module = ModuleType(f"{_MODULE_PREFIX}{zlib.crc32(str(path.resolve()).encode()):08x}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look the module up here
    try:
        # An import would write a __pycache__ beside the file, and would miss an edit within the same second.
        with _as_method_error(path, f"{path} cannot be run"), seeded(0):  # what the file draws now must not differ by run
            exec(compile(path.read_bytes(), path, "exec", dont_inherit=True), vars(module))
        methods = list(methods_in(module).values())
        if len(methods) != 1:
            raise ClusterletsError(
                f"{path} holds {len(methods)} methods, and should hold one: a subclass of Method with a name."
            )
        (method,) = methods
        check(method, str(path))
    except BaseException:
        del sys.modules[module.__name__]
        raise
    guard = _as_method_error(path, str(path))
    for name in ENTRY_POINTS:
        function = getattr_static(method, name, None)
        if isinstance(function, staticmethod | classmethod):
            setattr(method, name, type(function)(guard(function.__func__)))
        elif function is not None:
            setattr(method, name, guard(function))
    return method


def is_from_file(method: type[Method]) -> bool:
    """Whether :func:`from_file` loaded the method. The project's tests do not cover such a method."""
    return method.__module__.startswith(_MODULE_PREFIX)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed ``random``, NumPy's global generator and the hashes of Python programs, and restore the former states at the end."""
    former = random.getstate(), np.random.get_state(), os.environ.get(_HASH_SEED)
    try:
        random.seed(seed)
        np.random.seed(seed)
        os.environ[_HASH_SEED] = str(seed)
        yield
    finally:
        random.setstate(former[0])
        np.random.set_state(former[1])
        if former[2] is None:
            os.environ.pop(_HASH_SEED, None)
        else:
            os.environ[_HASH_SEED] = former[2]


@contextmanager
def _as_method_error(path: Path, problem: str) -> Iterator[None]:
    """Run code of a user's file. An exception, even ``SystemExit``, becomes a MethodError that names the line of the file.

    Also usable as a decorator. The working folder is restored afterwards. ``os._exit`` raises an exception too: otherwise it
    could end a command with status 0 before the work is done. Forked processes may still call ``os._exit``.
    """
    folder, own_process = os.getcwd(), os.getpid()

    def raise_instead_of_exit(status: int) -> NoReturn:
        if os.getpid() != own_process:
            _ORIGINAL_EXIT(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = raise_instead_of_exit
    try:
        yield
    except (ClusterletsError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise MethodError(f"{problem}{where}: {_one_line(error)}", _one_line(error)) from error
    finally:
        os._exit = _ORIGINAL_EXIT
        os.chdir(folder)


def _one_line(error: BaseException) -> str:
    """The type of an exception and the last line of its message."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # the exception's class is the user's, and its __str__ may fail
        lines = []
    return f"{type(error).__name__}: {lines[-1] if lines else ''}".removesuffix(": ")
