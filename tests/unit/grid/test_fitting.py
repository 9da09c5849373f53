"""Fits under limits: whatever a method does, it costs its own run alone."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.grid.fitting import Limits, fits
from clusterlets.methods import Method, clusterings, get

QUICK = Limits(seconds=1, memory_mb=400)


def outcome(fit, limits=QUICK):
    """Of a fit that goes wrong, between two that do not."""
    found = dict(fits(lambda seed: fit() if seed == 1 else np.full(3, seed), range(3), limits))
    for seed in (0, 2):
        assert found[seed].status == "ok" and found[seed].result.tolist() == [seed] * 3
    return found[1]


def test_results_and_what_they_took():
    def busy(seed):
        began = time.process_time()
        while time.process_time() < began + 0.2:
            pass
        time.sleep(2)  # which costs nothing
        return {"seed": seed, "sum": float(np.ones(20_000_000).sum())}

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    held = pages * os.sysconf("SC_PAGE_SIZE") / 1e6  # by this process, which the fit branches off
    (_, first), (_, second) = fits(busy, [3, 4], Limits())
    assert first.result == {"seed": 3, "sum": 2e7} and second.result["seed"] == 4
    assert 0.2 <= first.seconds < 2 and 155 < first.memory_mb < held + 250


def test_large_results_come_back_whole():
    ((_, found),) = fits(lambda seed: np.arange(3_000_000), [0], QUICK)
    assert np.array_equal(found.result, np.arange(3_000_000))


def test_a_fit_that_does_not_end_is_stopped_with_what_it_started():
    began = time.perf_counter()
    found = outcome(lambda: os.system("sleep 4321"))
    assert (found.status, found.note, found.result) == ("timeout", "stopped after 4 s", None)
    assert time.perf_counter() - began < 15
    assert subprocess.run(["pgrep", "-f", "sleep 4321"], check=False, capture_output=True).returncode == 1


def test_a_fit_is_stopped_by_its_cpu_time_and_not_by_the_clock():
    def waits():
        time.sleep(1.5)
        return np.zeros(3)

    assert outcome(waits).status == "ok"
    found = outcome(lambda: sum(iter(int, 1)))
    assert (found.status, found.note, found.seconds) == ("timeout", "stopped after 1 s of CPU time", 1)


def test_the_programs_of_a_fit_count():
    def fit():
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"], check=True)
        return np.zeros(3)

    found = outcome(fit)
    assert found.status == "ok" and found.seconds > 0.05


def test_a_fit_that_takes_all_memory_is_stopped():
    found = outcome(lambda: np.ones(10**9))
    assert (found.status, found.note) == ("out_of_memory", "more than 400 MB")


def test_an_exception_is_told_by_its_last_line(capfd):
    def fit():
        raise ValueError("first line\nlast line")

    found = outcome(fit)
    assert (found.status, found.note) == ("failed", "last line")
    assert "in fit" in capfd.readouterr().err  # where it came from is in the log


@pytest.mark.parametrize(
    ("fit", "status", "note"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "failed", "ended by SIGSEGV"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "out_of_memory", "ended by SIGKILL"),
        (lambda: os._exit(0), "failed", "ended its process"),
        (lambda: exit("enough"), "failed", "SystemExit: enough"),
    ],
)
def test_a_crash_is_a_status(fit, status, note):
    found = outcome(fit)
    assert (found.status, found.note) == (status, note)


def test_no_process_is_left_over():
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text(encoding="ascii")
    list(fits(lambda seed: np.zeros(2), range(5), QUICK))
    assert children.read_text(encoding="ascii") == before
    some = fits(lambda seed: np.zeros(2), range(5), QUICK)
    next(some)
    assert children.read_text(encoding="ascii") != before
    some.close()  # as a loop that breaks off does
    assert children.read_text(encoding="ascii") == before


def test_labels_get_codes_without_gaps():
    found = clusterings(get("k-means"), [5, 2.0, 5, 9], 4)
    assert list(found) == ["k-means"] and found["k-means"].tolist() == [1, 0, 1, 2] and found["k-means"].dtype == np.int64


def test_memberships_lose_empty_clusters():
    found = clusterings(get("random"), np.array([[1, 0, 0], [1, 0, 1]], dtype=bool), 2)["random"]
    assert found.tolist() == [[True, False], [True, True]]


def test_several_outputs_have_names_of_their_own():
    found = clusterings(get("FRAC"), {"fair": [0, 1], "nearest": [0, 0]}, 2)
    assert {name: labels.tolist() for name, labels in found.items()} == {"FRAC (fair)": [0, 1], "FRAC (nearest)": [0, 0]}


@pytest.mark.parametrize(
    ("result", "said"),
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
def test_nonsense_is_refused(result, said):
    with pytest.raises(ClusterletsError, match=said):
        clusterings(get("random"), result, 3)


@pytest.mark.parametrize(
    "result", [[0, 1, 2], {"fair": [0, 1, 2]}, {"fair": [0, 0, 1], "nearest": [0, 0, 1], "more": [0, 1, 1]}]
)
def test_other_outputs_than_said_are_refused(result):
    with pytest.raises(ClusterletsError, match="a mapping with fair and nearest"):
        clusterings(get("FRAC"), result, 3)


def test_a_method_without_fit_says_so():
    class Nothing(Method):
        name = "nothing"

    ((_, found),) = fits(lambda seed: Nothing().fit(None, None, 2, None), [0], QUICK)
    assert (found.status, found.note) == ("failed", "NotImplementedError: Nothing has no fit.")
