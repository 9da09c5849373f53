"""Imports go one way and stay light, and the code of a step is exactly what it runs."""

import ast
from graphlib import TopologicalSorter

import pytest
from modules import MODULES, PACKAGE, loaded_by

from clusterlets.benchmark.grid import fingerprints

# A part is a module or package directly below clusterlets or clusterlets.benchmark. A part in one of these lists may import the
# parts after it and, in the benchmark, all of the library but its commands, unless ALLOWED says otherwise.
LIBRARY = (
    "pages",
    "tuning",
    "supervision",
    "estimators",
    "methods",
    "metrics",
    "parameter_text",
    "tables",
    "parameters",
    "algorithms",
    "storage",
    "json_text",
    "text",
    "extras",
    "errors",
)
BENCHMARK = ("steps", "report", "paper", "analysis", "provenance", "grid", "datasets")
# The parts, or single modules of them, that each part may import besides itself and the module installation.
ALLOWED = {
    **{part: LIBRARY[index + 1 :] for index, part in enumerate(LIBRARY)},
    **{
        f"benchmark.{part}": (*(f"benchmark.{lower}" for lower in BENCHMARK[index + 1 :]), *LIBRARY)
        for index, part in enumerate(BENCHMARK)
    },
    "benchmark": (),
    "benchmark.commands": ("commands.cli", *(f"benchmark.{part}" for part in BENCHMARK), *LIBRARY),
    "benchmark.steps.__main__": ("__main__", *(f"benchmark.{part}" for part in BENCHMARK), *LIBRARY),
    "__init__": ("errors", "estimators", "tuning"),  # for type checkers; at run time, by name
    "__main__": ("__version__", "commands", *LIBRARY),
    "commands": LIBRARY,
    "pages": ("estimators", "algorithms", "storage", "text", "extras", "errors", "__version__"),
    "tuning": ("supervision", *LIBRARY[LIBRARY.index("estimators") :], "pages"),
    "supervision": ("methods", "parameter_text", "parameters", "storage", "text", "errors"),
    "estimators": ("methods", "parameters", "metrics", "algorithms", "storage", "json_text", "text", "extras", "errors"),
    "methods": ("parameters", "algorithms", "errors"),
    "metrics": ("parameters", "algorithms", "errors"),
    "parameter_text": ("parameters", "tables.numerals", "errors"),
    "tables": ("algorithms.checks", "storage", "text", "errors"),
    "parameters": (),
    "algorithms": ("errors",),
    "storage": ("errors",),
    "json_text": ("errors",),
    "text": (),
    "extras": ("errors",),
}

# What methods share and every step imports. The fingerprints of all methods' cells cover it.
METHOD_MACHINERY = {f"interface.{module}" for module in ("base", "check", "running", "registry", "users_file")} | {"interface"}


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
    name_of_module, imported = module.removeprefix("clusterlets."), name.removeprefix("clusterlets.")
    part = part_of(name_of_module)
    allowed = (part, "installation", *ALLOWED.get(part, ()))
    if any(f"{imported}.".startswith(f"{allowed_part}.") for allowed_part in allowed):
        return ""
    return f"{part} may import {', '.join(allowed[1:])}"


def part_of(module):
    """The entry of ALLOWED that a module belongs to: the longest that begins its name."""
    parts = module.split(".")
    candidates = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((candidate for candidate in candidates if candidate in ALLOWED), parts[0])


def test_nothing_outside_the_benchmark_imports_it():
    for module, path in MODULES.items():
        if not module.startswith("clusterlets.benchmark"):
            imported = set(imported_names(path.read_text(encoding="utf-8")))
            assert not {name for name in imported if name.startswith("clusterlets.benchmark")}, module


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_has_only_allowed_imports(module):
    wrong_imports = list(violations(module, MODULES[module].read_text(encoding="utf-8")))
    assert not wrong_imports, "\n".join(wrong_imports)


def test_the_allowed_imports_have_no_cycle():
    TopologicalSorter({part: {part_of(name) for name in names} - {part} for part, names in ALLOWED.items()}).prepare()


@pytest.mark.parametrize(
    ("module", "source", "imported_name"),
    [
        ("benchmark.grid.scoring", "from clusterlets.benchmark.steps import plot", "clusterlets.benchmark.steps.plot"),
        (
            "benchmark.grid.cells",
            "def f():\n    from clusterlets.benchmark.analysis import paired",
            "clusterlets.benchmark.analysis.paired",
        ),
        ("tables.table", "from clusterlets.algorithms import checks, kernels", "clusterlets.algorithms.kernels"),
        ("commands.cluster", "from clusterlets.benchmark import datasets", "clusterlets.benchmark.datasets"),
        ("benchmark.steps.tables", "from snakemake import utils", "snakemake.utils"),
        ("benchmark.steps.tables", "from . import claims", "..claims"),
    ],
)
def test_a_forbidden_import_is_reported_with_its_module(module, source, imported_name):
    (violation,) = violations(f"clusterlets.{module}", source)
    assert violation.startswith(f"clusterlets.{module} imports {imported_name}: ")


def test_the_logger_plugin_does_not_import_the_package():
    for path in (PACKAGE.parent / "snakemake_logger_plugin_cells").glob("*.py"):
        packages = {name.split(".")[0] for name in imported_names(path.read_text(encoding="utf-8"))}
        assert "clusterlets" not in packages, path


def test_the_modules_that_run_in_cells_import_no_heavy_library_but_numpy():
    modules = ["metrics.all_scores"]
    modules += [f"algorithms.{module}" for module in ("clusterlets", "matching", "matching.pinball", "matching.centroid")]
    modules += [f"benchmark.steps.{step}" for step in ("sample_partitions", "score_method", "collect_runs")]
    heavy = {"sklearn", "pandas", "scipy", "numba", "matplotlib", "yaml", "snakemake"}
    assert not heavy & loaded_by("\n".join(f"import clusterlets.{module}" for module in modules))


def test_getting_one_method_does_not_load_the_others():
    loaded = loaded_by("from clusterlets import methods; methods.get('G-B')")
    method_modules = {name.removeprefix("clusterlets.methods.") for name in loaded if name.startswith("clusterlets.methods.")}
    assert method_modules - METHOD_MACHINERY == {"g_b", "interface.hopping"}
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
            "score_method",
            "g_b",
            {"algorithms.matching.pinball", "metrics.all_scores", "storage"},
            {
                "algorithms.matching.centroid",
                "algorithms.frac",
                "algorithms.geometry",
                "algorithms.kernels",
                "algorithms.extraction",
            },
        ),
        ("score_method", "c", {"algorithms.matching.centroid"}, {"algorithms.matching.pinball"}),
        (
            "fit_method",
            "frac",
            {"algorithms.frac", "algorithms.geometry", "metrics.instances"},
            {
                "algorithms.matching.pinball",
                "algorithms.matching.centroid",
                "metrics.all_scores",
                "metrics.pieces",
                "metrics.composition",
                "metrics.prices",
            },
        ),
        ("fit_method", "random", set(), {"algorithms.kmeans"}),
    ],
)
def test_the_import_closure_of_a_step_holds_the_code_it_runs_and_no_other(step, method, included, excluded):
    closure = import_closure(f"benchmark.steps.{step}", "methods", f"methods.{method}")
    assert included <= closure
    assert not excluded & closure
    assert not {"clusterlets", "estimators"} & closure  # a new public name reruns nothing


@pytest.mark.parametrize("step", ["fit_method", "score_method"])
def test_steps_import_no_method_so_that_a_new_method_reruns_nothing(step):
    modules = {module for module in import_closure(f"benchmark.steps.{step}", "methods") if module.startswith("methods.")}
    assert modules == {f"methods.{module}" for module in METHOD_MACHINERY}
