"""Fair clustering: Clusterlets, FRAC and other methods as scikit-learn estimators, and scores of clusterings.

Importing the package loads no large library. The module that defines a name is loaded when the name is first used (PEP 562).

``__init__.pyi`` lists the names, for this file and for type checkers. They are not listed here: all steps of the workflow
depend on this file, so a new name would make all results outdated.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "2.0.0"

# The module that defines each public name.
_HOMES = {
    alias.name: statement.module
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(statement, ast.ImportFrom) and statement.module
    for alias in statement.names
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
