"""Runs through the profiles on a real SLURM give the same bytes as a local run, even if jobs or the controller are killed.

Run these tests with `make test-slurm`, as root. The target installs Snakemake's plugins, and cluster.py a missing SLURM.
"""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from math import ceil
from pathlib import Path

import pytest
import yaml
from cluster import BOUND_TO_PARENT, MAX_WAIT, Cluster, NotRun, wait_until

ROOT = Path(__file__).resolve().parents[2]
# The runs stop at runs.csv, because the later steps are not submitted: they run on Snakemake's machine.
GRID = {
    "results": "results/grid",
    "datasets": ["iris", "wine", "breast_cancer"],
    "k": [2, 5],
    "hops": [4],
    "omega": [0.5],
    "sample_size": 2000,
    "seeds": {"count": 2, "batch": 2},
}
# A smaller grid for the SLURM plugin, because it starts Snakemake in every job, which takes about 2 s.
SMALL_GRID = GRID | {"datasets": ["iris", "wine"], "k": [5], "methods": ["C", "G-B", "FRAC", "k-means", "random"]}
MATCHERS = {"C", "G-B", "D", "B", "G-D"}
# For the SLURM plugin, because the private SLURM has no accounting.
NO_ACCOUNTING = ["--slurm-no-account", "--slurm-status-command=squeue"]
# The controller can be asked often, because it runs on this machine.
POLLING = ["--seconds-between-status-checks=2", "--latency-wait=15"]


@pytest.fixture(scope="module")
def private_slurm():
    """A SLURM that belongs to these tests alone."""
    if "CLUSTERLETS_TEST_SLURM" not in os.environ:
        pytest.skip("not run: starts a real SLURM, so only make test-slurm runs it")
    # SIGINT and SIGTERM must end the tests and what they started. A background job (as in CI) would otherwise ignore SIGINT.
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.default_int_handler)
    # In /tmp, because the path of a socket may have at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:
        slurm = Cluster(Path(folder) / "cluster", bound=True)
        try:
            slurm.start()
        except NotRun as reason:
            pytest.skip(f"not run: {reason}")
        else:
            yield slurm
        finally:
            slurm.stop()


class Run:
    """A run of the workflow in a new folder, locally or through a profile."""

    def __init__(self, folder, settings, environment, *arguments):
        folder.mkdir()
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
        self.results = folder / settings["results"]
        self.log = folder / "snakemake.log"
        self.folder = folder
        path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        self.environment = {**environment, "PATH": path}
        target = f"{settings['results']}/runs.csv"
        snakemake = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
        self.command = [*BOUND_TO_PARENT, *snakemake, *arguments, "--configfile", "settings.yaml", "--", target]
        self.start()

    def start(self):
        """Start Snakemake, for the first time or again, and return at once."""
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ended(self):
        return self.process.poll() is not None

    def wait_for_success(self):
        """Wait until Snakemake has ended. Returns whether it succeeded."""
        return self.process.wait(MAX_WAIT) == 0

    def stop(self):
        """End Snakemake by SIGTERM, so that it cancels its jobs. Then kill all processes that are left in the folder."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        for pid in processes_in(self.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def tail(self):
        """The last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-60:])

    def wait_for(self, condition, failure):
        """Wait for a condition that can only come true while Snakemake runs."""
        wait_until(condition, failure, hopeless=self.ended)

    def outputs(self):
        """The contents of the results by name, without the logs and without runs.csv, which depends on the whole grid."""
        files = {path.relative_to(self.results).as_posix(): path for path in self.results.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in files.items() if not name.startswith(("logs/", "runs.csv"))}


def processes_in(folder):
    """Ids of the processes whose working directory is a folder or lies below it."""
    ids = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # the process has just ended
            if link.readlink().is_relative_to(folder):
                ids.append(int(link.parent.name))
    return ids


@pytest.fixture(scope="module")
def local_run(private_slurm, tmp_path_factory):
    """A local run to compare with. It runs first: a cluster's job that is suspended while compiling would block it."""
    run = Run(tmp_path_factory.mktemp("local") / "run", GRID, dict(os.environ), "--cores", "2")
    assert run.wait_for_success(), run.tail()
    yield run
    run.stop()


@pytest.fixture
def cluster(private_slurm):
    """The private SLURM, which has no job before the test and none after it."""
    assert private_slurm.jobs() == []
    yield private_slurm
    private_slurm.cancel_all()


@pytest.fixture
def start_run(cluster, tmp_path):
    """A function that starts a run through a profile of this checkout. After the test, all such runs are stopped."""
    runs = []

    def start(profile, settings, *arguments):
        profile_arguments = ["--profile", str(ROOT / "profiles" / profile), *POLLING, *arguments]
        runs.append(Run(tmp_path / "cluster", settings, cluster.environment, *profile_arguments))
        return runs[-1]

    yield start
    for run in runs:
        run.stop()
    cluster.cancel_all()
    wait_until(lambda: not processes_in(tmp_path), "a process is left")


def suspend_a_job(cluster, run):
    """Suspend a job in the middle of its work, so that it cannot end before it is resumed. Returns its id."""
    suspended_jobs = []

    def suspend():
        if any((run.results / "labels").rglob("*.npz")):
            for job in cluster.jobs("RUNNING")[:1]:
                if cluster.run("scontrol", "suspend", job) is not None:
                    suspended_jobs.append(job)
        return suspended_jobs

    run.wait_for(suspend, "no job ran")
    return suspended_jobs[0]


def kill_the_controller(cluster, run):
    """Kill the controller in the middle of a job by SIGKILL, and start it again.

    The controller saves its state a few seconds after a change. What it has not saved is lost, so it is made to save twice. The
    first save may have begun before the job was suspended. The second includes the suspended job.
    """
    job = suspend_a_job(cluster, run)
    state_file = cluster.folder / "state" / "job_state"

    def save_state():
        last_save = state_file.stat().st_mtime_ns
        cluster.ask("scontrol", "update", f"JobId={job}", f"AdminComment={last_save}")
        run.wait_for(lambda: state_file.stat().st_mtime_ns != last_save, "the controller saved nothing")

    save_state()
    save_state()
    cluster.stop_daemon("slurmctld", signal.SIGKILL)
    cluster.start_daemon("slurmctld")
    cluster.ask("scontrol", "resume", job)


def n_submissions(cluster):
    """The number of jobs submitted to the controller so far."""
    lines = [line for line in cluster.ask("scontrol", "show", "config").splitlines() if line.startswith("NEXT_JOB_ID")]
    return int(lines[0].split("=")[1]) - 1


def n_planned_submissions(profile, settings):
    """The number of jobs that a profile submits for a grid.

    The jobs of one dataset and k form one chain for all matchers, and one for each other method. Each submission holds as many
    chains as group-components says.
    """
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    profile_settings = yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))
    other_methods = [method for method in settings.get("methods", default["methods"]) if str(method) not in MATCHERS]
    n_chains = len(settings["datasets"]) * len(settings["k"]) * (1 + len(other_methods))
    return ceil(n_chains / profile_settings["group-components"]["grid"])


def assert_complete(run, local_run):
    """Assert that a rerun has nothing to do, and that every file equals that of the local run."""
    run.start()
    assert run.wait_for_success(), run.tail()
    assert "Nothing to be done" in run.log.read_text(), run.tail()
    expected, outputs = local_run.outputs(), run.outputs()
    assert any(name.startswith("runs/") for name in outputs)
    assert [name for name in outputs if outputs[name] != expected.get(name)] == []


def test_a_run_through_the_generic_profile_survives_a_cancelled_job_and_a_killed_controller(cluster, start_run, local_run):
    n_expected = n_submissions(cluster) + n_planned_submissions("cluster-generic", GRID) + 1  # one for the cancelled job
    run = start_run("cluster-generic", GRID)
    cluster.ask("scancel", suspend_a_job(cluster, run))
    run.wait_for(lambda: n_submissions(cluster) == n_expected, "no second attempt was submitted")
    kill_the_controller(cluster, run)
    assert run.wait_for_success(), run.tail()
    assert n_submissions(cluster) == n_expected
    assert_complete(run, local_run)


def test_a_rerun_through_the_slurm_profile_completes_a_run_with_a_cancelled_job(cluster, start_run, local_run):
    """The controller is not killed here, because the plugin would then wait ten minutes for the missing accounting."""
    n_expected = n_submissions(cluster) + n_planned_submissions("slurm", SMALL_GRID)
    run = start_run("slurm", SMALL_GRID, "--retries=0", "--slurm-init-seconds-before-status-checks=2", *NO_ACCOUNTING)
    cluster.ask("scancel", suspend_a_job(cluster, run))
    assert not run.wait_for_success(), "a job was cancelled, and is not retried"
    assert n_submissions(cluster) == n_expected
    run.start()
    assert run.wait_for_success(), run.tail()
    assert_complete(run, local_run)
