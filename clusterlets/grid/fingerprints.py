"""What a step's result depends on other than its inputs: the source it runs and the libraries that compute.

Snakemake reruns a job when its parameters change, but does not notice an edited module. So every rule has, as a parameter,
the fingerprint of its step: the import closure inside this package, read from the source, and the locked
versions of the numeric libraries.
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
    modules: Iterable[str], libraries: dict[str, str] | None = None, files: Iterable[str] = (), user_files: Iterable[str] = ()
) -> str:
    """Sixteen hexadecimal digits for the import closure of ``modules`` (below ``clusterlets``), library versions, files.

    ``modules`` are dotted names such as ``"steps.scoring"``; modules that are imported by name at run time
    must be given too. ``files`` are data files, relative to the package, and ``user_files`` are the user's. The parts
    follow the digits, each file with its own digits and each library with its version, so that :func:`changed_parts` can name
    those that changed.
    """
    closure = sorted(set().union(*(import_closure(f"{PACKAGE.name}.{module}") for module in modules)))
    paths = [*(module_file(module) for module in closure), *(PACKAGE / file for file in files)]
    contents = {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in paths}
    contents |= {quote(file if Path(file).is_absolute() else f"./{file}"): Path(file).read_bytes() for file in user_files}
    versions = [f"{name}=={version}" for name, version in sorted((libraries or {}).items())]
    digest = hashlib.sha256()
    for name, content in [*contents.items(), *((version, b"") for version in versions)]:
        digest.update(name.encode() + b"\0" + content + b"\0")
    parts = [format_part(name, content) for name, content in contents.items()]
    return " ".join([digest.hexdigest()[:16], *parts, *versions])


def format_part(name: str, content: bytes) -> str:
    """A part of a fingerprint: a name without spaces, and eight hexadecimal digits for its content."""
    return f"{name}:{hashlib.sha256(content).hexdigest()[:8]}"


def changed_parts(old: str, new: str) -> list[str]:
    """Parts that two fingerprints do not share: files relative to the package, and libraries."""
    differing = set(old.split()[1:]) ^ set(new.split()[1:])
    return sorted({re.split("==|:", format_part)[0] for format_part in differing})


@functools.cache
def import_closure(module: str) -> frozenset[str]:
    """``module`` and every module of this package that importing or running it can import by statement."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += _imports(current)
    return frozenset(seen)


def module_file(module: str) -> Path:
    """Source file of a module of this package; raises ValueError if there is none."""
    path = PACKAGE.parent / module.replace(".", "/")
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    raise ValueError(f"no module {module} in {PACKAGE.parent}")


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
    for node in ast.walk(ast.parse(module_file(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rsplit(".", depth)[0] for name in [*imported, module] for depth in range(1, name.count(".") + 1)}
    return tuple(sorted(name for name in imported | parents if name.split(".")[0] == PACKAGE.name and _is_module(name)))


def _is_module(name: str) -> bool:
    try:
        module_file(name)
    except ValueError:
        return False
    return True
