"""Whatever a fit does, it gets a status and a note, and nothing that it started outlives it, its step or its run."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from processes import family, wait_until

from clusterlets.supervision.fits import Budget, fits
from clusterlets.supervision.program import program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]

# A step that runs three fits. The second one executes the code that the step gets as an argument.
STEP = """
import contextlib, ctypes, os, signal, subprocess, sys, threading, time
import numpy as np
from clusterlets.supervision.fits import Budget, fits
from clusterlets.supervision.processes import adopt_orphans, end_with_run
from clusterlets.methods import get
from clusterlets.methods.interface.running import clusterings

def recurse():
    return recurse()

def fit(seed):
    exec(sys.argv[1] if seed == 1 else "")
    return seed

end_with_run()
adopt_orphans()
print([(outcome.status, outcome.note, outcome.result) for _, outcome in fits(fit, range(3), Budget(*map(float, sys.argv[2:])))])
"""
# A run of one step.
RUN = """
import subprocess, sys
from clusterlets.supervision.processes import begin_run
begin_run()
subprocess.run([sys.executable, "-P", "-c", *sys.argv[1:]])
"""
LEAVE_PROGRAMS = "os.system('sleep 1000 & (setsid sleep 1000 &) ; setsid sleep 1000 &')"
FORK_IN_ITS_OWN_SESSION = "if os.fork() == 0: os.setsid(); time.sleep(1000)"
# In the parent's pipe, these bytes announce an outcome of 256 bytes.
WRITE_TO_ALL_PIPES = """
for end in range(3, 30):
    with contextlib.suppress(OSError):
        os.write(end, bytes([0, 0, 1, 0]))
"""
# The code of a fit, and the status and the note of its run. The budget is 1 s and 400 MB. An endless loop is in test_fitting,
# because on a busy machine it takes more than four times its CPU time by the clock.
DEEDS = {
    "an exception": ("raise ValueError('no luck')", "failed", "ValueError: no luck"),
    "an exit": ("exit('enough')", "failed", "SystemExit: enough"),
    "sleep": ("time.sleep(1000)", "timeout", "stopped after 4 s"),
    "a stop": ("os.kill(os.getpid(), signal.SIGSTOP)", "timeout", "stopped after 4 s"),
    "a program that hangs": (f"{LEAVE_PROGRAMS}; os.system('sleep 1000')", "timeout", "stopped after 4 s"),
    "32 GB": ("np.ones(4 * 10**9)", "out_of_memory", "more than 400 MB"),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", "out_of_memory", "ended by SIGKILL"),
    "os._exit": ("os._exit(0)", "failed", "ended its process"),
    "closed files": ("os.closerange(3, 100)", "failed", "ended its process"),
    "half an outcome": (f"{WRITE_TO_ALL_PIPES}os._exit(0)", "failed", "ended its process"),
    "a segmentation fault": (f"{LEAVE_PROGRAMS}; ctypes.string_at(0)", "failed", "ended by SIGSEGV"),
    "recursion": ("recurse()", "failed", "RecursionError: maximum recursion depth exceeded"),
    "programs in the background": (LEAVE_PROGRAMS, "ok", ""),
    "a thread": ("threading.Thread(target=time.sleep, args=[1000]).start()", "ok", ""),
    "a fork": (FORK_IN_ITS_OWN_SESSION, "ok", ""),
    "a fork, and a segmentation fault": (f"{FORK_IN_ITS_OWN_SESSION}\nctypes.string_at(0)", "failed", "ended by SIGSEGV"),
    "a fork that also returns": ("os.fork()", "ok", ""),
}


@pytest.fixture
def relatives(tmp_path, monkeypatch):
    """The processes that a test starts, and all their descendants."""
    monkeypatch.chdir(tmp_path)
    with family() as members:
        yield members


def start(relatives, code, *arguments, **options):
    environment = os.environ | relatives.environment
    command = [sys.executable, "-P", "-c", code, *arguments]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize(("code", "status", "note"), DEEDS.values(), ids=DEEDS)
def test_whatever_a_fit_does_has_a_status_and_a_note_and_leaves_no_process(relatives, code, status, note):
    with start(relatives, STEP, code, "1", "400") as step:
        output, errors = step.communicate()
        left = relatives.running()
    outcomes = ast.literal_eval(output)
    assert outcomes == [("ok", "", 0), (status, note, 1 if status == "ok" else None), ("ok", "", 2)], errors
    assert left == {}


HANGING_FIT = f"{LEAVE_PROGRAMS}; open('started', 'w'); os.system('sleep 1000')"


@pytest.mark.parametrize("n_signals", [1, 5])  # a killed run sends a signal for each of its threads
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_step_that_is_stopped_leaves_no_process_and_no_temporary_file(relatives, monkeypatch, tmp_path, signum, n_signals):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    # A shell starts background jobs with SIGINT ignored, and their child processes inherit this.
    interruptible = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    with start(relatives, STEP, HANGING_FIT, "1000", "400", **interruptible) as step:
        wait_until(Path("started").exists)
        for _ in range(n_signals):
            step.send_signal(signum)
            time.sleep(0.0005)
        _, errors = step.communicate()
    if n_signals == 1:  # after the step has removed all, the last signals end it as they end any program
        assert step.returncode == {signal.SIGINT: -signum, signal.SIGTERM: 128 + signum}[signum]
        assert errors.count("Traceback") == (signum == signal.SIGINT)
    assert step.returncode != 0
    assert relatives.running() == {} and not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_a_killed_run_leaves_no_process(relatives, kill):
    with start(relatives, RUN, STEP, HANGING_FIT, "1000", "400", start_new_session=True) as run:
        wait_until(Path("started").exists)
        kill(run.pid, signal.SIGKILL)
        relatives.wait_until_gone()


@pytest.mark.parametrize("end", ["", "raise ValueError('no luck')"])
def test_the_command_cluster_leaves_no_process_of_a_method(relatives, end):
    header = "import os\nfrom clusterlets.methods import Method\n\nclass Mine(Method):\n    name = 'mine'\n\n"
    body = f"        {LEAVE_PROGRAMS}\n        {end}\n        return groups\n"
    Path("mine.py").write_text(f"{header}    def fit(self, X, groups, n_clusters, random_state):\n{body}")
    Path("table.csv").write_text("x,group\n1,a\n2,b\n3,a\n4,b\n")
    code = "import sys; from clusterlets.__main__ import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["cluster", "table.csv", "--sensitive", "group", "--method", "mine.py", "-k", "2"]
    with start(relatives, code, *arguments) as command:
        _, errors = command.communicate(timeout=120)
    assert command.returncode == bool(end) and ("no luck" in errors) == bool(end), errors
    assert relatives.running() == {}


def test_a_killed_step_leaves_no_fit(relatives):
    with start(relatives, STEP, "open('started', 'w'); time.sleep(1000)", "1000", "400") as step:
        wait_until(Path("started").exists)
        step.kill()
        relatives.wait_until_gone()


def test_a_program_has_ended_even_if_its_background_process_keeps_its_output_open(relatives):
    command = "awk 'NR == 1 {print \"cluster\"; next} {print NR % 2}' {table} > {labels}; sleep 1000 & echo done >&2"
    X, groups = np.arange(6.0)[:, None], np.arange(6) % 2

    def fit(seed):
        os.environ.update(relatives.environment)
        return program("mine", command)().fit(X, groups, 2, np.random.default_rng(0))

    ((_, outcome),) = fits(fit, [0], Budget(seconds=30))
    assert outcome.status == "ok" and outcome.result.tolist() == [0, 1, 0, 1, 0, 1]
    relatives.wait_until_gone()


def test_a_fit_that_is_stopped_leaves_no_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = "cp {table} kept.csv; sleep 1000 > {labels}"

    def fit(seed):
        os.chdir(tmp_path)
        return program("mine", command)().fit(np.ones((2, 1)), np.arange(2), 2, np.random.default_rng(0))

    ((_, outcome),) = fits(fit, [0], Budget(seconds=0.2))
    assert outcome.status == "timeout" and [path.name for path in tmp_path.iterdir()] == ["kept.csv"]


def test_a_step_starts_only_if_its_run_has_not_ended():
    code = (
        "from clusterlets.supervision.processes import begin_run; begin_run(); import os; print(os.environ['CLUSTERLETS_RUN'])"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    step = "from clusterlets.supervision.processes import end_with_run; end_with_run(); print('started')"
    for run, starts in ((ended, False), ("", True), (str(os.getpid()), True)):
        environment = os.environ | {"CLUSTERLETS_RUN": run}
        process = subprocess.run([sys.executable, "-P", "-c", step], env=environment, capture_output=True, text=True)
        assert process.stdout == ("started\n" if starts else "")
        assert process.stderr == ("" if starts else "The run that started this step has ended.\n")
