"""Versions of libraries: those of the lock file, and those that a run was planned with.

Every job imports this module, so it needs only the standard library.
"""

import functools
import json
import os
import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from clusterlets.errors import ClusterletsError

LOCK = Path(__file__).resolve().parents[3] / "requirements.lock"
#: The environment variable with the versions that a run was planned with, as JSON. Its jobs inherit it.
PLANNED = "CLUSTERLETS_VERSIONS"


def planned_versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of distributions that the run was planned with; outside a run, and where one is missing, the locked ones."""
    planned = json.loads(os.environ.get(PLANNED, "{}"))
    return {name: planned.get(name) or locked_versions(LOCK, [name])[name] for name in names}


def locked_versions(lock: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Versions of distributions from a pip lock file; the installed versions of those that the file lacks."""
    return {name: _pins(Path(lock)).get(name) or _installed_version(name) for name in names}


def _installed_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        raise ClusterletsError(f"A method needs {name}, which is neither locked nor installed: pip install {name}") from None


@functools.cache
def _pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE))
