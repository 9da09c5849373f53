"""The code that a job's result depends on, as parameters of its rule.

Snakemake reruns a job when its parameters change, but does not notice an edited module. So each rule has a parameter for every
module of this package that its step imports, directly or not, such as ``algorithms/frac.py: 3f2a91c0``; for every other file
that the step depends on; and for every library that computes, with its version. Snakemake compares the parameters of a
job as a set, so its reason for a rerun shows the modules that changed.

Only the syntax tree of a Python file counts, without docstrings, the version and texts for readers.
"""

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from clusterlets.benchmark import datasets
from clusterlets.benchmark.grid.locks import planned_versions
from clusterlets.errors import ClusterletsError
from clusterlets.storage import load_json, save_json

PACKAGE = Path(__file__).resolve().parents[2]
#: Modules that measure, check or explain, and change no result. They count only in a step that names them.
CHANGE_NO_RESULT = {
    *("clusterlets", "clusterlets.extras", "clusterlets.benchmark.grid.budget_records", "clusterlets.supervision.measures"),
    *("clusterlets.installation", "clusterlets.benchmark.provenance.accounts", "clusterlets.benchmark.provenance.libraries"),
}
# Texts for readers: what these names are given in a module, a class, a call, and an entry of sources.yaml.
_TEXTS = {ast.Module: {"__version__"}, ast.ClassDef: {"citation", "guarantee", "cost"}, ast.Call: {"meaning"}}
_TEXTS_OF_DATASET = {"citation", "licence"}
_ANALYSIS_LIBRARIES = ("numpy", "pandas", "scipy", "scikit-posthocs", "statsmodels", "matplotlib", "seaborn", "jinja2")


def step_code(
    *modules: str, libraries: Iterable[str] = ("numpy",), files: Iterable[str] = (), user_files: Iterable[str] = ()
) -> dict[str, str]:
    """The code of a step: the hash or version of everything that its result depends on besides its input files.

    ``modules`` are names below ``clusterlets``, such as ``"benchmark.steps.score_method"``; whatever they import is added.
    What the step imports by name at run time must be among them. ``libraries`` are distributions whose versions
    count, ``files`` are paths relative to the package, and ``user_files`` files of the user.
    """
    # Every step runs through the command line.
    closure = set().union(*(import_closure(f"{PACKAGE.name}.{module}") for module in ("benchmark.steps.__main__", *modules)))
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in map(_module_file, sorted(closure))}
    paths |= {file: PACKAGE / file for file in files}
    paths |= {quote(file if Path(file).is_absolute() else f"./{file}"): Path(file) for file in user_files}
    return {name: _digest(path) for name, path in paths.items()} | planned_versions(libraries)


def dataset_code(step: str, name: str, libraries: Iterable[str] = ()) -> dict[str, str]:
    """The code of a step for one dataset, with the dataset's module and its entry in sources.yaml."""
    description = datasets.describe(name)
    entry = [(key, value) for key, value in sorted(description.items()) if key not in _TEXTS_OF_DATASET]
    entry_code = {f"benchmark/datasets/sources.yaml {name}": _short_hash(json.dumps(entry).encode())}
    return step_code(step, f"benchmark.datasets.{description['module']}", libraries=libraries) | entry_code


def analysis_code(*modules: str) -> dict[str, str]:
    """The code of a step that reads runs.csv, with the paper's numbers and, for the report, the templates and all figures."""
    folders = [
        "benchmark/paper/reported",
        *(
            ["benchmark/report/templates", "pages/templates", "benchmark/report/figures"]
            if "benchmark.steps.write_report" in modules
            else []
        ),
    ]
    paths = [path for folder in folders for path in sorted((PACKAGE / folder).glob("*.*"))]
    return step_code(*modules, libraries=_ANALYSIS_LIBRARIES, files=[path.relative_to(PACKAGE).as_posix() for path in paths])


def parameters(code: Mapping[str, str]) -> dict[str, Any]:
    """Code as parameters of a rule."""
    return {f"code_{number}": f"{name}: {value}" for number, (name, value) in enumerate(sorted(code.items()))}


def parameters_by(
    key: Callable[[Any], str], shared: Mapping[str, str], codes: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Code that differs between the jobs of a rule as parameters: what all have, and functions of the wildcards for the rest.

    ``key`` gives the entry of ``codes`` for a job's wildcards. All jobs have equally many parameters. A job with less code has
    some of it twice, which changes nothing, because Snakemake compares sets.
    """
    own = {job: list(parameters(dict(code.items() - shared.items())).values()) for job, code in codes.items()}

    def own_parameter(number: int) -> Callable[[Any], str]:
        return lambda wildcards: own[key(wildcards)][number % len(own[key(wildcards)])]

    return parameters(shared) | {f"own_code_{number}": own_parameter(number) for number in range(max(map(len, own.values())))}


@functools.cache
def import_closure(module: str) -> frozenset[str]:
    """``module`` and the modules of this package that it imports, directly or not, except those that change no result."""
    closure, pending = set(), {module}
    while pending:
        current = pending.pop()
        closure.add(current)
        pending |= _imports(current) - closure - CHANGE_NO_RESULT
    return frozenset(closure)


@functools.cache
def _imports(module: str) -> set[str]:
    """The modules of this package in all import statements of ``module``, and the packages around these and ``module``."""
    names = {module, *_summaries()[_module_file(module).relative_to(PACKAGE).as_posix()]["imports"]}
    names |= {name.rsplit(".", depth)[0] for name in names for depth in range(1, name.count(".") + 1)}
    return {name for name in names if name.split(".")[0] == PACKAGE.name and _module_file(name).is_file()}


@functools.cache
def _module_file(module: str) -> Path:
    path = PACKAGE.parent / module.replace(".", "/")
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


@functools.cache
def _digest(path: Path) -> str:
    if path.suffix == ".py" and path.is_relative_to(PACKAGE):
        return _summaries()[path.relative_to(PACKAGE).as_posix()]["digest"]
    content = path.read_bytes()
    return _summary(content)["digest"] if path.suffix == ".py" else _short_hash(content)


@functools.cache
def _summaries() -> dict[str, dict]:
    """The summary of each Python file of the package, by its path there.

    To parse all of them takes a second, so their summaries are cached beside the bytecode. One is made again if its source has
    changed, and all are if this module or Python has.
    """
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in PACKAGE.rglob("*.py")}
    made_by = sys.version.encode() + sources["benchmark/grid/fingerprints.py"]
    keys = {name: hashlib.sha256(made_by + source).hexdigest() for name, source in sources.items()}
    cache, cached = PACKAGE / "__pycache__" / f"fingerprints.{sys.implementation.cache_tag}.json", {}
    with suppress(OSError, ClusterletsError):  # missing, or damaged
        cached = load_json(cache)
    summaries = {key: cached.get(key) or _summary(sources[name]) for name, key in keys.items()}
    if summaries != cached:
        with suppress(OSError):  # the checkout may be read-only
            save_json(cache, summaries)
    return {name: summaries[key] for name, key in keys.items()}


def _summary(source: bytes) -> dict:
    """The hash of what counts in a Python source, and what its import statements name."""
    try:
        tree = _tree(source)
    except (SyntaxError, ValueError):  # a user's file may be for another version of Python
        return {"digest": _short_hash(source), "imports": []}
    imports = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {"digest": _short_hash(ast.dump(tree).encode()), "imports": sorted(imports)}


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def _tree(source: bytes) -> ast.Module:
    """The syntax tree of a Python source without docstrings, the version and texts for readers."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            del node.body[0]
        if isinstance(node, ast.Module | ast.ClassDef):
            node.body = [child for child in node.body if not _is_text(child, _TEXTS[type(node)])]
        elif isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if not _is_text(keyword, _TEXTS[ast.Call])]
    return tree


def _is_text(node: ast.stmt | ast.keyword, names: set[str]) -> bool:
    """Whether a statement or an argument gives a text to one of ``names``."""
    name = ", ".join(map(ast.unparse, node.targets)) if isinstance(node, ast.Assign) else getattr(node, "arg", "")
    value = getattr(node, "value", None)
    return name in names and (isinstance(value, ast.JoinedStr) or isinstance(getattr(value, "value", None), str))
