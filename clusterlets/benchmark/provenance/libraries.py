"""The libraries that results depend on, and the check that a process uses their locked versions.

Fingerprints and the manifest contain the locked versions. So results of another version would look as if they came from the
locked one.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clusterlets.benchmark.grid.locks import LOCK, locked_versions
from clusterlets.errors import ClusterletsError

#: Every library that computes or draws: the name of its distribution, and that of the module to import.
MODULES = {name: name for name in ("numpy", "scipy", "numba", "llvmlite", "threadpoolctl", "pandas", "pyarrow")} | {
    "scikit-learn": "sklearn",
    "scikit-posthocs": "scikit_posthocs",
    **{name: name for name in ("statsmodels", "matplotlib", "seaborn", "jinja2")},
}


def loaded() -> dict[str, str]:
    """The version of each library that this process has imported, as the library reports it."""
    versions = {name: getattr(sys.modules.get(module), "__version__", None) for name, module in MODULES.items()}
    return {name: version for name, version in versions.items() if version}


@contextmanager
def require_locked() -> Iterator[None]:
    """After a ``with`` body, even if it fails, raise ClusterletsError if a loaded library's version is not the locked one."""
    try:
        yield
    finally:
        check_versions(loaded())


def check_versions(versions: Mapping[str, str], lock: Path = LOCK) -> None:
    """Raise ClusterletsError if a version is not the locked one."""
    if not lock.is_file():  # outside a checkout
        return
    pins = locked_versions(lock, versions)
    wrong_versions = {name: version for name, version in versions.items() if version != pins[name]}
    if wrong_versions:
        faults = (f"{name} {version}{_origin(name)} instead of {pins[name]}" for name, version in wrong_versions.items())
        raise ClusterletsError(
            f"The environment has {', '.join(faults)}, contrary to {lock.name}: results would seem to come from the locked "
            "versions. Is another version on PYTHONPATH, or an old environment activated? `make environment` sets up the right "
            "one; docs/environments.md says how to change a version."
        )


def _origin(name: str) -> str:
    file = getattr(sys.modules.get(MODULES[name]), "__file__", None)
    return f" (from {Path(file).parent})" if file else ""
