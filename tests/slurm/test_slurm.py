"""The profiles on a real SLURM: the same bytes as a local run, whatever happens to a job and to the controller in mid-run.

Run by `make test-slurm`, as root: it installs the plugins and lets cluster.py install SLURM where it is missing.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from math import ceil
from pathlib import Path

import pytest
import yaml
from cluster import Cluster, NotRun, wait_until

ROOT = Path(__file__).resolve().parents[2]
DEMO = yaml.safe_load((ROOT / "workflow" / "configs" / "demo.yaml").read_text(encoding="utf-8"))
# The SLURM plugin starts Snakemake for every job, some 2 s each: its share of the demo is three datasets, one k and few cells.
SHORT = DEMO | {"results": "results/short", "datasets": DEMO["datasets"][:3], "k": [5], "hops": [4], "omega": [0.5]}
CHAINS = 4  # a dataset and k: Clusterlets, FRAC, k-means, random
# Without accounting, and with a controller nearby that may be asked often.
NO_ACCOUNTING = ["--slurm-no-account", "--slurm-status-command=squeue"]
OFTEN = ["--slurm-init-seconds-before-status-checks=2", "--seconds-between-status-checks=2", "--latency-wait=15"]
STUCK = 1800  # seconds; no run takes that long
# These hold times and facts about the machine.
DIFFERS = {"logs", "accounts", "report.html", "leaderboard.html"}


@pytest.fixture(scope="module")
def cluster():
    """A SLURM that belongs to this test alone."""
    if "CLUSTERLETS_TEST_SLURM" not in os.environ:
        pytest.skip("not run: starts a real SLURM, so only make test-slurm runs it")
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:  # short: the name of a socket has 107 characters
        private = Cluster(Path(folder) / "cluster")
        try:
            private.start()
        except NotRun as reason:
            pytest.skip(f"not run: {reason}")
        else:
            yield private
        finally:
            private.stop()


class Run:
    """The workflow in a folder of its own, locally or through a profile."""

    def __init__(self, folder, settings, environment, arguments):
        folder.mkdir(exist_ok=True)
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
        self.results = folder / settings["results"]
        self.log = folder / "snakemake.log"
        self.folder = folder
        path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        self.environment = {**environment, "PATH": path}
        self.command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), *arguments]

    def start(self):
        """Start it and return at once."""
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*self.command, "--configfile", "settings.yaml"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self

    def end(self):
        """Wait for its end; whether it succeeded."""
        try:
            return self.process.wait(STUCK) == 0
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
            pytest.fail(f"stuck for {STUCK} s:\n{self.tail()}")

    def tail(self):
        """The end of what it printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-60:])

    def bytes(self):
        """Every result by its name."""
        files = (path for path in self.results.rglob("*") if path.is_file())
        names = {path.relative_to(self.results).as_posix(): path for path in files}
        return {name: path.read_bytes() for name, path in names.items() if name.split("/")[0] not in DIFFERS}


def local(folder, settings):
    """Start a run without a cluster: it uses the processors that the cluster leaves idle most of the time."""
    return Run(folder, settings, dict(os.environ), ["--cores", "2"]).start()


def through(cluster, profile, folder, settings, *arguments):
    """A run through a profile of this checkout."""
    return Run(folder, settings, cluster.environment, ["--profile", str(ROOT / "profiles" / profile), *OFTEN[1:], *arguments])


def kill_a_job(cluster):
    """Cancel a job that runs."""
    wait_until(lambda: cluster.jobs("RUNNING"), "no job ran")
    time.sleep(5)  # into its work
    job = cluster.jobs("RUNNING")[0]
    subprocess.run(["scancel", job], env=cluster.environment, check=True)
    wait_until(lambda: job not in cluster.jobs("RUNNING", "COMPLETING"), f"job {job} ran on")


def kill_the_controller(cluster):
    """SIGKILL the controller while a job runs, and start it again after a while."""
    wait_until(lambda: knows_what_runs(cluster), "no state was saved while a job ran")
    cluster.stop_daemon("slurmctld", signal.SIGKILL)
    assert not cluster.run("sinfo"), "the controller is still there"
    cluster.start_daemon("slurmctld")


def knows_what_runs(cluster):
    """Whether the controller has saved what runs, as it does some seconds after a change: else it would start a job twice."""
    running, since = cluster.jobs("RUNNING"), time.time()
    state = cluster.folder / "state" / "job_state"
    while running and cluster.jobs("RUNNING") == running:
        # Without a further change it saves nothing further, and then it had saved these jobs before they were seen here.
        if (state.is_file() and state.stat().st_mtime > since) or time.time() > since + 20:
            return True
        time.sleep(0.2)
    return False


def cancel_all(cluster):
    """Cancel what is left: a step that began just before the controller was killed is in no saved state, so its srun waits."""
    for job in cluster.jobs("RUNNING", "PENDING"):
        subprocess.run(["scancel", job], env=cluster.environment, check=False)  # it may have ended by now


def assert_same(alone, run):
    assert alone.end(), alone.tail()
    expected, actual = alone.bytes(), run.bytes()
    assert expected.keys() == actual.keys()
    assert [name for name in expected if expected[name] != actual[name]] == []


def submissions(cluster):
    """How many jobs the controller has been given so far."""
    lines = [line for line in cluster.run("scontrol", "show", "config").splitlines() if line.startswith("NEXT_JOB_ID")]
    return int(lines[0].split("=")[1]) - 1


def chains_in_one(profile):
    """How many chains share a submission."""
    settings = yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))
    return settings["group-components"]["grid"]


def assert_nothing_left(run):
    assert run.start().end(), run.tail()
    assert "Nothing to be done" in run.log.read_text(), run.tail()


def test_the_demo_through_the_generic_profile_heals_itself(cluster, tmp_path):
    alone = local(tmp_path / "local", DEMO)
    run = through(cluster, "cluster-generic", tmp_path / "cluster", DEMO).start()
    kill_a_job(cluster)
    kill_the_controller(cluster)
    assert run.end(), run.tail()
    assert_nothing_left(run)
    assert (
        submissions(cluster) == ceil(len(DEMO["datasets"]) * 5 * CHAINS / chains_in_one("cluster-generic")) + 1
    )  # and the one that was killed, again
    assert_same(alone, run)


def test_a_rerun_through_the_slurm_profile_completes_what_was_killed(cluster, tmp_path):
    before = submissions(cluster)
    alone = local(tmp_path / "local", SHORT)
    run = through(cluster, "slurm", tmp_path / "cluster", SHORT, "--retries=0", *NO_ACCOUNTING, OFTEN[0]).start()
    kill_a_job(cluster)
    kill_the_controller(cluster)
    cancel_all(cluster)
    assert not run.end(), "a job was killed, and nothing was to try again"
    assert submissions(cluster) - before == ceil(len(SHORT["datasets"]) * CHAINS / chains_in_one("slurm"))
    assert run.start().end(), run.tail()
    assert_nothing_left(run)
    assert_same(alone, run)
