"""Fingerprints of what a step's result depends on besides its input files: the step's code and the numeric libraries.

Snakemake reruns a job when its parameters change, but does not notice an edited module. So every rule has the fingerprint of
its step as a parameter. A fingerprint covers all modules of this package that the step imports, directly or not, and the
locked versions of the numeric libraries.

Only the syntax tree of a Python file counts, without docstrings and ``__version__``. A module that changes no result declares
``IN_FINGERPRINTS = False`` and does not count. Every file is read once per process.
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
    other_parts: Iterable[str] = (),
) -> str:
    """A hash of all parts in 16 hexadecimal digits, followed by the parts, so that :func:`changed_parts` can name them.

    A part is a file with a hash of its content, a library with its version, or one of ``other_parts``.

    Parameters
    ----------
    modules : iterable of str
        Dotted names below ``clusterlets``, such as ``"steps.scoring"``; whatever they import is added. These modules
        count even with ``IN_FINGERPRINTS = False``. They must include the modules that are imported by name at run time.
    libraries : dict, optional
        Versions by name.
    files, user_files : iterables of str
        Other files: paths relative to the package, and files of the user.
    other_parts : iterable of str
        Parts that :func:`format_part` made.
    """
    closure = sorted(set().union(*(import_closure(f"{PACKAGE.name}.{module}") for module in modules)))
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in map(module_file, closure)}
    paths |= {file: PACKAGE / file for file in files}
    paths |= {quote(file if Path(file).is_absolute() else f"./{file}"): Path(file) for file in user_files}
    versions = [f"{name}=={version}" for name, version in sorted((libraries or {}).items())]
    parts = " ".join([*(f"{name}:{_digest(path)}" for name, path in paths.items()), *versions, *other_parts])
    return f"{hashlib.sha256(parts.encode()).hexdigest()[:16]} {parts}"


def format_part(name: str, content: bytes) -> str:
    """A part of a fingerprint: a name, which must not contain spaces, and a hash of ``content``."""
    return f"{name}:{_short_hash(content)}"


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@functools.cache
def _digest(path: Path) -> str:
    """Hash of a file: for Python, of the syntax tree without docstrings; otherwise, of the bytes."""
    try:
        content = ast.dump(_tree(path)).encode() if path.suffix == ".py" else path.read_bytes()
    except (SyntaxError, ValueError):  # a user's file may be for another version of Python
        content = path.read_bytes()
    return _short_hash(content)


@functools.cache
def _tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file without docstrings and ``__version__``."""
    tree = ast.parse(path.read_bytes())
    tree.body = [node for node in tree.body if not _assigns("__version__", node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return tree


def changed_parts(old: str, new: str) -> list[str]:
    """Names of the parts in which two fingerprints differ, such as files (relative to the package) and libraries."""
    differing = set(old.split()[1:]) ^ set(new.split()[1:])
    return sorted({re.split("==|:", part)[0] for part in differing})


@functools.cache
def import_closure(module: str) -> frozenset[str]:
    """``module`` and the modules that it imports, directly or not, except those that declare ``IN_FINGERPRINTS``."""
    closure: set[str] = set()
    pending = [module]
    while pending:
        current = pending.pop()
        if current not in closure:
            closure.add(current)
            pending += filter(_in_fingerprints, _imports(current))
    return frozenset(closure)


@functools.cache
def _in_fingerprints(module: str) -> bool:
    return not any(_assigns("IN_FINGERPRINTS", node) for node in _tree(module_file(module)).body)


def _assigns(name: str, node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]


def module_file(module: str) -> Path:
    """Path of the source file of a module of this package, whether or not the file exists."""
    path = PACKAGE.parent / module.replace(".", "/")
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


def data_files(folder: str) -> list[str]:
    """Files in a folder of this package that are not Python, as paths relative to the package."""
    files = (PACKAGE / folder).iterdir()
    return sorted(path.relative_to(PACKAGE).as_posix() for path in files if path.is_file() and path.suffix != ".py")


def locked_versions(lock: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Versions of distributions from a pip lock file; the installed versions of those that the file lacks."""
    return {name: _pins(Path(lock)).get(name) or _installed_version(name) for name in names}


def _installed_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        raise ClusterletsError(f"A method needs {name}, which is neither locked nor installed: pip install {name}") from None


@functools.cache
def _pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of this package in all import statements of ``module``, and the packages around these and ``module``."""
    imported_names = set()
    for node in ast.walk(_tree(module_file(module))):
        if isinstance(node, ast.Import):
            imported_names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported_names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rsplit(".", depth)[0] for name in [*imported_names, module] for depth in range(1, name.count(".") + 1)}
    names = (name for name in imported_names | parents if name.split(".")[0] == PACKAGE.name)
    return tuple(sorted(name for name in names if module_file(name).is_file()))
