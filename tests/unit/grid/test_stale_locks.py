"""The locks of a killed run are removed, those of a live run stay."""

import subprocess
import sys

import pytest

from clusterlets.grid import stale_locks


@pytest.fixture
def locked(tmp_path):
    """Snakemake's folder with a lock in it."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "0.output.lock").write_text("results/runs.csv\n")
    return tmp_path


def start_run(state):
    """A process that holds the folder until it is killed."""
    code = f"from pathlib import Path; from clusterlets.grid.stale_locks import remove_locks\n\
kept = remove_locks(Path({str(state)!r})); print('held', flush=True); input()"
    run = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "held\n"
    return run


def test_locks_last_as_long_as_a_run_is_alive(tmp_path):
    with start_run(tmp_path) as run:
        (tmp_path / "locks").mkdir()
        with stale_locks.remove_locks(tmp_path):
            assert (tmp_path / "locks").exists()
        run.kill()
        run.wait()
        with stale_locks.remove_locks(tmp_path):
            assert not (tmp_path / "locks").exists()


def test_locks_stay_if_a_different_host_used_the_folder(locked):
    (locked / "alive").write_text("elsewhere\n")
    for _ in range(2):
        with stale_locks.remove_locks(locked):
            assert (locked / "locks" / "0.output.lock").exists()


@pytest.fixture
def machine(monkeypatch):
    """A function that sets the name of this machine and the boot of its kernel."""

    def become(name, boot):
        monkeypatch.setattr(stale_locks, "_machine", lambda: [name, *boot])

    return become


@pytest.mark.parametrize(
    ("then", "now", "are_removed"),
    [
        (("desk", ["boot1"]), ("desk", ["boot2"]), True),  # a power cut
        (("box1", ["boot1"]), ("box2", ["boot1"]), True),  # one container after the other
        (("box1", ["boot1"]), ("box2", ["boot2"]), False),
        (("node1", ["boot1"]), ("node2", ["boot2"]), False),
        (("desk", []), ("desk", []), True),
        (("desk", []), ("desk", ["boot1"]), True),  # written by a version that noted names only
        (("node1", []), ("node2", ["boot1"]), False),
    ],
)
def test_a_machine_is_recognised_by_its_name_or_its_boot(locked, machine, then, now, are_removed):
    machine(*then)
    stale_locks.remove_locks(locked).close()
    (locked / "locks").mkdir(exist_ok=True)
    for _ in range(2):
        machine(*now)
        stale_locks.remove_locks(locked).close()
        assert (locked / "locks").exists() == (not are_removed)
    assert len((locked / "alive").read_text().splitlines()) == 1 + (then != now)


def test_a_damaged_list_of_machines_removes_no_lock(locked):
    (locked / "alive").write_bytes(b"\xff\x00\n")
    with stale_locks.remove_locks(locked):
        assert (locked / "locks" / "0.output.lock").exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("")
    assert stale_locks.remove_locks(tmp_path / "file" / "state") is None
