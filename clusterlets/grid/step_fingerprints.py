"""The fingerprint of each kind of step: of its modules, the libraries that it computes with, and its data files.

The functions are cached, because a thousand jobs share a few fingerprints.
"""

import functools
import json

from clusterlets import datasets
from clusterlets.grid.fingerprints import LOCK, PACKAGE, data_files, fingerprint, format_part, locked_versions

_ANALYSIS_LIBRARIES = ("numpy", "pandas", "scipy", "scikit-posthocs", "statsmodels", "matplotlib", "seaborn", "jinja2")
_PAGES = {"steps.report", "steps.leaderboard"}
# Every step runs through both of these: a rule calls the script, which runs the step through the command line.
_RUNNER, _SCRIPT = "__main__", "../workflow/step.py"


@functools.cache
def step_fingerprint(
    *modules: str,
    libraries: tuple[str, ...] = ("numpy",),
    files: tuple[str, ...] = (),
    user_files: tuple[str, ...] = (),
    other_parts: tuple[str, ...] = (),
) -> str:
    """Fingerprint of a step, with what runs it; parameters as in :func:`clusterlets.grid.fingerprints.fingerprint`."""
    return fingerprint((_RUNNER, *modules), locked_versions(LOCK, libraries), (_SCRIPT, *files), user_files, other_parts)


@functools.cache
def dataset_fingerprint(step: str, name: str, libraries: tuple[str, ...]) -> str:
    """Fingerprint of a step for one dataset, with the dataset's module and its entry in sources.yaml."""
    description = datasets.describe(name)
    entry = format_part(f"datasets/sources.yaml#{name}", json.dumps(description, sort_keys=True).encode())
    return step_fingerprint(f"steps.{step}", f"datasets.{description['module']}", libraries=libraries, other_parts=(entry,))


@functools.cache
def analysis_fingerprint(*modules: str) -> str:
    """Fingerprint of a step that reads runs.csv, with the paper's numbers and, for a page, the templates and all figures."""
    files = data_files("paper/reported")
    if _PAGES & set(modules):
        figures = sorted((PACKAGE / "report/figures").glob("*.py"))
        files = [*files, *data_files("report/templates"), *(path.relative_to(PACKAGE).as_posix() for path in figures)]
    return step_fingerprint(*modules, libraries=_ANALYSIS_LIBRARIES, files=tuple(files))
