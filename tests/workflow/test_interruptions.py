"""However a run ends, the next run uses no incomplete file, repeats no finished job, and produces the same bytes."""

import itertools
import os
import random
import signal
import sys
import time

import pytest
from disks import disk
from processes import family, wait_until

from clusterlets.storage import load_arrays, load_json, result_place

CELLS = [f"results/tiny/runs/iris/{cell}/seeds0-1.csv" for cell in ("D/k2", "C/k2", "FRAC/k2")]
KILLS = 6


def complete_results(workflow):
    """The results, without those that are still being written under a hidden name."""
    return {name: content for name, content in workflow.results().items() if not name.rsplit("/", 1)[-1].startswith(".")}


def number_of_results(workflow):
    """Count the results without opening any, because a file that a run is writing may vanish meanwhile."""
    paths = (workflow.folder / "results" / "tiny").rglob("[!.]*")
    return sum(path.is_file() for path in paths if not {"logs", "accounts"} & set(path.parts))


def wait_for_results(run, workflow, n_more, seconds=120):
    """Wait until a run has made ``n_more`` more files."""
    target, deadline = number_of_results(workflow) + n_more, time.monotonic() + seconds
    while number_of_results(workflow) < target:
        assert run.poll() is None, f"the run ended with {run.returncode}: {run.stdout.read()}"
        assert time.monotonic() < deadline, f"no {n_more} results within {seconds} s"
        time.sleep(0.02)


def test_a_run_that_is_killed_many_times_produces_the_same_bytes_in_a_different_folder_and_on_one_core(finished, workflow):
    rng = random.Random(6)
    for _ in range(KILLS):
        with workflow.start(own_group=True) as run:
            wait_for_results(run, workflow, rng.randint(0, 3))
            time.sleep(rng.uniform(0, 0.3))
            os.killpg(run.pid, signal.SIGKILL)
            run.stdout.read()
        assert run.returncode == -signal.SIGKILL
        assert workflow.run("--unlock").status == 0
    unfinished = complete_results(workflow)
    assert len(unfinished) > 0 and "manifest.json" not in unfinished
    last = workflow.run("--cores", "1")
    assert last.status == 0, last.output
    actual, expected = complete_results(workflow), finished.results()
    assert actual["manifest.json"] == expected["manifest.json"]
    assert [name for name in expected if actual.get(name) != expected[name]] == []
    assert actual.keys() == expected.keys()


@pytest.mark.skipif(sys.platform != "linux", reason="the system must be Linux")
@pytest.mark.parametrize(
    ("send", "signal_number"),
    [(os.kill, signal.SIGINT), (os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.kill, signal.SIGKILL)],
)
def test_jobs_end_with_their_run(workflow, send, signal_number):
    """The signal goes to the run or, as with Ctrl-C in a terminal, to its group.

    The program of the job sleeps, and has started another one in the background. The next run has a program that ends.
    """
    sleeping = "setsid sleep 1000 & touch started; sleep 1000; {labels} # {table}"  # a command must contain both
    labelling = "awk 'NR == 1 {print \"cluster\"; next} {print NR % 2}' {table} > {labels}"
    cell = "results/tiny/runs/iris/mine/k2/seeds0-1.csv"

    def configured(command):
        return {"methods": ["k-means", {"name": "mine", "command": command}]}

    with family() as members:
        with workflow.start(cell, config=configured(sleeping), environment=members.environment, own_group=True) as run:
            wait_until((workflow.folder / "started").exists)
            send(run.pid, signal_number)
            output = run.stdout.read()
        members.wait_until_gone()
    assert run.returncode not in (0, None) and "Traceback" not in output, output
    assert not (workflow.folder / cell).exists()
    locks = list((workflow.folder / ".snakemake" / "locks").glob("*.lock"))
    assert bool(locks) == (signal_number == signal.SIGKILL)  # only a run that is killed leaves its locks
    if locks:
        refused = workflow.run(cell, config=configured(labelling))
        assert refused.status and "--unlock" in refused.output and workflow.run("--unlock").status == 0
    again = workflow.run(cell, config=configured(labelling))
    assert again.status == 0, again.output


def test_a_second_run_of_the_same_files_is_refused_and_the_first_goes_on(finished, workflow):
    with workflow.start(*CELLS) as first:
        wait_for_results(first, workflow, 2)
        first.send_signal(signal.SIGSTOP)  # so that it has not ended when the second begins
        second = workflow.run(*CELLS)
        first.send_signal(signal.SIGCONT)
        output, _ = first.communicate(timeout=300)
    assert second.status != 0 and "cannot be locked" in second.output and "Traceback" not in second.output
    assert first.returncode == 0, output
    expected = finished.results()
    assert all(expected[name] == content for name, content in complete_results(workflow).items())
    assert workflow.run(*CELLS).status == 0  # nothing is left locked


def with_a_flipped_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


# The files to damage before each of five runs. For each file: the outputs to remove, so that a step reads the file.
# The files of the first run are in different branches of the workflow, so this run finds all their damage.
DAMAGED_BEFORE_RUNS = [
    {
        "prepared/iris.npz": ["pieces/iris/FRAC/k2", "runs/iris/FRAC/k2"],
        "prepared/breast_cancer.json": ["datasets.csv"],
        "geometry/iris.json": ["runs/iris/D/k2"],
        "pieces/breast_cancer/clusterlets/k2/seeds0-1.npz": ["runs/breast_cancer/D/k2"],
        "distances/breast_cancer/clusterlets/k3/seeds0-1.npz": ["runs/breast_cancer/B/k3"],
    },
    {
        "labels/breast_cancer/clusterlets/k2/seeds0-1.npz": ["distances/breast_cancer/clusterlets/k2"],
        "partitions/breast_cancer/clusterlets/k3/seeds0-1.npz": ["runs/breast_cancer/C/k3"],
    },
    {"runs/iris/C/k2/seeds0-1.csv": ["runs.csv"]},
    {"runs.csv": ["methods.csv"]},
]


def spoil(top, name, damage, outputs):
    """Change the content of a file by ``damage``, and remove ``outputs`` (files or folders). Return the paths of removed files.

    The file keeps its modification time, so only a step that reads it can notice the damage.
    """
    path = top / name
    times = path.stat()
    path.write_bytes(damage(path.read_bytes()))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    removed = [file for output in outputs for file in (top / output).rglob("*.*")] or [top / output for output in outputs]
    for file in removed:
        file.unlink()
    return [str(file.relative_to(top.parents[1])) for file in removed]


def test_damaged_files_of_every_kind_are_named_and_made_again_once_removed(finished, workflow):
    expected = finished.results()

    def folders_of_arrays(names):
        return {name.split("/")[0] for name in names if name.endswith(".npz")}

    assert folders_of_arrays(expected) == folders_of_arrays(name for damaged in DAMAGED_BEFORE_RUNS for name in damaged)
    finished.copy(workflow.folder)
    top = workflow.folder / "results" / "tiny"
    damages = itertools.cycle((lambda content: content[: len(content) // 2], lambda _: b"", with_a_flipped_bit))
    for damaged in DAMAGED_BEFORE_RUNS:
        targets = [file for name, outputs in damaged.items() for file in spoil(top, name, next(damages), outputs)]
        broken = workflow.run(*targets)
        assert broken.status != 0
        for name in damaged:
            assert f"{name} does not match its own checksum" in broken.output, broken.output
            (top / name).unlink()
        again = workflow.run(*targets)
        assert again.status == 0, again.output
    actual = complete_results(workflow)
    assert actual.keys() == expected.keys()
    assert [name for name in expected if actual[name] != expected[name]] == []


def test_every_intermediate_file_but_cells_records_its_place(finished):
    """storage.py must know every folder. Files of a folder that it does not know could be exchanged without notice."""
    top = finished.folder / "results" / "tiny"
    loaders = {"prepared": load_json, "geometry": load_json, "plain_costs": load_json}
    folders = set()
    for name in finished.results():
        folder = name.split("/")[0]
        load = load_arrays if name.endswith(".npz") else loaders.get(folder)
        if load:
            load(top / name)
            assert result_place(top / name) == name
            folders.add(folder)
    assert folders == {*loaders, "pieces", "labels", "distances", "partitions"}


def test_a_full_disk_is_reported_and_the_run_resumes_once_there_is_room(finished, workflow_in, tmp_path):
    with disk(tmp_path / "small", "size=4m") as folder:
        workflow = workflow_in(folder)
        (folder / "ballast").write_bytes(bytes(4 * 2**20 - 150_000))
        full = workflow.run(*CELLS)
        assert full.status != 0
        assert "No space left on device" in full.output, full.output
        (folder / "ballast").unlink()
        again = workflow.run(*CELLS)
        assert again.status == 0, again.output
        expected = finished.results()
        assert all(expected[name] == content for name, content in complete_results(workflow).items())


def test_a_read_only_folder_is_refused_before_anything_runs(workflow_in, tmp_path):
    with disk(tmp_path / "locked", "size=1m,ro") as folder:
        workflow = workflow_in(tmp_path)
        for refused in (
            workflow.run("--dry-run", "--directory", str(folder)),
            workflow.run(config={"results": str(folder / "results")}),
        ):
            assert refused.status != 0 and "Traceback" not in refused.output
            assert f"{folder} cannot be written: it is read-only" in refused.output, refused.output
        assert workflow.results() == {}
