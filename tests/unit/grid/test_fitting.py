"""Fits have limits of time and memory, and whatever a method does affects only its own run."""

import faulthandler
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.grid import fitting
from clusterlets.grid.fitting import Limits, fits
from clusterlets.methods import clusterings, get

LOW_LIMITS = Limits(seconds=1, memory_mb=400)


def outcome_of(fit, limits=LOW_LIMITS):
    """The outcome of a fit that runs between two that succeed."""
    outcomes = dict(fits(lambda seed: fit() if seed == 1 else np.full(3, seed), range(3), limits))
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
    own_mb = pages * os.sysconf("SC_PAGE_SIZE") / 1e6  # memory of this process, from which the fit is forked
    (_, first), (_, second) = fits(busy, [3, 4], Limits())
    assert first.result == {"seed": 3, "sum": 2e7} and second.result["seed"] == 4
    # The array of ones takes 160 MB.
    assert 0.2 <= first.seconds < 1 and 155 < first.memory_mb < own_mb + 250


def test_an_endless_fit_is_stopped_with_its_child_processes():
    start = time.perf_counter()
    stopped = outcome_of(lambda: os.system("sleep 4321"))
    # Without CPU time, the clock stops it: after PATIENCE times 1 s.
    assert (stopped.status, stopped.note, stopped.result) == ("timeout", "stopped after 4 s", None)
    assert time.perf_counter() - start < 15
    assert subprocess.run(["pgrep", "-f", "sleep 4321"], check=False, capture_output=True).returncode == 1


def test_a_fit_is_stopped_by_its_cpu_time_and_not_by_the_clock_or_a_handler_of_its_parent(monkeypatch):
    monkeypatch.setattr(fitting, "PATIENCE", 100)  # on a busy machine, a second of CPU time may take long
    former_handler = signal.signal(signal.SIGPROF, lambda *_: None)  # as a profiler sets it

    def wait():
        time.sleep(1.5)
        return np.zeros(3)

    assert outcome_of(wait).status == "ok"
    stopped = outcome_of(lambda: sum(iter(int, 1)))
    signal.signal(signal.SIGPROF, former_handler)
    assert (stopped.status, stopped.note, stopped.seconds) == ("timeout", "stopped after 1 s of CPU time", 1)


def test_the_cpu_time_of_child_processes_counts():
    def fit():
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"], check=True)
        return np.zeros(3)

    finished = outcome_of(fit)
    assert finished.status == "ok" and finished.seconds > 0.05


def test_the_note_of_an_exception_is_its_last_line(capfd):
    def fit():
        raise ValueError("first line\nlast line")

    failed = outcome_of(fit)
    assert (failed.status, failed.note) == ("failed", "last line")
    assert "in fit" in capfd.readouterr().err  # the log has the traceback


@pytest.mark.parametrize(
    ("fit", "status", "note"),
    [
        (lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGSEGV)), "failed", "ended by SIGSEGV"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "out_of_memory", "ended by SIGKILL"),
        (lambda: os.kill(os.getppid(), signal.SIGKILL) or time.sleep(1000), "out_of_memory", "ended by SIGKILL"),
        (lambda: np.ones(10**9), "out_of_memory", "more than 400 MB"),
        (lambda: os._exit(0), "failed", "ended its process"),
        (lambda: exit("enough"), "failed", "SystemExit: enough"),
    ],
)
def test_a_crash_ends_only_its_own_fit_and_becomes_a_status(fit, status, note):
    crashed = outcome_of(fit)
    assert (crashed.status, crashed.note) == (status, note)


@pytest.mark.parametrize("pieces", [["begins ", "x" * 100_000_000, " ends"], ["short"], ["a line\n"], []])
def test_a_long_output_is_cut_and_ends_with_a_line_break(capfd, pieces):
    def fit(seed):
        for piece in pieces:
            print(piece, end="")
        os.system("echo of a program >&2")

    ((_, finished),) = fits(fit, [0], Limits())
    out, err = capfd.readouterr()
    assert finished.status == "ok" and not out and err.endswith("\n") and len(err) < 101_000
    assert "of a program\n" in err and all(piece in err for piece in pieces if len(piece) < 1000)
    assert ("bytes of output are left out" in err) == (len(pieces) == 3)


def test_no_fit_sees_what_earlier_fits_changed():
    state = []

    def fit(seed):
        state.append(seed)
        return list(state)

    assert [outcome.result for _, outcome in fits(fit, range(3), LOW_LIMITS)] == [[0], [1], [2]]


def test_threads_may_fit_at_the_same_time_and_fits_may_be_nested():
    def outcomes(depth):
        return [
            (outcome.status, outcome.result)
            for _, outcome in fits(lambda seed: outcomes(depth - 1) if depth else seed, [3], LOW_LIMITS)
        ]

    with ThreadPoolExecutor(8) as threads:
        for nested in threads.map(outcomes, [2] * 24):
            assert nested == [("ok", [("ok", [("ok", 3)])])]


def test_finished_and_closed_fits_leave_no_process():
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text(encoding="ascii")
    list(fits(lambda seed: np.zeros(2), range(5), LOW_LIMITS))
    assert children.read_text(encoding="ascii") == before
    running = fits(lambda seed: np.zeros(2), range(5), LOW_LIMITS)
    next(running)
    assert children.read_text(encoding="ascii") != before
    running.close()  # as when a loop over the fits is left early
    assert children.read_text(encoding="ascii") == before


def test_clusterings_are_recoded_without_gaps_or_empty_clusters_and_named_by_output():
    by_name = clusterings(get("k-means"), [5, 2.0, 5, 9], 4)
    assert list(by_name) == ["k-means"] and by_name["k-means"].tolist() == [1, 0, 1, 2] and by_name["k-means"].dtype == np.int64
    memberships = clusterings(get("random"), np.array([[1, 0, 0], [1, 0, 1]], dtype=bool), 2)["random"]
    assert memberships.tolist() == [[True, False], [True, True]]
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

    outcomes = [outcome.result for _, outcome in fits(fit, range(120), LOW_LIMITS, stateless=stateless)]
    # A process makes at most 50 stateless fits.
    assert len({pid for pid, _ in outcomes}) == (3 if stateless else 120)
    assert {n_calls for _, n_calls in outcomes} == (set(range(1, 51)) if stateless else {1})


@pytest.mark.parametrize("end_process", [lambda: os._exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_stateless_fit_that_ends_its_process_loses_only_its_own_run(end_process):
    def fit(seed):
        return seed if seed % 3 else end_process()

    outcomes = dict(fits(fit, range(7), LOW_LIMITS, stateless=True))
    assert list(outcomes) == list(range(7))
    assert [seed for seed, outcome in outcomes.items() if outcome.status == "ok" and outcome.result == seed] == [1, 2, 4, 5]
    assert len({(outcomes[seed].status, outcomes[seed].note) for seed in (0, 3, 6)}) == 1


@pytest.mark.slow
def test_a_stateless_fit_has_its_own_limit_by_the_clock():
    def fit(seed):
        time.sleep(60 if seed == 3 else 1.5)  # The limit is 4 s.

    statuses = [outcome.status for _, outcome in fits(fit, range(5), LOW_LIMITS, stateless=True)]
    assert statuses == ["ok", "ok", "ok", "timeout", "ok"]
