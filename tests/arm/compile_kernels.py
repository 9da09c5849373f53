"""Compile kernels for any aarch64 into Numba's cache: NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=FOLDER compile_kernels.py

On x86-64, LLVM's code generator for aarch64 compiles every kernel, in about a tenth of the time that it takes in emulation. An
emulated Python of the same version loads them. There, this script compiles only COMPARED, so that a test can compare both.
"""

import importlib
import pkgutil
import platform

import llvmlite.binding as llvm

TRIPLE = "aarch64-unknown-linux-gnu"
# Kernels without a constant that Numba names after its address: the object files of the others differ in each process.
COMPARED = [
    *("kernels.squared_distances", "kernels.sums_by_label", "kernels.inertia_by_label"),
    *("fair_dual._write_distances", "transport._assign"),
]


def compile_for_aarch64():
    """Let Numba compile for aarch64 in this process, which then cannot run what it compiles."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.get_process_triple = lambda: TRIPLE
    llvm.Target.from_default_triple = classmethod(lambda target: target.from_triple(TRIPLE))


def all_kernels():
    """Names such as ``module.function`` of all kernels; COMPARED comes first, because Numba numbers what it compiles."""
    from clusterlets import algorithms

    names = []
    for module in pkgutil.iter_modules(algorithms.__path__):
        content = vars(importlib.import_module(f"{algorithms.__name__}.{module.name}"))
        names += [f"{module.name}.{name}" for name, value in content.items() if hasattr(value, "machine_code")]
    return COMPARED + sorted(set(names) - set(COMPARED))


if __name__ == "__main__":
    is_emulated = platform.machine() == "aarch64"
    if not is_emulated:
        compile_for_aarch64()
    from clusterlets.algorithms.compiled import compile_here

    names = all_kernels()
    compile_here(names[: len(COMPARED)] if is_emulated else names)
