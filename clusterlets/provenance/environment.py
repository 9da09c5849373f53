"""Where results come from: software, source and machine. None of it changes a result; it may differ between two runs."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from clusterlets.grid.fingerprints import PACKAGE, locked_versions
from clusterlets.provenance import libraries

LIBRARIES = (*libraries.MODULES, "snakemake")


def software(lock: str | Path, names: Iterable[str] = LIBRARIES) -> dict:
    """Python's version and, for each library, the installed version (None if it is missing) and the locked one."""
    locked, available = locked_versions(lock, names), installed(names)
    versions = {name: {"installed": available.get(name), "locked": pin} for name, pin in locked.items()}
    return {"python": f"{platform.python_implementation()} {platform.python_version()}", "libraries": versions}


def installed(names: Iterable[str] = tuple(libraries.MODULES)) -> dict[str, str]:
    """The version of each available library: as the library reports it if it is loaded, or else as it was installed."""
    versions = {name: libraries.loaded().get(name) or _installed_version(name) for name in names}
    return {name: version for name, version in versions.items() if version}


def check_libraries() -> None:
    """Raise ClusterletsError if a library is not the locked version and jobs run in this Python's environment."""
    python = shutil.which("python")
    if python and os.path.dirname(python) == os.path.dirname(sys.executable):
        libraries.check_versions(installed())


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def source(checkout: Path = PACKAGE.parent) -> dict | None:
    """The commit of the checkout, and whether tracked files differ from it; None without git or a repository."""
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "HEAD")
    if not commit or Path(top).resolve() != checkout.resolve():  # a copy inside another repository has no commit
        return None
    return {"commit": commit, "dirty": bool(_git(checkout, "status", "--porcelain", "--untracked-files=no"))}


def user() -> str:
    """The name that git uses for commits made here; empty where it has none."""
    return _git(Path(), "config", "user.name")


def _git(folder: Path, *arguments: str) -> str:
    try:
        finished = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return os.fsdecode(finished.stdout).strip()


def machine() -> dict:
    """Processor, cores, memory and system of this machine; on a cluster, of the one that ran this step."""
    return {
        **processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": _system(),
    }


def processor() -> dict[str, str | None]:
    """The processor, and the code that libraries choose for it: numpy's instructions, numba's target, OpenBLAS's kernel.

    None for a library that is not installed or does not say. Environment variables that choose different code
    are obeyed, as by the libraries.
    """
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "numpy_simd": _numpy_simd(),
        "numba_cpu": os.environ.get("NUMBA_CPU_NAME") or _numba_cpu(),
        "openblas_kernel": _openblas_kernel(),
    }


def _processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """On Linux the model's name or, on ARM, the numbers of vendor and model; elsewhere, what the system reports."""
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
        from llvmlite.binding import get_host_cpu_name  # numba asks this too, but takes a second to import
    except ImportError:
        return None
    return get_host_cpu_name()


def _openblas_kernel() -> str | None:
    """The kernel of the OpenBLAS that numpy has loaded."""
    try:
        import numpy as np  # noqa: F401
        from threadpoolctl import threadpool_info
    except ImportError:
        return None
    return next((pool.get("architecture") for pool in threadpool_info() if pool["internal_api"] == "openblas"), None)


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # not Linux
        name = platform.system()
    return f"{name}, {platform.release()}, {platform.machine()}"
