"""Make products of double-precision arrays fail in this process, so that a test can show that no step computes one.

In such a product, the order of summation depends on the processor and on the kernel that the BLAS picks for it.
Single-precision products still work. The screening of C (``clusterlets/algorithms/matching/centroid.py``) computes some, and
allows for any error that their order can cause.
"""

import ctypes
import faulthandler
import functools
import mmap
import platform
import resource
import sys

import numpy as np
from threadpoolctl import threadpool_info

#: Functions of numpy that compute products themselves or leave them to the BLAS.
FUNCTIONS = ("matmul", "dot", "vdot", "inner", "tensordot", "einsum")
#: Routines of the BLAS that numpy calls for ``@``, for methods of arrays and for ``numpy.linalg``.
ROUTINES = ("dgemm", "dgemv", "dsyrk", "ddot")
#: By architecture, an instruction that is illegal on all its processors.
ILLEGAL_INSTRUCTION = {"x86_64": b"\x0f\x0b", "aarch64": bytes(4)}
#: Whether ``forbid`` works here. It overwrites loaded code, which it can do only on Linux on these processors.
POSSIBLE = sys.platform == "linux" and platform.machine() in ILLEGAL_INSTRUCTION


def forbid():
    """Make every later product of doubles fail.

    The functions in FUNCTIONS raise TypeError. Any other way to compute a product ends the process with a traceback.
    """
    for name in FUNCTIONS:
        setattr(np, name, _refuse_doubles(getattr(np, name)))
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump: the traceback is enough
    for routine in ROUTINES:
        _overwrite(_address(routine), ILLEGAL_INSTRUCTION[platform.machine()])


def _refuse_doubles(function):
    @functools.wraps(function)
    def checked_function(*arguments, **settings):
        dtypes = [np.asarray(item).dtype for item in arguments if not isinstance(item, str)]
        if any(dtype.kind in "fc" and dtype != np.float32 for dtype in dtypes):
            raise TypeError(f"numpy.{function.__name__} of doubles")
        return function(*arguments, **settings)

    return checked_function


def _address(routine):
    """The address of a routine of numpy's OpenBLAS. The routine's name depends on how numpy was built."""
    (path,) = {pool["filepath"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    library = ctypes.CDLL(path)
    for name in (f"scipy_cblas_{routine}64_", f"scipy_cblas_{routine}", f"cblas_{routine}64_", f"cblas_{routine}"):
        if hasattr(library, name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    raise LookupError(f"{path} has no {routine}")


def _overwrite(address, instruction):
    libc = ctypes.CDLL(None, use_errno=True)
    # Two pages become writable, because the instruction may cross the border between them.
    page = address // mmap.PAGESIZE * mmap.PAGESIZE
    all_rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), all_rights) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(address, instruction, len(instruction))
