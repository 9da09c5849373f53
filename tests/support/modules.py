"""Every module of the package, by its dotted name, with its file; and the modules that statements load."""

import subprocess
import sys
from pathlib import Path

import clusterlets

PACKAGE = Path(clusterlets.__file__).resolve().parent
MODULES = {
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", "."): path for path in PACKAGE.rglob("*.py")
}


def loaded_by(statements: str) -> set[str]:
    """The modules of any package that a new Python has loaded after these statements."""
    code = f"{statements}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
