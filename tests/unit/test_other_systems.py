"""The library works where Python lacks what only Unix has. A subprocess blocks these modules and functions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # two processes import everything

# Libraries look for some of these when they are loaded, by the name of the system, so they are loaded first.
BLOCK = """
import sys, os, signal
import joblib, multiprocessing, numba, pandas, sklearn.cluster, subprocess, threading, matplotlib.pyplot
for module in ("fcntl", "resource", "grp", "pwd", "termios"):
    sys.modules[module] = None
for owner, names in (
    (os, "fork killpg setsid getpgid getuid geteuid WNOHANG WIFSIGNALED WTERMSIG"),
    (signal, "setitimer SIGALRM SIGPROF SIGKILL SIGHUP ITIMER_REAL ITIMER_PROF pthread_sigmask"),
):
    for name in names.split():
        delattr(owner, name)
"""

TABLE = "sex,age,pay,label\n" + "".join(f"{'fm'[i % 2]},{i % 7 + i % 2},{i * i % 11},{i % 3}\n" for i in range(60))

METHOD = """
from clusterlets.methods import Method

class Halves(Method):
    name = "halves"
    is_random = False

    def fit(self, X, groups, n_clusters, random_state):
        return (X[:, 0] > 3).astype(int)
"""


def run_blocked(code, folder):
    (folder / "people.csv").write_text(TABLE)
    (folder / "halves.py").write_text(METHOD)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", BLOCK + code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_all_estimators_fit_without_what_only_unix_has(tmp_path):
    code = """
import numpy as np, clusterlets
from clusterlets.estimators.base import FairClusterer
X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
classes = [getattr(clusterlets, name) for name in clusterlets.__all__]
classes = [each for each in classes if isinstance(each, type) and issubclass(each, FairClusterer)]
for each in classes:
    (each() if each.__name__ == "MethodClustering" else each(2)).fit(X, sensitive_features=groups)
print(len(classes))
"""
    done = run_blocked(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 12


COMMANDS = """
cluster people.csv --sensitive sex -k 2 --max-deviation 0.1 --save model.json -o labels.csv
assign model.json people.csv -o new.csv
audit people.csv --sensitive sex --labels label
repair people.csv --sensitive sex --labels label --max-deviation 0.1 -o repaired.csv
tune people.csv --sensitive sex -k 2 --minutes 0.02 --methods FRAC
check halves.py
"""


def test_the_commands_work_without_what_only_unix_has_and_say_once_that_no_fit_can_be_stopped(tmp_path):
    code = f"""
from clusterlets.__main__ import main
for line in {COMMANDS.strip()!r}.splitlines():
    status = main(line.split())
    print("ended", line.split()[0], status)
"""
    done = run_blocked(code, tmp_path)
    assert done.returncode == 0, done.stderr
    endings = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ended ")]
    assert [name for name, _ in endings] == [line.split()[0] for line in COMMANDS.strip().splitlines()]
    assert [status for name, status in endings if name != "check"] == ["0"] * 5, done.stdout + done.stderr
    assert done.stderr.count("cannot stop a fit") == 1
    assert "halves: " in done.stdout and "Traceback" not in done.stderr
