"""Checks before a run: paths, folders that cannot be written, and the locks of killed runs."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from clusterlets.algorithms import geometry
from clusterlets.benchmark.grid import preflight
from clusterlets.benchmark.steps import __main__ as command_line
from clusterlets.errors import ClusterletsError
from clusterlets.storage import save_arrays


def test_paths_that_snakemake_would_misread_are_refused():
    preflight.check_paths("/home/me/code", False)
    with pytest.raises(ClusterletsError, match="The checkout is in /home/{me}/code, but Snakemake reads braces"):
        preflight.check_paths("/home/{me}/code", False)
    with pytest.raises(ClusterletsError, match="Set results: in the configuration instead"):
        preflight.check_paths("/home/me/code", True)


def test_a_folder_that_does_not_exist_yet_is_judged_by_its_parent(tmp_path, monkeypatch):
    preflight.check_writable(tmp_path / "a" / "b")
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(ClusterletsError, match=f"{tmp_path} cannot be written"):
        preflight.check_writable(tmp_path / "a" / "b")


@pytest.fixture
def run_failing_step(tmp_path, monkeypatch):
    """A function that runs a step whose output cannot be written because of a system error with a given number."""
    save_arrays(tmp_path / "x.npz", {"X": np.eye(3), "groups": np.array([0, 1, 1]), "group_values": np.array([["a"], ["b"]])})
    output = tmp_path / "geometry.json"
    output.write_text("old")

    def run(error_number):
        replace = os.replace

        def refuse(source, target):
            if str(target) != str(output):  # Numba's cache
                return replace(source, target)
            raise OSError(error_number, os.strerror(error_number))  # Like an error of write(), it names no file.

        monkeypatch.setattr(os, "replace", refuse)
        options = ["--dataset", "x", "--base-seed", "0", "--data", str(tmp_path / "x.npz"), "--output", str(output)]
        return command_line.main(["measure-geometry", *options])

    yield run
    assert output.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["geometry.json", "x.npz"]


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_step_names_the_file_that_could_not_be_written(run_failing_step, capsys, fault):
    assert run_failing_step(fault) == 1
    error = capsys.readouterr().err
    assert f"geometry.json cannot be written or read ({os.strerror(fault)})" in error and "Traceback" not in error


def test_an_error_outside_the_writing_of_files_keeps_its_traceback(run_failing_step, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(geometry, "diameter_bounds", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        run_failing_step(errno.EROFS)


@pytest.fixture
def locked_state(tmp_path):
    """A folder like ``.snakemake``, with a lock in it."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "0.output.lock").write_text("results/runs.csv\n")
    return tmp_path


def start_run(state):
    """Start a process that uses the folder ``state`` until it is killed."""
    code = "import sys; from pathlib import Path; from clusterlets.benchmark.grid.preflight import remove_locks; "
    code += "alive_file = remove_locks(Path(sys.argv[1])); print('ready', flush=True); input()"
    run = subprocess.Popen([sys.executable, "-c", code, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    return run


def test_locks_are_removed_only_after_the_run_has_ended(tmp_path):
    with start_run(tmp_path) as run:
        (tmp_path / "locks").mkdir()
        with preflight.remove_locks(tmp_path):
            assert (tmp_path / "locks").exists()
        run.kill()
        run.wait()
        with preflight.remove_locks(tmp_path):
            assert not (tmp_path / "locks").exists()


@pytest.mark.parametrize("machines", [b"elsewhere\n", b"\xff\x00\n"])
def test_locks_stay_if_another_or_an_unknown_machine_used_the_folder(locked_state, machines):
    (locked_state / "alive").write_bytes(machines)
    for _ in range(2):  # the second time, the list of machines contains this one
        with preflight.remove_locks(locked_state):
            assert (locked_state / "locks" / "0.output.lock").exists()


@pytest.mark.parametrize(
    ("former_machine", "machine", "are_removed"),
    [
        (["desk", "boot1"], ["desk", "boot2"], True),  # started again after a power cut
        (["box1", "boot1"], ["box2", "boot1"], True),  # one container after the other
        (["box1", "boot1"], ["box2", "boot2"], False),
        (["desk"], ["desk"], True),  # a system without a boot id
        (["desk"], ["desk", "boot1"], True),
        (["node1"], ["node2", "boot1"], False),
    ],
)
def test_a_machine_is_recognised_by_its_name_or_its_boot(locked_state, monkeypatch, former_machine, machine, are_removed):
    monkeypatch.setattr(preflight, "_machine", lambda: former_machine)
    preflight.remove_locks(locked_state).close()
    (locked_state / "locks").mkdir(exist_ok=True)
    monkeypatch.setattr(preflight, "_machine", lambda: machine)
    for _ in range(2):
        preflight.remove_locks(locked_state).close()
        assert (locked_state / "locks").exists() == (not are_removed)
    assert len((locked_state / "alive").read_text().splitlines()) == 1 + (former_machine != machine)  # a line for each machine


def test_no_locks_are_removed_in_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert preflight.remove_locks(tmp_path / "file" / "state") is None
