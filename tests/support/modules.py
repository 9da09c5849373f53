"""The files of clusterlets' modules, and the modules that given statements load."""

import subprocess
import sys
from pathlib import Path

import clusterlets

PACKAGE = Path(clusterlets.__file__).resolve().parent
# The file of each module, by the dotted name of the module.
MODULES = {
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", "."): path for path in PACKAGE.rglob("*.py")
}


def loaded_by(statements: str) -> set[str]:
    """Names of all modules that a new Python process has loaded after it ran these statements."""
    code = f"{statements}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
