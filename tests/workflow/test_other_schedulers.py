"""The profiles for PBS and LSF submit, follow and cancel jobs. Stand-ins replace the commands of the schedulers."""

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import stand_in_scheduler
import yaml

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "workflow" / "configs" / "smoke.yaml"
# `make test` installs the plugins into this folder. They may also be in the environment already.
PLUGINS = Path(sys.prefix) / "cluster-plugins"
needs_plugin = pytest.mark.skipif(
    not PLUGINS.is_dir() and not importlib.util.find_spec("snakemake_executor_plugin_cluster_generic"),
    reason="the plugin cluster-generic is not installed: `make test` installs it",
)


@pytest.fixture
def environment(tmp_path):
    """The environment variables, with the stand-ins first on the path."""
    programs = stand_in_scheduler.install(tmp_path / "programs")
    path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    plugins = [str(PLUGINS), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PATH": os.pathsep.join(path), "PYTHONPATH": os.pathsep.join(plugins)}


def settings_of(profile):
    return yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))


def submit(profile, script, environment, cwd, **resources):
    """Submit a job script as the plugin does. ``resources`` replace the usual ones."""
    requested = {"mem_mb": 2000, "runtime": 82} | resources
    command = settings_of(profile)["cluster-generic-submit-cmd"].format(threads=2, resources=_Attributes(requested))
    script.chmod(0o755)
    return subprocess.run(f'{command} "{script}"', shell=True, cwd=cwd, env=environment, capture_output=True, text=True)


class _Attributes(dict):
    """A mapping whose values are also attributes, like the resources that the plugin passes."""

    __getattr__ = dict.__getitem__


def status(profile, job, environment):
    """What the status command of the profile prints for a job."""
    command = [ROOT / "profiles" / profile / "status.sh", job]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def wait_for(profile, job, environment, expected):
    """Wait at most half a minute until a job has the expected status. Until then, the job must be running."""
    for _ in range(300):
        answer = status(profile, job, environment)
        if answer == f"{expected}\n":
            return
        assert answer == "running\n"
        time.sleep(0.1)
    pytest.fail(f"job {job} did not become {expected}")


@pytest.mark.parametrize("profile", ["pbs", "lsf"])
@pytest.mark.parametrize(("last_line", "outcome"), [("exit 0", "success"), ("exit 3", "failed")])
def test_a_submitted_job_runs_and_its_success_or_failure_is_reported(profile, last_line, outcome, environment, tmp_path):
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\nsleep 1\necho printed\n{last_line}\n")
    process = submit(profile, tmp_path / "job.sh", environment, tmp_path)
    assert process.returncode == 0, process.stderr
    (job,) = process.stdout.splitlines()
    assert job == {"pbs": "1.server", "lsf": "1"}[profile]
    wait_for(profile, job, environment, outcome)
    (log,) = (tmp_path / ".snakemake" / "cluster_logs").iterdir()
    assert log.read_text() == "printed\n"


@pytest.mark.parametrize("profile", ["pbs", "lsf"])
def test_a_cancelled_or_unknown_job_counts_as_failed(profile, environment, tmp_path):
    (tmp_path / "job.sh").write_text("#!/bin/sh\nsleep 60\n")
    job = submit(profile, tmp_path / "job.sh", environment, tmp_path).stdout.strip()
    while not (tmp_path / "programs" / "1.group").is_file():  # which the stand-in writes when the job starts
        time.sleep(0.1)
    assert status(profile, job, environment) == "running\n"
    subprocess.run([settings_of(profile)["cluster-generic-cancel-cmd"], job], env=environment, check=True)
    assert status(profile, job, environment) == "failed\n"
    assert status(profile, job.replace("1", "77"), environment) == "failed\n"


@pytest.mark.parametrize("profile", ["pbs", "lsf"])
def test_a_refused_submission_is_an_error(profile, environment, tmp_path):
    (tmp_path / "job.sh").write_text("#!/bin/sh\n")
    process = submit(profile, tmp_path / "job.sh", environment, tmp_path, mem_mb="much")
    assert process.returncode != 0 and process.stdout == "" and "does not match" in process.stderr


@pytest.mark.parametrize(
    ("profile", "program", "error", "expected"),
    [
        ("pbs", "qstat", "qstat: cannot connect to server (errno=111)", "running"),
        ("pbs", "qstat", "qstat: PBS is not configured to maintain job history", "PBS keeps no history of its jobs"),
        ("lsf", "bjobs", "LSF is down. Please wait ...", "running"),
    ],
)
def test_an_error_of_the_scheduler_does_not_count_as_a_failed_job(profile, program, error, expected, environment, tmp_path):
    (tmp_path / "programs" / program).write_text(f"#!/bin/sh\necho '{error}' >&2\nexit 255\n")
    assert status(profile, "1.server", environment).startswith(expected)


@needs_plugin
@pytest.mark.parametrize("profile", ["pbs", "lsf"])
def test_with_the_profile_the_smoke_grid_runs_in_one_submission(profile, environment, tmp_path):
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--profile", ROOT / "profiles" / profile]
    polling = ["--latency-wait", "15", "--seconds-between-status-checks", "2"]
    target = ["--configfile", SMOKE, "--", "results/smoke/runs.csv"]
    process = subprocess.run([*command, *polling, *target], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-3000:]
    methods = {path.parts[-3] for path in (tmp_path / "results/smoke/runs").rglob("*.csv")}
    assert methods == set(yaml.safe_load(SMOKE.read_text(encoding="utf-8"))["methods"])
    assert (tmp_path / "results/smoke/runs.csv").is_file()
    assert [path.name for path in (tmp_path / "programs").glob("*.script")] == ["1.script"]
    assert (tmp_path / "programs" / "1.status").read_text() == "0\n"
