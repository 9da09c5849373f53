"""Imports go one way and stay light, and the code of a step is exactly what it runs."""

import ast
from graphlib import TopologicalSorter

import pytest
from modules import MODULES, PACKAGE, loaded_by

from clusterlets.grid import fingerprints

# A part is a module or package directly below clusterlets. A part in LAYERS may import the parts after it, unless ALLOWED
# says otherwise.
LAYERS = (
    "steps",
    "report",
    "paper",
    "analysis",
    "provenance",
    "grid",
    "methods",
    "datasets",
    "metrics",
    "parameters",
    "algorithms",
    "storage",
    "text",
    "extras",
    "errors",
)
# The parts, or single modules of them, that each part may import besides itself and the module installation.
ALLOWED = {
    **{part: LAYERS[index + 1 :] for index, part in enumerate(LAYERS)},
    "__init__": ("errors", "estimators", "tuning"),  # for type checkers; at run time, by name
    "__main__": ("__version__", *LAYERS),
    "commands": ("tuning", "estimators", *LAYERS),
    "tuning": ("estimators", *LAYERS),
    "estimators": ("methods", "parameters", "metrics", "algorithms", "storage", "text", "extras", "errors"),
    "datasets": ("algorithms.checks", "storage", "text", "errors"),
    "methods": ("parameters", "algorithms", "errors"),
    "parameters": (),
    "metrics": ("parameters", "algorithms", "errors"),
    "algorithms": ("errors",),
    "storage": ("errors",),
    "text": (),
    "extras": ("errors",),
}

# The modules in clusterlets/methods that are no methods. The fingerprints of all methods' cells cover them.
METHOD_MACHINERY = {"base", "check", "fits", "registry", "users_file"}


def imported_names(source):
    """All names that a source imports, also inside functions: ``package.module`` or ``package.module.name``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def violations(module, source):
    """A line for each forbidden import, with the reason."""
    for name in imported_names(source):
        reason = reason_against_import(module, name)
        if reason:
            yield f"{module} imports {name}: {reason}"


def reason_against_import(module, name):
    """Why the module must not import the name, or an empty string."""
    if name.startswith("."):
        return "write the full name, because fingerprints do not follow relative imports"
    if name.split(".")[0] == "snakemake":
        return "a rule calls the package, never the other way"
    if not (module.startswith("clusterlets.") and name.startswith("clusterlets.")):
        return ""
    part, imported = module.split(".")[1], name.removeprefix("clusterlets.")
    allowed = (part, "installation", *ALLOWED.get(part, ()))
    if any(f"{imported}.".startswith(f"{allowed_part}.") for allowed_part in allowed):
        return ""
    return f"{part} may import {', '.join(allowed[1:])}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_has_only_allowed_imports(module):
    wrong_imports = list(violations(module, MODULES[module].read_text(encoding="utf-8")))
    assert not wrong_imports, "\n".join(wrong_imports)


def test_the_allowed_imports_have_no_cycle():
    TopologicalSorter({part: {name.split(".")[0] for name in names} for part, names in ALLOWED.items()}).prepare()


@pytest.mark.parametrize(
    ("module", "source", "imported_name"),
    [
        ("grid.scoring", "from clusterlets.steps.fitting import fit_method", "clusterlets.steps.fitting.fit_method"),
        ("grid.cells", "def f():\n    from clusterlets.analysis import selection", "clusterlets.analysis.selection"),
        ("datasets.table", "from clusterlets.algorithms import checks, kernels", "clusterlets.algorithms.kernels"),
        ("steps.tables", "from snakemake import utils", "snakemake.utils"),
        ("steps.tables", "from . import claims", "..claims"),
    ],
)
def test_a_forbidden_import_is_reported_with_its_module(module, source, imported_name):
    (violation,) = violations(f"clusterlets.{module}", source)
    assert violation.startswith(f"clusterlets.{module} imports {imported_name}: ")


def test_the_logger_plugin_does_not_import_the_package():
    for path in (PACKAGE.parent / "snakemake_logger_plugin_cells").glob("*.py"):
        packages = {name.split(".")[0] for name in imported_names(path.read_text(encoding="utf-8"))}
        assert "clusterlets" not in packages, path


@pytest.mark.parametrize(
    "module",
    [
        "metrics.table",
        *(f"algorithms.{module}" for module in ("clusterlets", "matching", "matching.pinball", "matching.centroid")),
        *(f"steps.{step}" for step in ("partitions", "scoring", "collecting")),
    ],
)
def test_the_modules_that_run_in_cells_import_no_heavy_library_but_numpy(module):
    heavy = {"sklearn", "pandas", "scipy", "numba", "matplotlib", "yaml", "snakemake"}
    assert not heavy & loaded_by(f"import clusterlets.{module}")


def test_getting_one_method_does_not_load_the_others():
    loaded = loaded_by("from clusterlets import methods; methods.get('G-B')")
    method_modules = {name.rpartition(".")[2] for name in loaded if name.startswith("clusterlets.methods.")}
    assert method_modules - METHOD_MACHINERY == {"g_b", "hopping"}
    assert "clusterlets.algorithms.matching.pinball" in loaded
    assert "clusterlets.algorithms.matching.centroid" not in loaded


def import_closure(*modules):
    """Names of these modules and of all that they import, directly or not, without the prefix ``clusterlets.``."""
    names = set().union(*(fingerprints.import_closure(f"clusterlets.{module}") for module in modules))
    return {name.removeprefix("clusterlets.") for name in names}


@pytest.mark.parametrize(
    ("step", "method", "included", "excluded"),
    [
        (
            "scoring",
            "g_b",
            {"algorithms.matching.pinball", "metrics.table", "storage"},
            {
                "algorithms.matching.centroid",
                "algorithms.frac",
                "algorithms.geometry",
                "algorithms.kernels",
                "algorithms.extraction",
            },
        ),
        ("scoring", "c", {"algorithms.matching.centroid"}, {"algorithms.matching.pinball"}),
        (
            "fitting",
            "frac",
            {"algorithms.frac", "algorithms.geometry", "metrics.instances"},
            {
                "algorithms.matching.pinball",
                "algorithms.matching.centroid",
                "metrics.table",
                "metrics.pieces",
                "metrics.composition",
                "metrics.prices",
            },
        ),
        ("fitting", "random", set(), {"algorithms.kmeans"}),
    ],
)
def test_the_import_closure_of_a_step_holds_the_code_it_runs_and_no_other(step, method, included, excluded):
    closure = import_closure(f"steps.{step}", "methods", f"methods.{method}")
    assert included <= closure
    assert not excluded & closure
    assert not {"clusterlets", "estimators"} & closure  # a new public name reruns nothing


@pytest.mark.parametrize("step", ["fitting", "scoring"])
def test_steps_import_no_method_so_that_a_new_method_reruns_nothing(step):
    modules = {module for module in import_closure(f"steps.{step}", "methods") if module.startswith("methods.")}
    assert modules == {f"methods.{module}" for module in METHOD_MACHINERY}
