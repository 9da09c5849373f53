"""The modules of clusterlets with their files, and the modules that given statements load."""

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
    """Names of the modules, of any package, that are loaded after a new Python process has run these statements."""
    code = f"{statements}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
