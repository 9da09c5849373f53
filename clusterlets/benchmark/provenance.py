"""Where results come from: software, source and machine. None of it changes a result; it may differ between two runs."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from clusterlets.benchmark.fingerprints import PACKAGE, locked_versions

# Every distribution that computes, draws or schedules.
LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "numba", "threadpoolctl", "pandas", "pyarrow"),
    *("scikit-posthocs", "statsmodels", "matplotlib", "seaborn", "jinja2", "snakemake"),
)


def software(lock: str | Path, libraries: Iterable[str] = LIBRARIES) -> dict:
    """Python's version, and of each library the version that is installed (None: it is not) and the locked one."""
    locked = locked_versions(lock, libraries)
    versions = {name: {"installed": _installed(name), "locked": pin} for name, pin in locked.items()}
    return {"python": f"{platform.python_implementation()} {platform.python_version()}", "libraries": versions}


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
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def machine() -> dict:
    """Processor, cores, memory and system of this machine; on a cluster, of the one that ran this step."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": _system(),
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", described.read_text(), re.MULTILINE) if described.is_file() else None
    return found[1] if found else platform.processor() or platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # no Linux
        name = platform.system()
    return f"{name}, {platform.release()}, {platform.machine()}"
