"""Trial fits on one table within a time limit: what is tried, in which order, and the result of each."""

import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.limits import largest_deviation
from clusterlets.analysis.leaderboard import spread_positions
from clusterlets.estimators import ClusterletClustering, MethodClustering, fairness_report
from clusterlets.grid.artifacts import OK, TIMEOUT, UNSUPPORTED
from clusterlets.grid.cells import combinations, in_words
from clusterlets.grid.fitting import Fit, Limits, fits
from clusterlets.parameters import SHARES
from clusterlets.tuning.requirement import LIMITED, NEAR_MISS, Requirement

#: Status of a configuration for which no time was left.
NOT_TRIED = "not_tried"
#: Plain k-means: prices are relative to its cost.
REFERENCE = "k-means"
#: Methods that cannot answer the question, with the reason; they are tried only if named.
UNSUITABLE = {
    "B": "its clusters may overlap",
    "D": "its clusters may overlap",
    "fair-lloyd": "it does not look at shares",
    "random": "its clusters are random",
}
#: Share of the whole time that a fit may take, unless it is one of fair-limit.
SHARE = 0.1
#: A configuration that keeps the limit gets more seeds if it costs at most this many times the lowest cost.
_CLOSE = 1.1
_MAX_COMPILING = 600.0  # seconds for the first method to compile: more than any machine needs
_SCORES = ("n_clusters", "smallest", "kmeans_cost")

#: Called before each fit with the number done, the number planned, and in words the next one and the best so far.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Task:
    """A table and what its clusters must keep.

    Attributes
    ----------
    X : float array (n, d)
    sensitive_features : array-like (n,) or (n, S)
    levels : int array (K, S)
        Level of each group in each sensitive column.
    requirement : Requirement
        Limits on the groups of every cluster.
    n_clusters : int
    min_cluster_size : int
    plain_cost : float
        Lowest cost of plain k-means with as many clusters.
    """

    X: np.ndarray
    sensitive_features: Any
    levels: np.ndarray
    requirement: Requirement
    n_clusters: int
    min_cluster_size: int
    plain_cost: float

    def keeps(self, run: Mapping[str, Any], multiple: float = 1.0) -> bool:
        """Whether a run has the requested clusters, within this multiple of the limits."""
        is_complete = run["n_clusters"] == self.n_clusters and run["smallest"] >= self.min_cluster_size
        return bool(is_complete and run["price"] > 0 and run["least_multiple"] <= multiple)


@dataclass(frozen=True)
class Candidate:
    """A method of the registry with values of its parameters."""

    method: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, in_words(self.parameters))))

    def estimator(self, n_clusters: int, seed: int) -> ClusterletClustering | MethodClustering:
        """The unfitted estimator; a matcher returns the configuration with the number of clusters closest to this."""
        if methods.get(self.method).role == "paper":
            return ClusterletClustering(n_clusters=n_clusters, matcher=self.method, random_state=seed, **self.parameters)
        return MethodClustering(self.method, n_clusters, parameters=dict(self.parameters), random_state=seed)


def candidates(names: Sequence[str], task: Task) -> list[Candidate]:
    """The configurations in the order in which they are tried.

    First fair-limit with the limits, plain k-means, and fair-limit with half and twice the limits, for comparison. Then the
    other methods, cheap ones first: with the delta that implies the limits, or a few values of the parameters that trade
    fairness for cost.
    """
    delta = task.requirement.delta(one_row=task.n_clusters / len(task.X))  # of an average cluster
    other_limits = [task.requirement.times(multiple) for multiple in task.requirement.compared().values() if multiple != 1]
    limited = [Candidate(LIMITED, bounds) for bounds in (task.requirement.bounds, *other_limits) if LIMITED in names]
    others = []
    rows, features = task.X.shape
    seconds = {name: methods.get(name)().seconds(rows, features, task.n_clusters) for name in names}
    for name in sorted(set(names) - {LIMITED, REFERENCE}, key=lambda name: (seconds[name], name)):
        parameters = methods.get(name).parameters
        grid = {key: values for key, values in methods.get(name).grid().items() if parameters[key].trades_fairness}
        proportional = {key: [delta] for key, parameter in parameters.items() if parameter.bound is SHARES}
        points = list(combinations(proportional or grid))
        others += [Candidate(name, points[position]) for position in spread_positions(len(points))]
    plan = [*limited[:1], Candidate(REFERENCE, {}), *limited[1:], *others]
    return [_with_size(candidate, task.min_cluster_size) for candidate in plan]


def _with_size(candidate: Candidate, least: int) -> Candidate:
    if least == 1 or "min_cluster_size" not in methods.get(candidate.method).parameters:
        return candidate
    return replace(candidate, parameters={**candidate.parameters, "min_cluster_size": least})


def search(task: Task, plan: Sequence[Candidate], seeds: Sequence[int], end: float, progress: Progress) -> Iterator[dict]:
    """Runs, each as soon as it is done: one seed of every configuration, then more seeds of those that come close.

    A configuration comes close if its first run keeps the limit at a cost near the lowest, or misses the limit by little at a
    lower cost. Each fit runs in a process of its own. At the time ``end`` (of ``time.monotonic``) it is stopped. The first
    method compiles before that time starts to count, so that a new machine does not spend it on that.
    """
    max_seconds = SHARE * max(0.0, end - time.monotonic())
    loaded: set[str] = set()
    runs: list[dict] = []

    def attempt(candidate: Candidate, seed: int, total: int) -> dict:
        nonlocal end
        best = min((run["price"] for run in runs if task.keeps(run)), default=None)
        progress(len(runs), total, f"{candidate}{f'; best so far: {best:.3f} times plain k-means' if best else ''}")
        unsupported = methods.get(candidate.method)().unsupported(len(task.X), len(task.levels))
        fit = Fit(UNSUPPORTED, unsupported) if unsupported else Fit(OK)
        if fit.status == OK and candidate.method not in loaded:
            started = time.monotonic()
            fit = _load(candidate, end if runs else started + _MAX_COMPILING)
            if not runs:
                end += time.monotonic() - started
        if fit.status == OK:
            loaded.add(candidate.method)
            seconds = end - time.monotonic()
            seconds = seconds if candidate.method == LIMITED else min(seconds, max_seconds)
            fit = _within(seconds, lambda seed: scores_of(candidate, task, seed), seed)
        runs.append(row(candidate, task, seed, fit))
        return runs[-1]

    first = []
    for candidate in plan:
        if time.monotonic() >= end:
            return
        first.append((candidate, attempt(candidate, seeds[0], len(plan))))
        yield runs[-1]
    best = min((run["price"] for run in runs if task.keeps(run)), default=math.inf)
    close = [(candidate, run["seconds"]) for candidate, run in first if _is_close(task, candidate, run, best)]
    close.sort(key=lambda pair: (pair[0].method != LIMITED, pair[1]))
    for seed in seeds[1:]:
        for candidate, _ in close:
            if time.monotonic() >= end:
                return
            yield attempt(candidate, seed, len(plan) + (len(seeds) - 1) * len(close))


def _is_close(task: Task, candidate: Candidate, run: Mapping, best: float) -> bool:
    if not methods.get(candidate.method).is_random:
        return False
    if candidate.method == LIMITED and not task.requirement.bounds.items() <= candidate.parameters.items():
        return False
    if task.keeps(run):
        return run["price"] <= _CLOSE * best
    return bool(run["least_multiple"] <= NEAR_MISS and run["price"] < best)


def _load(candidate: Candidate, end: float) -> Fit:
    """Compile what the method needs in a process of its own, and load it here, so that its fits inherit it."""
    X, groups = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2

    def fit(seed: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            replace(candidate, parameters={}).estimator(2, seed).fit(X, sensitive_features=groups)

    outcome = _within(end - time.monotonic(), fit, 0)
    if outcome.status == OK:
        fit(0)
    return outcome


def _within(seconds: float, fit: Callable[[int], Any], seed: int) -> Fit:
    """The outcome of a fit in a process of its own, which ends after so many seconds by the clock."""
    seconds = max(seconds, 0.001)

    def timed(seed: int):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return fit(seed)

    ((_, outcome),) = fits(timed, [seed], Limits())
    was_stopped = outcome.note == f"ended by {signal.SIGALRM.name}"
    return Fit(TIMEOUT, f"stopped after {seconds:.0f} s", seconds=outcome.seconds) if was_stopped else outcome


def scores_of(candidate: Candidate, task: Task, seed: int) -> dict[str, float]:
    """The scores of one fit that the ranking needs; O(n d) apart from the fit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # n_clusters is among the scores
        fitted = candidate.estimator(task.n_clusters, seed).fit(task.X, sensitive_features=task.sensitive_features)
    settings = {"cohesion": False, "silhouette": False, "reference_cost": 0.0}
    report = fairness_report(task.X, fitted.memberships_, task.sensitive_features, **settings)
    counts = report.composition.counts.T
    return {name: report[name] for name in _SCORES} | {
        "deviation_max": float(largest_deviation(counts, task.levels)),
        "least_multiple": task.requirement.least_multiple(counts),
        "assignment_gap": getattr(fitted, "assignment_gap_", math.nan),
    }


def row(candidate: Candidate, task: Task, seed: int | None, fit: Fit) -> dict:
    """A row of the runs; the price is missing where clusters overlap, or are not as many as requested."""
    run: dict[str, Any] = {"method": candidate.method, "parameters": in_words(candidate.parameters), "seed": seed}
    run |= {"status": fit.status, "note": fit.note, "seconds": fit.seconds}
    run |= fit.result or dict.fromkeys((*_SCORES, "deviation_max", "least_multiple", "assignment_gap"), math.nan)
    has_price = run["n_clusters"] == task.n_clusters and task.plain_cost > 0
    run["price"] = run["kmeans_cost"] / task.plain_cost if has_price else math.nan
    if fit.status == OK and math.isnan(run["kmeans_cost"]):
        run["note"] = "clusters overlap"
    elif fit.status == OK and run["n_clusters"] != task.n_clusters:
        run["note"] = f"{run['n_clusters']} clusters"
    return run | {"keeps": task.keeps(run)}
