"""Fits keep a budget of time and memory, and a method affects only its own run."""

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.methods import get
from clusterlets.methods.interface.running import clusterings
from clusterlets.supervision import fits as supervised
from clusterlets.supervision.fits import Budget, fits

LOW_BUDGET = Budget(seconds=1, memory_mb=400)


def outcome_of(fit, budget=LOW_BUDGET):
    """The outcome of a fit that runs between two that succeed."""
    outcomes = dict(fits(lambda seed: fit() if seed == 1 else np.full(3, seed), range(3), budget))
    for seed in (0, 2):
        assert outcomes[seed].status == "ok" and outcomes[seed].result.tolist() == [seed] * 3
    return outcomes[1]


def test_outcomes_report_cpu_time_and_memory():
    def busy(seed):
        start = time.process_time()
        while time.process_time() < start + 0.2:
            pass
        time.sleep(1)  # takes no CPU time
        return {"seed": seed, "sum": float(np.ones(20_000_000).sum())}

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    parent_mb = pages * os.sysconf("SC_PAGE_SIZE") / 1e6  # A fit is forked from this process.
    (_, first), (_, second) = fits(busy, [3, 4], Budget())
    assert first.result == {"seed": 3, "sum": 2e7} and second.result["seed"] == 4
    # The array of ones takes 160 MB.
    assert 0.2 <= first.seconds < 1 and 155 < first.memory_mb < parent_mb + 250


def test_waiting_does_not_count_as_cpu_time(monkeypatch):
    monkeypatch.setattr(supervised, "PATIENCE", 100)

    def wait():
        time.sleep(1.5)
        return np.zeros(3)

    assert outcome_of(wait).status == "ok"


def test_an_endless_computation_is_stopped_even_if_the_parent_handles_the_signal(monkeypatch):
    monkeypatch.setattr(supervised, "PATIENCE", 100)  # On a busy machine, using up a second of CPU time may take long.
    former_handler = signal.signal(signal.SIGPROF, lambda *_: None)  # a handler such as a profiler installs
    stopped = outcome_of(lambda: sum(iter(int, 1)))
    signal.signal(signal.SIGPROF, former_handler)
    assert (stopped.status, stopped.note, stopped.seconds) == ("timeout", "stopped after 1 s of CPU time", 1)


def test_the_cpu_time_of_child_processes_counts():
    def fit():
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"], check=True)
        return np.zeros(3)

    finished = outcome_of(fit)
    assert finished.status == "ok" and finished.seconds > 0.05


def test_the_traceback_of_an_exception_is_in_the_log(capfd):
    def fit():
        raise ValueError("no luck")

    outcome_of(fit)
    assert "in fit" in capfd.readouterr().err


def error_output_of(capfd, texts):
    """The standard error of a fit that prints these texts and runs a program that prints a line."""

    def fit(seed):
        for text in texts:
            print(text, end="")
        os.system("echo output of a program >&2")

    ((_, finished),) = fits(fit, [0], Budget())
    out, err = capfd.readouterr()
    assert finished.status == "ok" and not out
    return err


@pytest.mark.parametrize("printed", ["short", "a line\n", ""])
def test_the_output_of_a_fit_goes_to_standard_error_and_ends_with_a_line_break(capfd, printed):
    err = error_output_of(capfd, [printed])
    assert printed in err and "output of a program\n" in err and err.endswith("\n") and "left out" not in err


def test_the_middle_of_a_long_output_is_left_out(capfd):
    err = error_output_of(capfd, ["begins ", "x" * 100_000_000, " ends"])
    assert "begins " in err and " ends\n" in err and "output of a program\n" in err
    assert "bytes of output are left out" in err and len(err) < 101_000


def test_threads_may_fit_at_the_same_time_and_fits_may_be_nested():
    def nested_fit(depth):
        ((_, outcome),) = fits(lambda seed: nested_fit(depth - 1) if depth else seed, [3], LOW_BUDGET)
        return outcome.status, outcome.result

    with ThreadPoolExecutor(8) as threads:
        for result in threads.map(nested_fit, [2] * 8):
            assert result == ("ok", ("ok", ("ok", 3)))


def test_labels_are_recoded_without_gaps():
    labels = clusterings(get("k-means"), [5, 2.0, 5, 9], 4)["k-means"]
    assert labels.tolist() == [1, 0, 1, 2] and labels.dtype == np.int64


def test_empty_clusters_are_left_out_of_memberships():
    memberships = clusterings(get("random"), np.array([[1, 0, 0], [1, 0, 1]], dtype=bool), 2)["random"]
    assert memberships.tolist() == [[True, False], [True, True]]


def test_the_clusterings_of_a_method_are_named_by_its_outputs():
    by_name = clusterings(get("FRAC"), {"fair": [0, 1], "nearest": [0, 0]}, 2)
    assert {name: labels.tolist() for name, labels in by_name.items()} == {"FRAC (fair)": [0, 1], "FRAC (nearest)": [0, 0]}


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([0, 1], r"labels \(3,\)"),
        ([0, 1, -1], "that of row 2 is -1"),
        ([0, np.nan, 1], "that of row 1 is nan"),
        ([0, 1, 0.5], "that of row 2 is 0.5"),
        ([0, 1, np.inf], "that of row 2 is inf"),
        (["a", "b", "c"], "not of type"),
        ([[0], [1, 2], [3]], "labels"),
        (None, r"not \(\)"),
        (np.ones((3, 2)), "of type bool, not float64"),
        (np.array([[1, 0], [0, 0], [0, 1]], dtype=bool), "row 1 is in no cluster"),
        (np.zeros((3, 0), dtype=bool), "row 0 is in no cluster"),
        ({"fair": [0, 1, 2]}, "labels"),
    ],
)
def test_invalid_clusterings_are_refused(result, message):
    with pytest.raises(ClusterletsError, match=message):
        clusterings(get("random"), result, 3)


@pytest.mark.parametrize("outputs", [(), ("fair",), ("fair", "nearest", "more")])
def test_missing_and_undeclared_outputs_are_refused(outputs):
    with pytest.raises(ClusterletsError, match="a mapping with fair and nearest"):
        clusterings(get("FRAC"), {name: [0, 1, 1] for name in outputs}, 3)


@pytest.mark.parametrize("stateless", [True, False])
def test_fits_share_a_process_only_if_they_are_stateless(stateless):
    calls = []

    def fit(seed):
        calls.append(seed)
        return os.getpid(), len(calls)

    n_fits, max_per_process = (120, 50) if stateless else (6, 1)  # up to 50 stateless fits share a process
    outcomes = [outcome.result for _, outcome in fits(fit, range(n_fits), LOW_BUDGET, stateless=stateless)]
    assert len({pid for pid, _ in outcomes}) == np.ceil(n_fits / max_per_process)
    assert {n_calls for _, n_calls in outcomes} == set(range(1, max_per_process + 1))


@pytest.mark.parametrize("end_process", [lambda: os._exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_stateless_fit_that_ends_its_process_loses_only_its_own_run(end_process):
    def fit(seed):
        return seed if seed % 3 else end_process()

    outcomes = dict(fits(fit, range(7), LOW_BUDGET, stateless=True))
    assert list(outcomes) == list(range(7))
    assert [seed for seed, outcome in outcomes.items() if outcome.status == "ok" and outcome.result == seed] == [1, 2, 4, 5]
    assert len({(outcomes[seed].status, outcomes[seed].note) for seed in (0, 3, 6)}) == 1


@pytest.mark.slow
def test_each_stateless_fit_has_its_own_limit_of_elapsed_time():
    def fit(seed):
        time.sleep(60 if seed == 3 else 1.5)  # The limit is 4 s.

    statuses = [outcome.status for _, outcome in fits(fit, range(5), LOW_BUDGET, stateless=True)]
    assert statuses == ["ok", "ok", "ok", "timeout", "ok"]
