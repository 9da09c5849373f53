"""Makes products of double-precision numbers impossible in this process, so that a step which asks for one fails.

Their order of summation depends on the processor and on the kernel that the BLAS picks for it. Single precision stays: the
screening of C (``clusterlets/algorithms/matching/centroid.py``) uses it, with a bound on its error that makes the order
irrelevant.
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
#: The routines of the BLAS that it calls, whether for ``@``, methods of arrays or ``numpy.linalg``.
KERNELS = ("dgemm", "dgemv", "dsyrk", "ddot")
#: An instruction that is illegal on every processor of the architecture.
ILLEGAL = {"x86_64": b"\x0f\x0b", "aarch64": bytes(4)}
#: Other systems do not let loaded code be overwritten.
POSSIBLE = sys.platform == "linux" and platform.machine() in ILLEGAL


def forbid():
    """From now on a product of doubles raises TypeError where a function was called by its name, or ends the process with a
    traceback."""
    for name in FUNCTIONS:
        setattr(np, name, _refusing_doubles(getattr(np, name)))
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump: the traceback suffices
    for kernel in KERNELS:
        _break(_address(kernel), ILLEGAL[platform.machine()])


def _refusing_doubles(function):
    @functools.wraps(function)
    def refusing(*arguments, **settings):
        types = [np.asarray(item).dtype for item in arguments if not isinstance(item, str)]
        if any(item.kind in "fc" and item != np.float32 for item in types):
            raise TypeError(f"numpy.{function.__name__} of doubles")
        return function(*arguments, **settings)

    return refusing


def _address(kernel):
    """The address of a routine of numpy's OpenBLAS, by its name in numpy's wheels or in other builds."""
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
