"""Every module of the package, by its dotted name, with its file."""

from pathlib import Path

import clusterlets

PACKAGE = Path(clusterlets.__file__).resolve().parent
MODULES = {
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", "."): path for path in PACKAGE.rglob("*.py")
}
