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
    """Python's version, and of each library the version that is installed (None: it is not) and the locked one."""
    locked, present = locked_versions(lock, names), installed(names)
    versions = {name: {"installed": present.get(name), "locked": pin} for name, pin in locked.items()}
    return {"python": f"{platform.python_implementation()} {platform.python_version()}", "libraries": versions}


def installed(names: Iterable[str] = tuple(libraries.MODULES)) -> dict[str, str]:
    """The version of each library that is there: as it says itself where it is loaded, or else as it was installed."""
    versions = {name: libraries.loaded().get(name) or _installed(name) for name in names}
    return {name: version for name, version in versions.items() if version}


def refuse_other_libraries() -> None:
    """Raise ClusterletsError where a library is not the locked version, if jobs run in this Python's environment."""
    python = shutil.which("python")
    if python and os.path.dirname(python) == os.path.dirname(sys.executable):
        libraries.refuse_others(installed())


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def source(checkout: Path = PACKAGE.parent) -> dict | None:
    """The commit of the checkout, and whether tracked files differ from it; None where there is no git or no repository."""
    top = _git(checkout, "rev-parse", "--show-toplevel")
    commit = _git(checkout, "rev-parse", "HEAD")
    if not commit or Path(top).resolve() != checkout.resolve():  # a copy inside another repository has no commit
        return None
    return {"commit": commit, "dirty": bool(_git(checkout, "status", "--porcelain", "--untracked-files=no"))}


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return os.fsdecode(done.stdout).strip()


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

    None for a library that is not installed or does not say. Variables of the environment that choose other code are
    obeyed, as the libraries do.
    """
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "numpy_simd": _numpy_simd(),
        "numba_cpu": os.environ.get("NUMBA_CPU_NAME") or _numba_cpu(),
        "openblas_kernel": _openblas_kernel(),
    }


def _processor(described: Path = Path("/proc/cpuinfo")) -> str:
    """The name as Linux knows it: in words, or on ARM the numbers of maker and model; elsewhere what the system says."""
    text = described.read_text(encoding="utf-8", errors="replace") if described.is_file() else ""
    named = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    numbered = re.findall(r"^CPU (implementer|part)\s*: (.+)$", text, re.MULTILINE)[:2]  # of the first core
    return named[1] if named else ", ".join(map(" ".join, numbered)) or platform.processor() or platform.machine()


def _numpy_simd() -> str | None:
    try:
        import numpy as np

        extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    except (ImportError, KeyError, TypeError):
        return None
    return " ".join([*extensions.get("baseline", []), *extensions.get("found", [])])


def _numba_cpu() -> str | None:
    try:
        from llvmlite.binding import get_host_cpu_name  # what numba asks, without the second that numba takes to import
    except ImportError:
        return None
    return get_host_cpu_name()


def _openblas_kernel() -> str | None:
    """Of the OpenBLAS that numpy has loaded."""
    try:
        import numpy as np  # noqa: F401
        from threadpoolctl import threadpool_info
    except ImportError:
        return None
    return next((pool.get("architecture") for pool in threadpool_info() if pool["internal_api"] == "openblas"), None)


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # no Linux
        name = platform.system()
    return f"{name}, {platform.release()}, {platform.machine()}"
