"""Fair clustering: Clusterlets, FRAC and their rivals as scikit-learn estimators, and the scores of a clustering.

Importing the package loads nothing heavy. ``__init__.pyi`` lists what ``from clusterlets import ...`` offers, and type checkers
read it too; each name loads what it needs when it is first used (PEP 562). All steps of the workflow depend on this file, so
adding or removing a name must not change it.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "2.0.0"

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
