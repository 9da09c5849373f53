"""The private SLURM keeps away from every other one: it does not start next to it, and stops nothing that it did not start."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import cluster as private
import pytest
from cluster import Cluster, NotRun

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Hide a SLURM that this machine may have."""
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.setattr(private, "FOREIGN", [str(tmp_path / "slurm.conf")])
    monkeypatch.setattr(private, "DAEMONS", ["daemon-of-test"])


@pytest.fixture
def sleeper(tmp_path):
    """A process with the name of a daemon."""
    program = shutil.copy(shutil.which("sleep"), tmp_path / "daemon-of-test")
    with subprocess.Popen([program, "600"]) as process:
        private.wait_until(lambda: program.name in Path(f"/proc/{process.pid}/comm").read_text(), "the program did not start")
        yield process
        process.kill()


def test_a_machine_without_slurm_passes_the_check(alone):
    private.check_alone()


def test_it_refuses_to_start_where_a_slurm_is_configured(alone, monkeypatch, tmp_path):
    (tmp_path / "slurm.conf").touch()
    with pytest.raises(NotRun, match="slurm.conf exists"):
        private.check_alone()
    monkeypatch.setenv("SLURM_CONF", "/somewhere/slurm.conf")
    with pytest.raises(NotRun, match="SLURM_CONF is set"):
        private.check_alone()


def test_it_refuses_to_start_where_a_daemon_is_running(alone, sleeper):
    with pytest.raises(NotRun, match=f"daemon-of-test is running .process {sleeper.pid}."):
        private.check_alone()


def test_it_stops_no_process_that_is_not_its_own(alone, sleeper, tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "daemon-of-test.pid").write_text(str(sleeper.pid))
    Cluster(folder).stop()
    assert sleeper.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="the prefix is Linux's")
def test_what_is_bound_ends_with_the_process_that_started_it():
    code = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); input()"
    command = [sys.executable, "-c", code, *private.BOUND, "sleep", "600"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        child = Path("/proc", parent.stdout.readline().strip(), "cmdline")
        private.wait_until(lambda: child.read_bytes().startswith(b"sleep"), "the program did not start")
        parent.kill()
        # The command line of a zombie is empty.
        private.wait_until(lambda: not (child.exists() and child.read_bytes()), "the program lives on")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may start it")
def test_only_root_may_start_it(tmp_path):
    command = [sys.executable, str(ROOT / "tests" / "slurm" / "cluster.py"), "start", str(tmp_path / "cluster")]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode != 0 and "only be started by root" in process.stderr
