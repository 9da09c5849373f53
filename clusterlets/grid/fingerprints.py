"""What a step's result depends on other than its inputs: the code it runs and the libraries that compute.

Snakemake reruns a job when its parameters change, but does not notice an edited module. So every rule has, as a parameter,
the fingerprint of its step: the import closure inside this package, read from the source, and the locked versions of the
numeric libraries.

Of a Python file only the syntax tree counts, without docstrings and ``__version__``: neither they nor comments change a
result. A module that cannot change one either, because it only measures, checks or explains, says so:
``IN_FINGERPRINTS = False``. Every file is read once per process.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

from clusterlets.errors import ClusterletsError

PACKAGE = Path(__file__).resolve().parents[1]
LOCK = PACKAGE.parent / "requirements.lock"


def fingerprint(
    modules: Iterable[str],
    libraries: dict[str, str] | None = None,
    files: Iterable[str] = (),
    user_files: Iterable[str] = (),
    further_parts: Iterable[str] = (),
) -> str:
    """Sixteen hexadecimal digits for the import closure of ``modules`` (below ``clusterlets``), library versions, files.

    ``modules`` are dotted names such as ``"steps.scoring"``, and count even with ``IN_FINGERPRINTS = False``; modules that are
    imported by name at run time must be given too. ``files`` are relative to the package, and ``user_files`` are the user's.
    The parts follow the digits, each file with its own digits and each library with its version, and then ``further_parts``,
    so that :func:`changed_parts` can name those that changed.
    """
    closure = sorted(set().union(*(import_closure(f"{PACKAGE.name}.{module}") for module in modules)))
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in map(module_file, closure)}
    paths |= {file: PACKAGE / file for file in files}
    paths |= {quote(file if Path(file).is_absolute() else f"./{file}"): Path(file) for file in user_files}
    versions = [f"{name}=={version}" for name, version in sorted((libraries or {}).items())]
    parts = " ".join([*(f"{name}:{_digest(path)}" for name, path in paths.items()), *versions, *further_parts])
    return f"{hashlib.sha256(parts.encode()).hexdigest()[:16]} {parts}"


def format_part(name: str, content: bytes) -> str:
    """A part of a fingerprint: a name without spaces, and digits for its content."""
    return f"{name}:{_digits(content)}"


def _digits(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@functools.cache
def _digest(path: Path) -> str:
    """Digits for what matters in a file: of Python, the syntax tree without docstrings; of any other file, its bytes."""
    try:
        content = ast.dump(_tree(path)).encode() if path.suffix == ".py" else path.read_bytes()
    except (SyntaxError, ValueError):  # a user's file may need a different version of Python
        content = path.read_bytes()
    return _digits(content)


@functools.cache
def _tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file without docstrings and version."""
    tree = ast.parse(path.read_bytes())
    tree.body = [node for node in tree.body if not _assigns("__version__", node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return tree


def changed_parts(old: str, new: str) -> list[str]:
    """Parts that two fingerprints do not share: files relative to the package, and libraries."""
    differing = set(old.split()[1:]) ^ set(new.split()[1:])
    return sorted({re.split("==|:", part)[0] for part in differing})


@functools.cache
def import_closure(module: str) -> frozenset[str]:
    """``module`` and every module that importing or running it can import by statement, if its code can change results."""
    closure: set[str] = set()
    waiting = [module]
    while waiting:
        current = waiting.pop()
        if current not in closure:
            closure.add(current)
            waiting += filter(_in_fingerprints, _imports(current))
    return frozenset(closure)


@functools.cache
def _in_fingerprints(module: str) -> bool:
    return not any(_assigns("IN_FINGERPRINTS", node) for node in _tree(module_file(module)).body)


def _assigns(name: str, node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]


def module_file(module: str) -> Path:
    """Source file of a module of this package, which need not exist."""
    path = PACKAGE.parent / module.replace(".", "/")
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


def data_files(folder: str) -> list[str]:
    """Files of a folder of this package that are not source, relative to the package."""
    files = (PACKAGE / folder).iterdir()
    return sorted(path.relative_to(PACKAGE).as_posix() for path in files if path.is_file() and path.suffix != ".py")


def locked_versions(lock: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Versions of distributions: from a pip lock file or, if not in it (as for a user's method), the installed ones."""
    return {name: _pins(Path(lock)).get(name) or _installed(name) for name in names}


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        raise ClusterletsError(f"A method needs {name}, which is neither locked nor installed: pip install {name}") from None


@functools.cache
def _pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of this package named by import statements anywhere in the source, and the packages that contain them."""
    imported = set()
    for node in ast.walk(_tree(module_file(module))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rsplit(".", depth)[0] for name in [*imported, module] for depth in range(1, name.count(".") + 1)}
    names = (name for name in imported | parents if name.split(".")[0] == PACKAGE.name)
    return tuple(sorted(name for name in names if module_file(name).is_file()))
