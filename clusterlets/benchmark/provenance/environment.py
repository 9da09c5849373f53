"""The software, its commit, and the machine that made results."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from clusterlets.benchmark.grid.fingerprints import PACKAGE
from clusterlets.benchmark.grid.locks import locked_versions
from clusterlets.benchmark.provenance import libraries

LIBRARIES = (*libraries.MODULES, "snakemake")


def software(lock: str | Path, names: Iterable[str] = LIBRARIES) -> dict:
    """The version of Python, and the installed version (or None) and the locked version of each library."""
    pins, installed_versions = locked_versions(lock, names), installed(names)
    versions = {name: {"installed": installed_versions.get(name), "locked": pin} for name, pin in pins.items()}
    return {"python": f"{platform.python_implementation()} {platform.python_version()}", "libraries": versions}


def installed(names: Iterable[str] = tuple(libraries.MODULES)) -> dict[str, str]:
    """The version of each installed library. For a loaded library, it is what the library reports."""
    versions = {name: libraries.loaded().get(name) or _installed_version(name) for name in names}
    return {name: version for name, version in versions.items() if version}


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def source(checkout: Path = PACKAGE.parent) -> dict | None:
    """The commit of the checkout, and whether tracked files differ from it. None without git or a repository."""
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "HEAD")
    if not commit or Path(top).resolve() != checkout.resolve():  # no repository, or a copy inside another one
        return None
    return {"commit": commit, "dirty": bool(_git(checkout, "status", "--porcelain", "--untracked-files=no"))}


def _git(folder: Path, *arguments: str) -> str:
    try:
        process = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # git is missing, or the command failed
        return ""
    return os.fsdecode(process.stdout).strip()


def machine() -> dict:
    """Processor, cores, memory and system of this machine. On a cluster, it is the node that runs this step."""
    return {
        **processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": _system(),
    }


def processor() -> dict[str, str | None]:
    """The processor, and the code that NumPy, Numba and OpenBLAS select for it.

    A value is None if the library is missing or does not report it. Environment variables may change the selection.
    """
    return {
        "processor": _processor_name(),
        "architecture": platform.machine(),
        "numpy_simd": _numpy_simd(),
        "numba_cpu": os.environ.get("NUMBA_CPU_NAME") or _numba_cpu(),
        "openblas_kernel": _openblas_kernel(),
    }


def _processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model name; on ARM with Linux, the numbers of vendor and part."""
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    model_name = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    arm_numbers = re.findall(r"^CPU (implementer|part)\s*: (.+)$", text, re.MULTILINE)[:2]  # of the first core
    return model_name[1] if model_name else ", ".join(map(" ".join, arm_numbers)) or platform.processor() or platform.machine()


def _numpy_simd() -> str | None:
    try:
        import numpy as np

        extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    except (ImportError, KeyError, TypeError):
        return None
    return " ".join([*extensions.get("baseline", []), *extensions.get("found", [])])


def _numba_cpu() -> str | None:
    try:
        from llvmlite.binding import get_host_cpu_name  # Numba calls this too, but takes a second to import
    except ImportError:
        return None
    return get_host_cpu_name()


def _openblas_kernel() -> str | None:
    try:
        import numpy as np  # noqa: F401  (it loads OpenBLAS)
        from threadpoolctl import threadpool_info
    except ImportError:
        return None
    return next((pool.get("architecture") for pool in threadpool_info() if pool["internal_api"] == "openblas"), None)


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # not on Linux
        name = platform.system()
    return f"{name}, {platform.release()}, {platform.machine()}"
