"""The private SLURM does not start where another SLURM is configured or running, and stops only its own processes."""

import shutil
import subprocess
from pathlib import Path

import cluster as slurm
import pytest
from cluster import Cluster, NotRun


@pytest.fixture
def no_other_slurm(monkeypatch, tmp_path):
    """Hide a SLURM of this machine, and make a program of the test the only daemon."""
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.setattr(slurm, "FOREIGN_FILES", [str(tmp_path / "slurm.conf")])
    monkeypatch.setattr(slurm, "DAEMONS", ["daemon-of-test"])


@pytest.fixture
def foreign_daemon(tmp_path):
    """A process that has the name of a daemon but belongs to no private SLURM."""
    program = shutil.copy(shutil.which("sleep"), tmp_path / "daemon-of-test")
    with subprocess.Popen([program, "600"]) as process:
        slurm.wait_until(lambda: program.name in Path(f"/proc/{process.pid}/comm").read_text(), "the program did not start")
        yield process
        process.kill()


def test_the_check_refuses_a_machine_where_a_slurm_is_configured(no_other_slurm, monkeypatch, tmp_path):
    (tmp_path / "slurm.conf").touch()
    with pytest.raises(NotRun, match="slurm.conf exists"):
        slurm.check_alone()
    monkeypatch.setenv("SLURM_CONF", "/somewhere/slurm.conf")
    with pytest.raises(NotRun, match="SLURM_CONF is set"):
        slurm.check_alone()


def test_the_check_refuses_a_machine_where_a_daemon_is_running(no_other_slurm, foreign_daemon):
    with pytest.raises(NotRun, match=f"daemon-of-test is running .process {foreign_daemon.pid}."):
        slurm.check_alone()


def test_a_cluster_stops_no_process_that_is_not_its_own(no_other_slurm, foreign_daemon, tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "daemon-of-test.pid").write_text(str(foreign_daemon.pid))
    Cluster(folder).stop()
    assert foreign_daemon.poll() is None
