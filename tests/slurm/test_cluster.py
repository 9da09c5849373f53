"""The private SLURM does not start where another SLURM is configured or running, and stops only its own processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import cluster as slurm
import pytest
from cluster import Cluster, NotRun

ROOT = Path(__file__).resolve().parents[2]


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


def test_a_machine_without_slurm_passes_the_check(no_other_slurm):
    slurm.check_alone()


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


@pytest.mark.skipif(sys.platform != "linux", reason="setpriv exists only on Linux")
def test_a_bound_process_ends_with_the_process_that_started_it():
    # The parent prints the id of the bound process, and waits.
    parent_program = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); input()"
    command = [sys.executable, "-c", parent_program, *slurm.BOUND_TO_PARENT, "sleep", "600"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        command_line = Path("/proc", parent.stdout.readline().strip(), "cmdline")
        slurm.wait_until(lambda: command_line.read_bytes().startswith(b"sleep"), "the program did not start")
        parent.kill()
        # The bound process may remain as a zombie, whose command line is empty.
        slurm.wait_until(lambda: not (command_line.exists() and command_line.read_bytes()), "the program did not end")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may start a SLURM")
def test_only_root_may_start_a_slurm(tmp_path):
    command = [sys.executable, str(ROOT / "tests" / "slurm" / "cluster.py"), "start", str(tmp_path / "cluster")]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode != 0 and "only be started by root" in process.stderr
