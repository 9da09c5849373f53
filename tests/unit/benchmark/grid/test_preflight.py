"""Checks before a run: paths, and folders that cannot be written."""

import errno
import os

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
    preflight.check_writable(tmp_path / "a" / "b", "go away")
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(ClusterletsError, match=f"{tmp_path} cannot be written.* Make it writable, or go away"):
        preflight.check_writable(tmp_path / "a" / "b", "go away")


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    assert preflight.full_disk(tmp_path) == ""
    monkeypatch.setattr(preflight, "_ROOM_FOR_LOGS", 10**30)
    assert f"The disk of {tmp_path} is full" in preflight.full_disk(tmp_path)


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
