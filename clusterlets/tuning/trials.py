"""Trial fits on one table within a time limit."""

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
from clusterlets.grid.cells import combinations, format_nested
from clusterlets.grid.fitting import Budget, Fit, fits
from clusterlets.parameters import SHARES
from clusterlets.tuning.requirement import FAIR_LIMIT, NEAR_MISS, Requirement

#: Status of a configuration that the search did not reach.
NOT_TRIED = "not_tried"
#: Prices are relative to the cost of this method, plain k-means.
REFERENCE = "k-means"
#: Methods that are tried only if the user names them, with the reason.
UNSUITABLE = {
    "B": "its clusters may overlap",
    "D": "its clusters may overlap",
    "fair-lloyd": "it does not look at shares",
    "random": "its clusters are random",
}
#: Share of the whole time that a fit may take. Only fair-limit may take all the time that is left.
_MAX_SHARE_OF_TIME = 0.1
#: A configuration that keeps the limit gets more seeds if it costs at most this many times the lowest cost.
_CLOSE_RATIO = 1.1
_MAX_COMPILE_SECONDS = 600.0  # for the first method
_SCORES = ("n_clusters", "smallest", "kmeans_cost")

#: Called before each fit with the number of finished and of planned fits, and a text on the next fit and the best price so far.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Task:
    """A table, and the limits that its clusters must keep.

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
        Lowest cost of plain k-means with ``n_clusters`` clusters.
    """

    X: np.ndarray
    sensitive_features: Any
    levels: np.ndarray
    requirement: Requirement
    n_clusters: int
    min_cluster_size: int
    plain_cost: float

    def keeps(self, run: Mapping[str, Any], multiple: float = 1.0) -> bool:
        """Whether a run has the requested number of clusters, all large enough, and keeps the limits times ``multiple``."""
        is_complete = run["n_clusters"] == self.n_clusters and run["smallest"] >= self.min_cluster_size
        has_price = run["price"] > 0  # not NaN
        return bool(is_complete and has_price and run["least_multiple"] <= multiple)


@dataclass(frozen=True)
class Candidate:
    """A method of the registry with values of its parameters."""

    method: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, format_nested(self.parameters))))

    def estimator(self, n_clusters: int, seed: int) -> ClusterletClustering | MethodClustering:
        """The unfitted estimator. A matcher searches for the configuration closest to ``n_clusters`` clusters."""
        if methods.get(self.method).is_matcher:
            return ClusterletClustering(n_clusters=n_clusters, matcher=self.method, random_state=seed, **self.parameters)
        return MethodClustering(self.method, n_clusters, parameters=dict(self.parameters), random_state=seed)


def candidates(names: Sequence[str], task: Task) -> list[Candidate]:
    """The configurations, in the order in which they are tried.

    The order is: fair-limit with the limits, plain k-means, fair-limit with half and twice the limits (for comparison), and the
    other methods as ``names`` lists them. A method with a ``delta`` gets the value that implies the limits. Others
    get a few values of the parameters that trade fairness for cost.
    """
    requirement = task.requirement
    delta = requirement.delta(one_row=task.n_clusters / len(task.X))  # share of one row in a cluster of average size
    multiples = [multiple for multiple in requirement.compared_multiples().values() if multiple != 1]
    all_bounds = [requirement.bounds, *map(requirement.scaled_bounds, multiples)]
    fair_limit_candidates = [Candidate(FAIR_LIMIT, bounds) for bounds in all_bounds] if FAIR_LIMIT in names else []
    other_candidates = []
    for name in names:
        if name in (FAIR_LIMIT, REFERENCE):
            continue
        parameters = methods.get(name).parameters
        grid = {key: values for key, values in methods.get(name).grid().items() if parameters[key].trades_fairness}
        delta_grid = {key: [delta] for key, parameter in parameters.items() if parameter.bound is SHARES}
        values = list(combinations(delta_grid or grid))
        other_candidates += [Candidate(name, values[position]) for position in spread_positions(len(values))]
    plan = [*fair_limit_candidates[:1], Candidate(REFERENCE, {}), *fair_limit_candidates[1:], *other_candidates]
    return [_with_min_cluster_size(candidate, task.min_cluster_size) for candidate in plan]


def _with_min_cluster_size(candidate: Candidate, min_cluster_size: int) -> Candidate:
    if min_cluster_size == 1 or "min_cluster_size" not in methods.get(candidate.method).parameters:
        return candidate
    return replace(candidate, parameters={**candidate.parameters, "min_cluster_size": min_cluster_size})


def search(task: Task, plan: Sequence[Candidate], seeds: Sequence[int], end: float, progress: Progress) -> Iterator[dict]:
    """Yield each run as soon as it is done: first one seed of every configuration, then more seeds of those that come close.

    A configuration comes close if its first run keeps the limit at a cost near the lowest, or misses the limit by little at a
    lower cost. Each fit runs in a separate process, which is stopped at the time ``end`` (of ``time.monotonic``). The time that
    the first method takes to compile is added to ``end``.
    """
    max_seconds = _MAX_SHARE_OF_TIME * max(0.0, end - time.monotonic())
    loaded_methods: set[str] = set()
    runs: list[dict] = []

    def fit_candidate(candidate: Candidate, seed: int) -> Fit:
        nonlocal end
        unsupported = methods.get(candidate.method)().unsupported(len(task.X), len(task.levels))
        if unsupported:
            return Fit(UNSUPPORTED, unsupported)
        if candidate.method not in loaded_methods:
            started = time.monotonic()
            loading = _load(candidate, end if runs else started + _MAX_COMPILE_SECONDS)
            if not runs:
                end += time.monotonic() - started
            if loading.status != OK:
                return loading
            loaded_methods.add(candidate.method)
        seconds = end - time.monotonic()
        if candidate.method != FAIR_LIMIT:
            seconds = min(seconds, max_seconds)
        return _fit_within(seconds, lambda seed: scores_of(candidate, task, seed), seed)

    def attempt(candidate: Candidate, seed: int, n_planned: int) -> dict:
        best_price = min((run["price"] for run in runs if task.keeps(run)), default=None)
        best_so_far = f"; best so far: {best_price:.3f} times plain k-means" if best_price else ""
        progress(len(runs), n_planned, f"{candidate}{best_so_far}")
        runs.append(row(candidate, task, seed, fit_candidate(candidate, seed)))
        return runs[-1]

    first_runs = []
    for candidate in plan:
        if time.monotonic() >= end:
            return
        first_runs.append((candidate, attempt(candidate, seeds[0], len(plan))))
        yield runs[-1]
    best_price = min((run["price"] for run in runs if task.keeps(run)), default=math.inf)
    close_candidates = [
        (candidate, run["seconds"]) for candidate, run in first_runs if _is_close(task, candidate, run, best_price)
    ]
    close_candidates.sort(key=lambda pair: (pair[0].method != FAIR_LIMIT, pair[1]))
    for seed in seeds[1:]:
        for candidate, _ in close_candidates:
            if time.monotonic() >= end:
                return
            yield attempt(candidate, seed, len(plan) + (len(seeds) - 1) * len(close_candidates))


def _is_close(task: Task, candidate: Candidate, run: Mapping, best_price: float) -> bool:
    if not methods.get(candidate.method).is_random:
        return False  # every seed would give the same result
    if candidate.method == FAIR_LIMIT and not task.requirement.bounds.items() <= candidate.parameters.items():
        return False  # half or twice the limits, only for comparison
    if task.keeps(run):
        return run["price"] <= _CLOSE_RATIO * best_price
    return bool(run["least_multiple"] <= NEAR_MISS and run["price"] < best_price)


def _load(candidate: Candidate, end: float) -> Fit:
    """Compile the method's code in a separate process, then load it in this one, so that all fits inherit it."""
    X, groups = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2

    def fit(seed: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            replace(candidate, parameters={}).estimator(2, seed).fit(X, sensitive_features=groups)

    outcome = _fit_within(end - time.monotonic(), fit, 0)
    if outcome.status == OK:
        fit(0)
    return outcome


def _fit_within(seconds: float, fit: Callable[[int], Any], seed: int) -> Fit:
    """The outcome of a fit in a separate process, which is stopped after ``seconds`` of wall time."""
    seconds = max(seconds, 0.001)

    def fit_with_alarm(seed: int):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # without a handler, the signal ends the process
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return fit(seed)

    ((_, outcome),) = fits(fit_with_alarm, [seed], Budget())
    was_stopped = outcome.note == f"ended by {signal.SIGALRM.name}"
    return Fit(TIMEOUT, f"stopped after {seconds:.0f} s", seconds=outcome.seconds) if was_stopped else outcome


def scores_of(candidate: Candidate, task: Task, seed: int) -> dict[str, float]:
    """Fit a candidate, and return the scores that the ranking needs. O(n d) besides the fit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # about too few clusters, which the scores show too
        fitted = candidate.estimator(task.n_clusters, seed).fit(task.X, sensitive_features=task.sensitive_features)
    report_options = {"cohesion": False, "silhouette": False, "reference_cost": 0.0}  # no scores that the ranking ignores
    report = fairness_report(task.X, fitted.memberships_, task.sensitive_features, **report_options)
    counts = report.composition.counts.T
    return {name: report[name] for name in _SCORES} | {
        "deviation_max": float(largest_deviation(counts, task.levels)),
        "least_multiple": task.requirement.least_multiple(counts),
        "assignment_gap": getattr(fitted, "assignment_gap_", math.nan),
    }


def row(candidate: Candidate, task: Task, seed: int | None, fit: Fit) -> dict:
    """The row of a run. The price is NaN unless the run gave the requested number of disjoint clusters."""
    run: dict[str, Any] = {"method": candidate.method, "parameters": format_nested(candidate.parameters), "seed": seed}
    run |= {"status": fit.status, "note": fit.note, "seconds": fit.seconds}
    run |= fit.result or dict.fromkeys((*_SCORES, "deviation_max", "least_multiple", "assignment_gap"), math.nan)
    has_price = run["n_clusters"] == task.n_clusters and task.plain_cost > 0
    run["price"] = run["kmeans_cost"] / task.plain_cost if has_price else math.nan
    if fit.status == OK and math.isnan(run["kmeans_cost"]):
        run["note"] = "clusters overlap"
    elif fit.status == OK and run["n_clusters"] != task.n_clusters:
        run["note"] = f"{run['n_clusters']} clusters"
    return run | {"keeps": task.keeps(run)}
