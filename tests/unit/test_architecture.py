"""Arrows run one way, imports stay lean, and a step's fingerprint covers what it runs and nothing else."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from clusterlets.benchmark import fingerprints

PACKAGE = Path(fingerprints.__file__).resolve().parents[1]
MODULES = {
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", "."): path for path in PACKAGE.rglob("*.py")
}

# Which rooms a room may import from; a room is a module or package directly below clusterlets.
ALLOWED = {
    "errors": set(),
    "checks": {"errors"},
    "storage": {"errors"},
    "compiled": set(),
    "kernels": {"compiled"},
    "kmeans": {"kernels"},
    "clusterlets": set(),
    "extraction": {"errors", "checks", "clusterlets", "geometry", "kmeans"},
    "geometry": {"checks", "kernels"},
    "elementary": set(),
    "metrics": {"elementary"},
    "centroids": set(),
    "matching": {"errors", "clusterlets", "elementary", "centroids"},
    "frac": {"errors", "checks", "compiled", "geometry", "kmeans"},
    "datasets": {"errors", "storage", "checks"},
    "estimators": {"errors", "checks", "extraction", "geometry", "kmeans", "metrics", "matching", "frac"},
    "benchmark": {
        *("errors", "storage", "clusterlets", "kmeans", "extraction", "geometry", "metrics"),
        *("centroids", "matching", "frac", "datasets"),
    },
    "commands": {
        *("errors", "storage", "kmeans", "extraction", "geometry", "metrics", "matching", "frac"),
        *("estimators", "datasets", "benchmark"),
    },
    "__main__": {"errors", "benchmark"},
    "__init__": set(),
}


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_arrows_run_one_way(module):
    room = room_of(module)
    for name in imported_names(MODULES[module]):
        assert name.split(".")[0] != "snakemake", f"{module} imports Snakemake"
        if name.split(".")[0] == "clusterlets" and len(name.split(".")) > 1:
            other = name.split(".")[1]
            assert other == room or other in ALLOWED[room], f"{module} imports {name}"


def test_what_a_run_shows_stands_alone():
    plugin = PACKAGE.parent / "snakemake_logger_plugin_cells"
    names = {path.name: set(imported_names(path)) for path in plugin.glob("*.py")}
    assert not any(name.split(".")[0] == "clusterlets" for found in names.values() for name in found)
    assert not any("snakemake" in name for name in names["progress.py"])


def modules_loaded_by(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        *("matching", "matching.pinball", "matching.centroid", "metrics", "clusterlets"),
        *(f"benchmark.steps.{step}" for step in ("matching", "centroid", "partitions", "scoring", "collecting")),
    ],
)
def test_a_cell_pays_for_numpy_alone(module):
    heavy = {"sklearn", "pandas", "scipy", "numba", "matplotlib", "yaml", "snakemake"}
    assert not heavy & modules_loaded_by(f"import clusterlets.{module}")


def test_one_matcher_does_not_load_the_other():
    loaded = modules_loaded_by("from clusterlets.matching import get_matcher; get_matcher('G-B').load()")
    assert "clusterlets.matching.pinball" in loaded and "clusterlets.matching.centroid" not in loaded


def closure(*modules):
    return set().union(*(fingerprints.import_closure(f"clusterlets.{module}") for module in modules))


def test_the_closure_of_a_step_is_what_it_runs():
    pinball = closure("benchmark.steps.matching", "matching.pinball")
    assert {"clusterlets.matching.pinball", "clusterlets.metrics", "clusterlets.storage"} <= pinball
    assert not {"clusterlets.frac", "clusterlets.geometry", "clusterlets.kernels", "clusterlets.extraction"} & pinball
    assert "clusterlets.metrics" not in closure("benchmark.steps.extraction")
    assert "clusterlets.metrics" not in closure("benchmark.steps.frac")
    assert "clusterlets.matching.pinball" not in closure("benchmark.steps.frac") | closure("benchmark.steps.centroid")
    assert "clusterlets.matching.centroid" not in pinball


def test_a_fingerprint_follows_source_and_versions(tmp_path, monkeypatch):
    first = fingerprints.fingerprint(["metrics"], {"numpy": "1"})
    assert fingerprints.fingerprint(["metrics"], {"numpy": "2"}) != first
    copy = tmp_path / "clusterlets"
    copy.mkdir()
    for name in ("__init__.py", "metrics.py", "elementary.py"):
        (copy / name).write_bytes((PACKAGE / name).read_bytes())
    monkeypatch.setattr(fingerprints, "PACKAGE", copy)
    fingerprints.import_closure.cache_clear()
    fingerprints._imports.cache_clear()
    assert fingerprints.fingerprint(["metrics"], {"numpy": "1"}) == first
    (copy / "metrics.py").write_bytes((copy / "metrics.py").read_bytes() + b"# a word\n")
    assert fingerprints.fingerprint(["metrics"], {"numpy": "1"}) != first
    assert fingerprints.changed(first, fingerprints.fingerprint(["metrics"], {"numpy": "1"})) == ["metrics.py"]
    fingerprints.import_closure.cache_clear()
    fingerprints._imports.cache_clear()


def test_a_fingerprint_tells_its_parts():
    before = fingerprints.fingerprint(["metrics"], {"numpy": "1"})
    assert fingerprints.changed(before, before) == []
    assert fingerprints.changed(before, fingerprints.fingerprint(["metrics"], {"numpy": "2"})) == ["numpy"]
    assert fingerprints.changed(before, fingerprints.fingerprint(["metrics", "errors"], {"numpy": "1"})) == ["errors.py"]
    assert len(before.split()[0]) == 16 and all(part.count(":") + part.count("==") == 1 for part in before.split()[1:])


def test_locked_versions_are_read_from_the_lock(tmp_path):
    lock = tmp_path / "lock"
    lock.write_text(
        "numpy==2.4.6 \\\n    --hash=sha256:1\nscikit-learn==1.8.0 ; python_version > '3' \\\n    --hash=sha256:2\n"
    )
    assert fingerprints.locked_versions(lock, ["scikit-learn", "numpy"]) == {"scikit-learn": "1.8.0", "numpy": "2.4.6"}
