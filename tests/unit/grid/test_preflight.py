"""A folder that cannot be written is refused, and a nearly full disk is named."""

import errno
import os
import shutil

import numpy as np
import pytest

from clusterlets import __main__ as command_line
from clusterlets.algorithms import geometry
from clusterlets.errors import ClusterletsError
from clusterlets.grid import preflight
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


def test_only_a_nearly_full_disk_is_named(tmp_path, monkeypatch):
    disks = {tmp_path / "full": 3e5, tmp_path / "empty": 3e12}
    for folder in disks:
        folder.mkdir()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=disks[path]))
    (warning,) = preflight.nearly_full(disks)
    assert f"{tmp_path / 'full'} is all but full: 0.3 MB are left" in warning


@pytest.fixture
def run_failing_step(tmp_path, monkeypatch):
    """A function that runs a step whose result cannot be moved into place; takes the error number."""
    save_arrays(tmp_path / "x.npz", {"X": np.eye(3), "groups": np.array([0, 1, 1]), "group_names": np.array(["a", "b"])})
    output = tmp_path / "geometry.json"
    output.write_text("old")

    def run(fault):
        def refuse(*_):
            raise OSError(fault, os.strerror(fault))  # without a file name, like an error of write()

        monkeypatch.setattr(os, "replace", refuse)
        return command_line.main(
            [*"measure-geometry --dataset x --base-seed 0 --data".split(), str(tmp_path / "x.npz"), "--output", str(output)]
        )

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
