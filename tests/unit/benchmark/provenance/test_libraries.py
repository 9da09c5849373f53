"""No step runs with a library version other than the one that its run was planned with."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from another_numpy import another_numpy

from clusterlets.benchmark.grid import locks
from clusterlets.benchmark.grid.locks import PLANNED
from clusterlets.benchmark.provenance import environment, libraries
from clusterlets.benchmark.steps import __main__ as command_line
from clusterlets.benchmark.steps import measure_geometry
from clusterlets.storage import save_arrays

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def geometry_step(tmp_path, monkeypatch):
    """The arguments of measure-geometry, and the file that it writes."""
    table, output = tmp_path / "x.npz", tmp_path / "geometry.json"
    save_arrays(table, {"X": np.eye(3), "groups": np.array([0, 1, 1]), "group_values": np.array([["a"], ["b"]])})
    monkeypatch.setenv(PLANNED, json.dumps(environment.installed()))
    options = ["--dataset", "x", "--base-seed", "0", "--data", str(table), "--output", str(output)]
    return ["measure-geometry", *options], output


def test_a_step_with_a_version_that_was_not_planned_is_refused_before_it_runs(geometry_step, monkeypatch, capsys):
    arguments, output = geometry_step
    assert command_line.main(arguments) == 0
    output.unlink()
    planned = np.__version__
    monkeypatch.setattr(np, "__version__", "1.26.0")
    assert command_line.main(arguments) == 1 and not output.exists()
    error = capsys.readouterr().err
    assert f"numpy 1.26.0 (from {Path(np.__file__).parent}) instead of {planned}" in error
    assert "Traceback" not in error
    monkeypatch.delenv(PLANNED)  # as when a printed line is pasted
    assert command_line.main(arguments) == 0


def test_a_wrong_version_that_the_step_itself_imports_is_refused_too(geometry_step, monkeypatch, capsys):
    arguments, _ = geometry_step

    def import_wrong_version(data: str, dataset: str, base_seed: int, output: str):
        monkeypatch.setattr(np, "__version__", "1.26.0")

    monkeypatch.setattr(measure_geometry, "measure_geometry", import_wrong_version)
    assert command_line.main(arguments) == 1 and "numpy 1.26.0" in capsys.readouterr().err


@pytest.mark.parametrize("version", ["2.4.5", "0.9"])
def test_a_different_numpy_on_the_path_is_refused(geometry_step, tmp_path, version):
    # With 0.9, other libraries would fail when they are imported, with an unhelpful message.
    arguments, output = geometry_step
    other = another_numpy(tmp_path / "other", version)
    process = subprocess.run(
        [sys.executable, "-m", "clusterlets.benchmark.steps", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(other.parent), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 1 and not output.exists() and "Traceback" not in process.stderr
    assert f"numpy {version} (from {other}) instead of {np.__version__}" in process.stderr


def test_the_installed_version_is_that_of_the_imported_module(monkeypatch):
    monkeypatch.setattr(np, "__version__", "1.26.0")
    versions = environment.software(ROOT / "requirements.lock")["libraries"]
    assert versions["numpy"]["installed"] == "1.26.0" and versions["numpy"]["locked"] != "1.26.0"
    assert versions["snakemake"]["installed"] == versions["snakemake"]["locked"]


def test_every_library_has_a_module_and_all_wrong_versions_are_named(tmp_path):
    for module in libraries.MODULES.values():
        __import__(module)
    versions = libraries.loaded()
    assert versions.keys() == libraries.MODULES.keys()
    assert libraries.unlike_lock(versions) == []
    scipy, jinja2 = libraries.unlike_lock({**versions, "scipy": "1", "jinja2": "2"})
    assert re.match(r"scipy 1 \(from .* instead of \d", scipy) and re.match(r"jinja2 2 \(from .* instead of \d", jinja2)


def test_what_renews_the_reference_refuses_results_of_other_versions(tmp_path):
    manifest = tmp_path / "manifest.json"
    command = [sys.executable, "-m", "clusterlets.benchmark.provenance.libraries", manifest]
    locked = locks.locked_versions(locks.LOCK, libraries.MODULES)
    for versions, fault in ((locked, ""), (locked | {"numpy": "1.26.0"}, f"numpy 1.26.0 instead of {locked['numpy']}")):
        manifest.write_text(json.dumps({"libraries": versions}))
        process = subprocess.run(command, capture_output=True, text=True)
        assert process.returncode == bool(fault) and fault in process.stderr
