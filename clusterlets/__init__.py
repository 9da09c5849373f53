"""Fair clustering: Clusterlets, FRAC and their rivals as scikit-learn estimators, and the scores of a clustering.

The package imports nothing heavy by itself. What ``from clusterlets import ...`` offers stands in ``__init__.pyi``, which type
checkers read too; each name brings what it needs when it is first used (PEP 562). The steps of the workflow rest on this
file, so a name that comes or goes must not change it.
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
