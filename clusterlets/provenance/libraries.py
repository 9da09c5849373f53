"""The libraries that results depend on, and whether a process has their locked versions.

Reruns depend on the lock, and the manifest names its versions: results of another version would look like those of the lock.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clusterlets.errors import ClusterletsError
from clusterlets.grid.fingerprints import LOCK, locked_versions

#: It only checks versions, which fingerprints contain anyway: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False

#: Every distribution that computes or draws, with the module that it is imported as.
MODULES = {name: name for name in ("numpy", "scipy", "numba", "llvmlite", "threadpoolctl", "pandas", "pyarrow")} | {
    "scikit-learn": "sklearn",
    "scikit-posthocs": "scikit_posthocs",
    **{name: name for name in ("statsmodels", "matplotlib", "jinja2")},
}


def loaded() -> dict[str, str]:
    """The version of each library that this process has imported, as the library reports it."""
    versions = {name: getattr(sys.modules.get(module), "__version__", None) for name, module in MODULES.items()}
    return {name: version for name, version in versions.items() if version}


@contextmanager
def require_locked() -> Iterator[None]:
    """Raise ClusterletsError if the block, even a failing one, imported a library in a version other than the locked one."""
    try:
        yield
    finally:
        check_versions(loaded())


def check_versions(versions: Mapping[str, str], lock: Path = LOCK) -> None:
    """Raise ClusterletsError if a version is not the locked one. Without a lock, outside a checkout, all are accepted."""
    if not lock.is_file():
        return
    pins = locked_versions(lock, versions)
    unlocked = {name: version for name, version in versions.items() if version != pins[name]}
    if unlocked:
        differing = (f"{name} {version}{_origin(name)} instead of {pins[name]}" for name, version in unlocked.items())
        raise ClusterletsError(
            f"The environment has {', '.join(differing)}, as locked in {lock.name}: results would look like those of the lock. "
            "Is another version on PYTHONPATH, or an old environment activated? `make environment` sets up the right one; "
            "docs/environments.md says how to change a version."
        )


def _origin(name: str) -> str:
    file = getattr(sys.modules.get(MODULES[name]), "__file__", None)
    return f" (from {Path(file).parent})" if file else ""
