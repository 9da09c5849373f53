"""The libraries that results depend on, and the check that jobs use the versions that the run was planned with.

Fingerprints and the manifest contain these versions. ``python -m clusterlets.benchmark.provenance.libraries MANIFEST`` fails
if a finished run used others than the locked ones.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clusterlets.benchmark.grid.locks import LOCK, PLANNED, locked_versions, planned_versions
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
def require_planned() -> Iterator[None]:
    """After a ``with`` body, even if it fails, check the libraries that this process has loaded (:func:`check_versions`)."""
    try:
        yield
    finally:
        check_versions(loaded())


def check_versions(versions: Mapping[str, str]) -> None:
    """Raise ClusterletsError if a version is not the one that the run was planned with. Without a run, any will do."""
    if PLANNED not in os.environ:
        return
    faults = _differences(versions, planned_versions(versions))
    if faults:
        raise ClusterletsError(
            f"This job has {', '.join(faults)}, with which the run was planned, so results would bear a wrong version. Is "
            "another version on PYTHONPATH, or do `python` and `snakemake` belong to different environments?"
        )


def unlike_lock(versions: Mapping[str, str], lock: Path = LOCK) -> list[str]:
    """Each library whose version is not the locked one, in words."""
    return _differences(versions, locked_versions(lock, versions))


def _differences(versions: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {version}{_origin(name)} instead of {expected[name]}"
        for name, version in versions.items()
        if version != expected[name]
    ]


def _origin(name: str) -> str:
    file = getattr(sys.modules.get(MODULES[name]), "__file__", None)
    return f" (from {Path(file).parent})" if file else ""


def _require_locked(manifest: str) -> None:
    """End with a message unless a finished run used the locked versions: what is kept in reference/ must come from these."""
    differences = unlike_lock(json.loads(Path(manifest).read_text(encoding="utf-8"))["libraries"])
    if differences:
        sys.exit(
            f"{manifest}: made with {', '.join(differences)} in {LOCK.name}. A reference needs the locked versions: run "
            "`make environment`, and the grid again."
        )


if __name__ == "__main__":
    _require_locked(*sys.argv[1:])
