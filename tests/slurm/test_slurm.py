"""The profiles on a real SLURM: the same bytes as a local run, even if jobs or the controller are killed.

Run by `make test-slurm`, as root: it installs the plugins and lets cluster.py install SLURM where it is missing.
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
from cluster import BOUND, LAST_RESORT, Cluster, NotRun, wait_until

ROOT = Path(__file__).resolve().parents[2]
# Up to the runs: what follows runs on the machine of Snakemake.
GRID = {
    "results": "results/grid",
    "datasets": ["iris", "wine", "breast_cancer"],
    "k": [2, 5],
    "hops": [4],
    "omega": [0.5],
    "sample_size": 2000,
    "seeds": {"count": 2, "block": 2},
}
# The SLURM plugin starts Snakemake for every job, some 2 s each: it gets a smaller grid.
SMALL_GRID = GRID | {"datasets": ["iris", "wine"], "k": [5], "methods": ["C", "G-B", "FRAC", "k-means", "random"]}
MATCHERS = {"C", "G-B", "D", "B", "G-D"}  # of Clusterlets: they share a chain of jobs; every other method has one of its own
# Without accounting, and with a controller nearby that may be asked often.
NO_ACCOUNTING = ["--slurm-no-account", "--slurm-status-command=squeue"]
POLLING = ["--seconds-between-status-checks=2", "--latency-wait=15"]


@pytest.fixture(scope="module")
def private():
    """A SLURM that belongs to these tests alone."""
    if "CLUSTERLETS_TEST_SLURM" not in os.environ:
        pytest.skip("not run: starts a real SLURM, so only make test-slurm runs it")
    # Both signals end the tests and what they started. In the background of a shell, as in CI, Python would ignore SIGINT.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder:  # short: the name of a socket has 107 characters
        private = Cluster(Path(folder) / "cluster", bound=True)
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
        self.command = [*BOUND, *snakemake, *arguments, "--configfile", "settings.yaml", "--", target]
        self.start()

    def start(self):
        """Start it, at first or again, and return at once."""
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

    def succeeded(self):
        """Wait for its end; whether it succeeded."""
        return self.process.wait(LAST_RESORT) == 0

    def stop(self):
        """End it and everything that it started here: by SIGTERM, so that it cancels its jobs, or else by SIGKILL."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        for pid in processes_in(self.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def tail(self):
        """The end of what it printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-60:])

    def wait_for(self, condition, what):
        """Wait for what can only come while it runs."""
        wait_until(condition, what, hopeless=self.ended)

    def outputs(self):
        """The files of the grid's jobs, by name, without the logs and runs.csv, which depend on the whole configuration."""
        files = {path.relative_to(self.results).as_posix(): path for path in self.results.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in files.items() if not name.startswith(("logs/", "runs.csv"))}


def processes_in(folder):
    """Ids of the processes that work in a folder or below it."""
    ids = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # it has just ended
            ids += [int(link.parent.name)] if link.readlink().is_relative_to(folder) else []
    return ids


@pytest.fixture(scope="module")
def local(private, tmp_path_factory):
    """A run without a cluster, to compare with. It ends first: a suspended job that compiles would make it wait."""
    run = Run(tmp_path_factory.mktemp("local") / "run", GRID, dict(os.environ), "--cores", "2")
    assert run.succeeded(), run.tail()
    yield run
    run.stop()


@pytest.fixture
def cluster(private):
    """The SLURM, without a job before the test and after it."""
    assert private.jobs() == []
    yield private
    private.cancel_all()


@pytest.fixture
def through(cluster, tmp_path):
    """A function that starts a run through a profile of this checkout. Runs end with the test, even if it fails."""
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
    """The id of a job in the middle of its work, which cannot end before it is resumed."""
    suspended = []

    def suspend():
        running = cluster.jobs("RUNNING") if any((run.results / "labels").rglob("*.npz")) else []
        suspended[:] = [job for job in running[:1] if cluster.run("scontrol", "suspend", job) is not None]
        return suspended

    run.wait_for(suspend, "no job ran")
    return suspended[0]


def kill_the_controller(cluster, run):
    """SIGKILL the controller in the middle of a job, and start it again.

    Some seconds after any change it saves its state, and it would forget what it had not saved. A first save may have begun
    before the job was suspended, but not the one after it.
    """
    job = suspend_a_job(cluster, run)
    state = cluster.folder / "state" / "job_state"

    def save():
        before = state.stat().st_mtime_ns
        cluster.ask("scontrol", "update", f"JobId={job}", f"AdminComment={before}")
        run.wait_for(lambda: state.stat().st_mtime_ns != before, "the controller saved nothing")

    save()
    save()
    cluster.stop_daemon("slurmctld", signal.SIGKILL)
    cluster.start_daemon("slurmctld")
    cluster.ask("scontrol", "resume", job)


def submissions(cluster):
    """How many jobs the controller has been given so far."""
    lines = [line for line in cluster.ask("scontrol", "show", "config").splitlines() if line.startswith("NEXT_JOB_ID")]
    return int(lines[0].split("=")[1]) - 1


def planned_submissions(profile, settings):
    """How many submissions the chains of a grid make."""
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    profile_settings = yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))
    other_methods = [method for method in settings.get("methods", default["methods"]) if str(method) not in MATCHERS]
    chains = len(settings["datasets"]) * len(settings["k"]) * (1 + len(other_methods))
    return ceil(chains / profile_settings["group-components"]["grid"])


def assert_complete(run, local):
    """Nothing is left to do, and all files are those of the local run."""
    run.start()
    assert run.succeeded(), run.tail()
    assert "Nothing to be done" in run.log.read_text(), run.tail()
    expected, outputs = local.outputs(), run.outputs()
    assert any(name.startswith("runs/") for name in outputs)
    assert [name for name in outputs if outputs[name] != expected.get(name)] == []


def test_a_run_through_the_generic_profile_heals_itself(cluster, through, local):
    last = submissions(cluster) + planned_submissions("cluster-generic", GRID) + 1  # the one that is cancelled, again
    run = through("cluster-generic", GRID)
    cluster.ask("scancel", suspend_a_job(cluster, run))
    run.wait_for(lambda: submissions(cluster) == last, "no second attempt was submitted")
    kill_the_controller(cluster, run)
    assert run.succeeded(), run.tail()
    assert submissions(cluster) == last
    assert_complete(run, local)


def test_a_rerun_through_the_slurm_profile_completes_what_was_cancelled(cluster, through, local):
    """The controller stays up: while it is down, the plugin waits ten minutes for an accounting that does not exist."""
    last = submissions(cluster) + planned_submissions("slurm", SMALL_GRID)
    run = through("slurm", SMALL_GRID, "--retries=0", "--slurm-init-seconds-before-status-checks=2", *NO_ACCOUNTING)
    cluster.ask("scancel", suspend_a_job(cluster, run))
    assert not run.succeeded(), "a job was cancelled, and is not retried"
    assert submissions(cluster) == last
    run.start()
    assert run.succeeded(), run.tail()
    assert_complete(run, local)
