"""When a run ends, all processes that it started end too, even those that a program left in the background."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import family, wait_until

from clusterlets.grid.fitting import Limits, fits
from clusterlets.grid.program import program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]

# A fit that starts two programs, one of them in its own session, and waits.
FIT = """
import os, sys
from clusterlets.grid.fitting import Limits, fits

def fit(seed):
    os.system("setsid sleep 1000 & touch started; sleep 1000")

print(*fits(fit, [0, 1], Limits(seconds=None)))
"""
# A step that ends with its run.
STEP = """
import time
from pathlib import Path
from clusterlets.grid.processes import end_with_run
end_with_run()
Path("started").touch()
time.sleep(1000)
"""


@pytest.fixture
def relatives(tmp_path, monkeypatch):
    """The processes that a test starts, and all their descendants. None may be left at the end."""
    monkeypatch.chdir(tmp_path)
    with family() as members:
        yield members


def start(relatives, code, *arguments, **options):
    environment = os.environ | relatives.environment
    return subprocess.Popen([sys.executable, "-P", "-c", code, *arguments], env=environment, **options)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("send_signal", [os.kill, os.killpg])  # A terminal or a scheduler sends it to the whole group.
def test_a_fit_ends_with_the_process_that_started_it(relatives, signum, send_signal):
    # A shell starts background jobs with SIGINT ignored, and their child processes inherit this.
    interruptible = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    with start(relatives, FIT, start_new_session=True, stderr=subprocess.PIPE, text=True, **interruptible) as process:
        wait_until(Path("started").exists)
        send_signal(process.pid, signum)
        errors = process.stderr.read()
    assert process.returncode == -signum
    assert errors == "" or (signum == signal.SIGINT and errors.count("Traceback") == 1 and "KeyboardInterrupt" in errors)
    relatives.wait_until_gone()


@pytest.mark.parametrize("seconds", [0.2, None])
def test_background_processes_of_a_program_end_with_its_fit(relatives, monkeypatch, seconds):
    for name, value in relatives.environment.items():
        monkeypatch.setenv(name, value)
    before = set(relatives.running())

    def fit(seed):
        os.system("setsid sleep 1000 > /dev/null 2>&1 & (setsid sleep 1000 &)")
        if seconds:
            os.system("sleep 1000")

    for _, outcome in fits(fit, range(2), Limits(seconds=seconds)):
        assert outcome.status == ("timeout" if seconds else "ok")
        # Only the keeper of the fits, a child of this process, is left.
        children = set(map(int, Path("/proc/thread-self/children").read_text().split()))
        assert set(relatives.running()) - before <= children, relatives.running()
    relatives.wait_until_gone()


def test_a_program_has_ended_even_if_its_background_process_keeps_its_output_open(relatives):
    command = "awk 'NR == 1 {print \"cluster\"; next} {print NR % 2}' {table} > {labels}; sleep 1000 & echo done >&2"
    X, groups = np.arange(6.0)[:, None], np.arange(6) % 2

    def fit(seed):
        os.environ.update(relatives.environment)
        return program("mine", command)().fit(X, groups, 2, np.random.default_rng(0))

    ((_, outcome),) = fits(fit, [0], Limits(seconds=30))
    assert outcome.status == "ok" and outcome.result.tolist() == [0, 1, 0, 1, 0, 1]
    relatives.wait_until_gone()


def test_a_fit_that_is_stopped_leaves_no_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = "cp {table} kept.csv; sleep 1000 > {labels}"

    def fit(seed):
        os.chdir(tmp_path)
        return program("mine", command)().fit(np.ones((2, 1)), np.arange(2), 2, np.random.default_rng(0))

    ((_, outcome),) = fits(fit, [0], Limits(seconds=0.2))
    assert outcome.status == "timeout" and [path.name for path in tmp_path.iterdir()] == ["kept.csv"]


def test_a_step_whose_run_has_ended_does_not_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("step.py").write_text(STEP)
    code = "import os, clusterlets.grid.processes as p; p.open_lifeline(); print(os.environ['CLUSTERLETS_LIFELINE'])"
    lifeline = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    environment = os.environ | {"CLUSTERLETS_LIFELINE": lifeline}
    step = subprocess.run([sys.executable, "-P", "step.py"], env=environment, capture_output=True, text=True)
    assert step.returncode == 1 and step.stderr == "The run that started this step has ended.\n"
    assert not Path("started").exists()


def test_a_step_without_a_run_or_with_a_run_on_another_machine_is_not_stopped():
    code = "from clusterlets.grid.processes import end_with_run; end_with_run(); print('not stopped')"
    for lifeline in ("", "1:2:another-machine", "1:2:"):
        environment = os.environ | {"CLUSTERLETS_LIFELINE": lifeline}
        step = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert step.stdout == "not stopped\n"
