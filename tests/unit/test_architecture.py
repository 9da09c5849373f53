"""Imports go one way and stay light, and a step's fingerprint covers exactly the code that it runs."""

import ast
import shutil
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from modules import MODULES, PACKAGE, loaded_by

from clusterlets.grid import fingerprints

# A part is a module or package directly below clusterlets. Each part in LAYERS may import all parts that are listed after it.
# ALLOWED lists what each part may import: parts, or single modules of a part. Every part may also import itself and the module
# installation.
LAYERS = (
    "steps",
    "report",
    "paper",
    "analysis",
    "provenance",
    "grid",
    "methods",
    "datasets",
    "bounds",
    "metrics",
    "parameters",
    "algorithms",
    "storage",
    "text",
    "extras",
    "errors",
)
ALLOWED = {
    **{part: LAYERS[index + 1 :] for index, part in enumerate(LAYERS)},
    "__init__": (),
    "__main__": ("__version__", *LAYERS),
    "commands": ("tuning", "estimators", *LAYERS),
    "tuning": ("estimators", *LAYERS),
    "estimators": ("methods", "parameters", "metrics", "algorithms", "storage", "text", "extras", "errors"),
    "datasets": ("algorithms.checks", "storage", "errors"),
    "methods": ("parameters", "algorithms", "errors"),
    "parameters": (),
    "bounds": ("metrics.composition", "algorithms", "errors"),
    "metrics": ("parameters", "algorithms.elementary", "algorithms.centroids"),
    "algorithms": ("errors",),
    "storage": ("errors",),
    "text": (),
    "extras": ("errors",),
}


def imported_names(source):
    """All names that a source imports, at its top or in functions: ``package.module`` or ``package.module.name``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def violations(module, source):
    """A line for each forbidden import, with the reason."""
    for name in imported_names(source):
        reason = reason_against(module, name)
        if reason:
            yield f"{module} imports {name}: {reason}"


def reason_against(module, name):
    """Why the module must not import the name, or an empty string."""
    if name.startswith("."):
        return "write the whole name, because fingerprints do not follow relative imports"
    if name.split(".")[0] == "snakemake":
        return "a rule calls the package, never the other way"
    if module.startswith("clusterlets.") and name.startswith("clusterlets."):
        importing, imported = (dotted.removeprefix("clusterlets.") for dotted in (module, name))
        part = importing.split(".")[0]
        allowed = (part, "installation", *ALLOWED.get(part, ()))
        if not any(f"{imported}.".startswith(f"{allowed_part}.") for allowed_part in allowed):
            return f"{part} may import {', '.join(allowed[1:])}"
    return ""


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_has_only_allowed_imports(module):
    wrong_imports = list(violations(module, MODULES[module].read_text(encoding="utf-8")))
    assert not wrong_imports, "\n".join(wrong_imports)


def test_the_allowed_imports_have_no_cycle():
    TopologicalSorter({part: {name.split(".")[0] for name in names} for part, names in ALLOWED.items()}).prepare()


@pytest.mark.parametrize(
    ("module", "source", "imported_name"),
    [
        ("grid.recovery", "from clusterlets.steps.fitting import fit_method", "clusterlets.steps.fitting.fit_method"),
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
    plugin = PACKAGE.parent / "snakemake_logger_plugin_cells"
    names = {path.name: set(imported_names(path.read_text(encoding="utf-8"))) for path in plugin.glob("*.py")}
    assert not any(name.split(".")[0] == "clusterlets" for imported in names.values() for name in imported)


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
    assert method_modules == {"g_b", "hopping"}
    assert "clusterlets.algorithms.matching.pinball" in loaded and "clusterlets.algorithms.matching.centroid" not in loaded


def closure(*modules):
    # These modules and all that they import, directly or not.
    return set().union(*(fingerprints.import_closure(f"clusterlets.{module}") for module in modules))


def test_the_import_closure_of_a_step_holds_the_code_it_runs_and_no_other():
    pinball_closure = closure("steps.scoring", "methods", "methods.g_b")
    assert {"clusterlets.algorithms.matching.pinball", "clusterlets.metrics.table", "clusterlets.storage"} <= pinball_closure
    assert not {f"clusterlets.algorithms.{name}" for name in ("frac", "geometry", "kernels", "extraction")} & pinball_closure
    fitting_closure = closure("steps.fitting", "methods", "methods.frac")
    assert {"clusterlets.algorithms.frac", "clusterlets.algorithms.geometry"} <= fitting_closure
    assert "clusterlets.metrics.instances" in fitting_closure
    assert not {f"clusterlets.metrics.{name}" for name in ("table", "pieces", "composition", "prices")} & fitting_closure
    assert "clusterlets.algorithms.kmeans" not in closure("steps.fitting", "methods", "methods.random")
    assert "clusterlets.algorithms.matching.pinball" not in fitting_closure | closure("steps.scoring", "methods", "methods.c")
    assert "clusterlets.algorithms.matching.centroid" not in pinball_closure | fitting_closure


@pytest.mark.parametrize("step", ["fitting", "scoring"])
def test_steps_import_no_method_so_that_a_new_method_reruns_nothing(step):
    method_modules = {name for name in closure(f"steps.{step}", "methods") if name.startswith("clusterlets.methods.")}
    assert not method_modules


def clear_caches():
    for function in ("import_closure", "_imports", "_in_fingerprints", "_digest", "_tree"):
        getattr(fingerprints, function).cache_clear()


def test_a_fingerprint_depends_on_sources_and_versions_and_not_on_their_folder(tmp_path, monkeypatch):
    def fingerprint(numpy="1"):
        clear_caches()
        return fingerprints.fingerprint(["metrics.composition"], {"numpy": numpy})

    first, with_numpy_2 = fingerprint(), fingerprint("2")
    assert len(first.split()[0]) == 16 and all(part.count(":") + part.count("==") == 1 for part in first.split()[1:])
    assert with_numpy_2 != first and fingerprints.changed_parts(first, with_numpy_2) == ["numpy"]
    copy = shutil.copytree(PACKAGE, tmp_path / "clusterlets", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprints, "PACKAGE", copy)
    assert fingerprint() == first
    composition = copy / "metrics/composition.py"
    composition.write_bytes(composition.read_bytes() + b"CHANGED = True\n")
    changed = fingerprint()
    assert changed != first and fingerprints.changed_parts(first, changed) == ["metrics/composition.py"]
    monkeypatch.undo()
    clear_caches()


def test_a_fingerprint_includes_user_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    names = ["mine: a.py", "folder/mine: a.py", str(tmp_path / "other.py")]
    for name in names:
        Path(name).write_text("x = 1")
    no_files = fingerprints.fingerprint(["metrics.composition"])
    before = fingerprints.fingerprint(["metrics.composition"], user_files=names)
    parts = ["./mine%3A%20a.py", "./folder/mine%3A%20a.py", str(tmp_path / "other.py")]
    assert set(fingerprints.changed_parts(no_files, before)) == set(parts) and no_files.split()[0] != before.split()[0]
    for name, part in zip(names, parts, strict=True):
        Path(name).write_text("x = 2")
        clear_caches()
        after = fingerprints.fingerprint(["metrics.composition"], user_files=names)
        assert fingerprints.changed_parts(before, after) == [part] and after.split()[0] != before.split()[0]
        before = after


def test_locked_versions_are_read_from_the_lock(tmp_path):
    lock = tmp_path / "lock"
    lock.write_text(
        "numpy==2.4.6 \\\n    --hash=sha256:1\nscikit-learn==1.8.0 ; python_version > '3' \\\n    --hash=sha256:2\n"
    )
    assert fingerprints.locked_versions(lock, ["scikit-learn", "numpy"]) == {"scikit-learn": "1.8.0", "numpy": "2.4.6"}
