"""Makes products of double-precision numbers impossible in this process, so that a step which asks for one fails.

The order of summation in them hangs on the processor, and on which kernel the BLAS picks for it. Single precision stays: the
screening of C (``clusterlets/algorithms/matching/centroid.py``) uses it, with a bound on its error that makes the order
indifferent.
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

#: What numpy computes by itself or hands to the BLAS, by name.
FUNCTIONS = ("matmul", "dot", "vdot", "inner", "tensordot", "einsum")
#: What it asks the BLAS for, whoever the caller is: ``@``, methods of arrays, ``numpy.linalg``.
KERNELS = ("dgemm", "dgemv", "dsyrk", "ddot")
#: An instruction that no processor of the architecture may ever know.
ILLEGAL = {"x86_64": b"\x0f\x0b", "aarch64": bytes(4)}
#: Other systems let nobody write over code that is loaded.
POSSIBLE = sys.platform == "linux" and platform.machine() in ILLEGAL


def forbid():
    """From now on a product of doubles raises TypeError where a function was called by its name, or ends the process with a
    traceback."""
    for name in FUNCTIONS:
        setattr(np, name, _refusing_doubles(getattr(np, name)))
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the traceback says all
    for kernel in KERNELS:
        _break(_address(kernel), ILLEGAL[platform.machine()])


def _refusing_doubles(function):
    @functools.wraps(function)
    def refusing(*arguments, **settings):
        types = [np.asarray(one).dtype for one in arguments if not isinstance(one, str)]
        if any(one.kind in "fc" and one != np.float32 for one in types):
            raise TypeError(f"numpy.{function.__name__} of doubles")
        return function(*arguments, **settings)

    return refusing


def _address(kernel):
    """Where a routine of numpy's OpenBLAS begins, as its wheels call it, or a build by others."""
    (path,) = {pool["filepath"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    library = ctypes.CDLL(path)
    for name in (f"scipy_cblas_{kernel}64_", f"scipy_cblas_{kernel}", f"cblas_{kernel}64_", f"cblas_{kernel}"):
        if hasattr(library, name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    raise LookupError(f"{path} has no {kernel}")


def _break(address, instruction):
    """Write an instruction over the beginning of a routine."""
    system = ctypes.CDLL(None, use_errno=True)
    page = address // mmap.PAGESIZE * mmap.PAGESIZE
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if system.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), everything) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(address, instruction, len(instruction))
