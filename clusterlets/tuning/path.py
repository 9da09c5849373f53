"""The fits of ``tune``: what they run, in which order, and for how long."""

import math
import signal
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.algorithms.limits import exact_fraction, largest_deviation, limit_rows, products
from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.estimators import ClusterletClustering, MethodClustering
from clusterlets.estimators import FairLimit as FairLimitEstimator
from clusterlets.methods.fair_limit import FairLimit
from clusterlets.parameter_text import combinations, format_nested
from clusterlets.supervision.fits import CAN_STOP_FITS, Budget, Fit, fits
from clusterlets.supervision.statuses import OK, TIMEOUT
from clusterlets.text import names_of_groups

#: Status of a fit that the time did not reach.
NOT_TRIED = "not_tried"
#: Plain k-means, whose cost is the unit of all prices.
REFERENCE = "k-means"
_PATH = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # the largest deviations that are visited besides the requested one
#: The parameter of fair-limit with the limit whose clusters a fit starts from too.
START = "start_deviation"
_MIN_GAIN = 1e-9  # labels that cost less by at most this fraction are no better start
_ASKED_WEIGHT = 3  # a fit with the requested limit may take this many times as long as another one

#: Called before each fit with the number of finished and of planned fits, and a text on the next fit.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Step:
    """A step on the path: limits as parameters of fair-limit, and as rows (R, K) of whole numbers."""

    bounds: Mapping[str, Any]
    rows: np.ndarray

    @property
    def limit(self) -> float | str:
        """The largest deviation as a number, or other bounds as a text."""
        (value,) = self.bounds.values()
        is_number = "max_deviation" in self.bounds and not isinstance(value, Mapping)
        return float(exact_fraction(value)) if is_number else format_nested(self.bounds)


@dataclass(frozen=True)
class Task:
    """A table, and the limits that its clusters must keep.

    Attributes
    ----------
    X : float array (n, d)
    sensitive_features : array-like (n,) or (n, S)
    groups : int array (n,)
        Group of each row: the combination of its values.
    names : list of K
        Names of the groups.
    levels : int array (K, S)
        Level of each group in each sensitive column.
    asked : Step
        The requested limits.
    path : list of Step
        All limits that are visited, strictest first.
    min_cluster_size : int
    """

    X: np.ndarray
    sensitive_features: Any
    groups: np.ndarray
    names: Sequence[str]
    levels: np.ndarray
    asked: Step
    path: Sequence[Step]
    min_cluster_size: int

    @classmethod
    def of(cls, X, sensitive_features, groups, columns: Mapping, bounds: Mapping[str, Any], min_cluster_size: int) -> "Task":
        """A task. ``columns`` maps each sensitive column to its value in every group, and ``bounds`` are the requested limits.

        Raises ClusterletsError if fair-limit would refuse the bounds.
        """
        method, totals = FairLimit(), np.bincount(groups)
        method.sensitive_columns = columns

        def step(bounds: Mapping[str, Any]) -> Step:
            limits, levels = method.limits(totals, range(len(totals)), **bounds)
            return Step(bounds, limit_rows(limits, levels, totals))

        asked, (_, levels) = step(bounds), method.limits(totals, range(len(totals)))
        # Only one number for all columns has neighbours.
        others = [] if isinstance(asked.limit, str) else [limit for limit in _PATH if limit != asked.limit]
        path = sorted([asked, *(step({"max_deviation": limit}) for limit in others)], key=lambda step: step.limit)
        names = names_of_groups(zip(*columns.values(), strict=True))
        return cls(X, sensitive_features, groups, names, levels, asked, path, min_cluster_size)


@dataclass
class Run:
    """A fit and its results. They are missing unless it made the requested number of disjoint clusters.

    Attributes
    ----------
    method : str
    parameters : mapping
    n_clusters : int
    step : Step or None
        The limits, of a run of fair-limit.
    status, note : str
    seconds : float
        CPU time.
    counts : int array (K, n_clusters) or None
        Rows of each group in each cluster.
    sse : float
        Sum of squared distances to the means of the clusters.
    deviation : float
        The largest of all clusters.
    fitted : estimator or None
        Only the best run with each number of clusters keeps it.
    """

    method: str
    parameters: Mapping[str, Any]
    n_clusters: int
    step: Step | None = None
    status: str = NOT_TRIED
    note: str = ""
    seconds: float = 0.0
    counts: np.ndarray | None = None
    sse: float = math.nan
    deviation: float = math.nan
    fitted: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, format_nested(self.parameters))))

    def estimator(self, seed: int):
        """The unfitted estimator. A matcher searches for the configuration closest to ``n_clusters`` clusters."""
        if self.method == FairLimit.name:
            return FairLimitEstimator(self.n_clusters, **self.parameters, random_state=seed)
        if methods.get(self.method).is_matcher:
            return ClusterletClustering(n_clusters=self.n_clusters, matcher=self.method, random_state=seed, **self.parameters)
        return MethodClustering(self.method, self.n_clusters, parameters=dict(self.parameters), random_state=seed)

    @property
    def is_cut(self) -> bool:
        """Whether the time ended the search, so that more minutes may lower the cost."""
        return "max_seconds" in self.parameters

    def keeps(self, task: Task, step: Step) -> bool:
        """Whether all clusters keep the limits and are large enough."""
        if self.counts is None or self.counts.sum(axis=0).min() < task.min_cluster_size:
            return False
        return not (products(step.rows, self.counts) > 0).any()

    def is_asked(self, task: Task) -> bool:
        """Whether this is a fit with the requested limits, and keeps them."""
        return self.step is task.asked and self.keeps(task, task.asked)

    def rank(self, task: Task) -> tuple[bool, float]:
        """The least is the best: the cheapest fit with the requested limits, or else the run that deviates least.

        Other runs may keep these limits, but only by chance: rows that join their clusters later would keep other limits.
        """
        is_asked = self.is_asked(task)
        return not is_asked, self.sse if is_asked else self.deviation

    def measure(self, task: Task, labels: np.ndarray) -> None:
        """Set what follows from the labels (n,)."""
        counts = np.zeros((len(task.names), self.n_clusters), dtype=np.int64)
        np.add.at(counts, (task.groups, labels), 1)
        self.counts, self.deviation = counts, float(largest_deviation(counts, task.levels))
        self.sse = float(moments_by_label(task.X, labels, self.n_clusters)[1].sum())


def plan(task: Task, numbers_of_clusters: Sequence[int], other_methods: Sequence[str]) -> list[Run]:
    """The fits in their order: the requested limits, plain k-means, the rest of the path, and then other methods.

    Before the other methods come fits with the requested limit again, for :func:`_has_start`. A method with parameters that
    trade fairness for cost is tried with up to three of their values.
    """

    def run(name: str, n_clusters: int, parameters: Mapping[str, Any], step: Step | None = None) -> Run:
        has_size = task.min_cluster_size > 1 and "min_cluster_size" in methods.get(name).parameters
        size = {"min_cluster_size": task.min_cluster_size} if has_size else {}
        return Run(name, {**parameters, **size}, n_clusters, step)

    def settings(name: str) -> list[Mapping[str, Any]]:
        parameters = methods.get(name).parameters
        grid = {key: values for key, values in methods.get(name).grid().items() if parameters[key].trades_fairness}
        values = list(combinations(grid))
        return [values[position] for position in np.unique(np.linspace(0, len(values) - 1, 3).astype(int))]

    position = task.path.index(task.asked)
    others = [*task.path[position + 1 :], *reversed(task.path[:position])]  # the tighter a limit, the longer its fit may take
    asked_again = {**task.asked.bounds, START: None}
    return [
        *(run(FairLimit.name, k, task.asked.bounds, task.asked) for k in numbers_of_clusters),
        *(run(REFERENCE, k, {}) for k in numbers_of_clusters),
        *(run(FairLimit.name, k, step.bounds, step) for k in numbers_of_clusters for step in others),
        *(run(FairLimit.name, k, asked_again, task.asked) for k in numbers_of_clusters),
        *(run(name, k, setting) for name in other_methods for k in numbers_of_clusters for setting in settings(name)),
    ]


def walk(task: Task, runs: list[Run], seed: int, minutes: float, progress: Progress) -> None:
    """Fit the runs one after the other until the time is over. The time to compile a method does not count.

    Fits with the requested limit again are taken out of the list where no other run gives them a better start.
    """
    try:
        _walk(task, runs, seed, minutes, progress)
    finally:
        runs[:] = [run for run in runs if _has_start(task, run, runs)]


def _walk(task: Task, runs: Sequence[Run], seed: int, minutes: float, progress: Progress) -> None:
    end = time.monotonic() + 60 * minutes
    weights = [_ASKED_WEIGHT if run.step is task.asked else 1 for run in runs]
    compiled: set[str] = set()
    for position, run in enumerate(runs):
        if not _has_start(task, run, runs):
            continue
        progress(position, len(runs), f"{run.n_clusters} clusters, {run}")
        if run.method not in compiled:
            started = time.monotonic()
            _compile(run.method)
            compiled.add(run.method)
            end += time.monotonic() - started
        seconds_left = end - time.monotonic()
        if seconds_left <= 0:
            return
        share = seconds_left * weights[position] / sum(weights[position:])
        if run.method == REFERENCE:
            _fit_plain(task, run, share)
        else:
            _fit_run(task, run, seed, share, seconds_left)
        fitted_runs = [other for other in runs if other.fitted is not None and other.n_clusters == run.n_clusters]
        for other in sorted(fitted_runs, key=lambda other: other.rank(task))[1:]:
            other.fitted = None


def _has_start(task: Task, run: Run, runs: Sequence[Run]) -> bool:
    """Whether there is something to start from, which :func:`plan` left open for a fit with the requested limit again.

    It starts from the limit whose clusters keep the requested one at the least cost, if this is less than without such a start.
    Plain k-means counts as the limit 1.
    """
    if START not in run.parameters or run.parameters[START] is not None:
        return True
    runs = [other for other in runs if other.n_clusters == run.n_clusters and other.keeps(task, task.asked)]
    own_cost = min((other.sse for other in runs if other.step is task.asked), default=math.inf)
    starts = {1 if other.step is None else other.step.limit: other for other in runs if other.step or other.method == REFERENCE}
    limit = min(starts, key=lambda limit: starts[limit].sse, default=None)
    if limit is None or isinstance(limit, str) or starts[limit].sse >= own_cost * (1 - _MIN_GAIN):
        return False
    run.parameters = {**run.parameters, START: limit}
    return True


def _compile(method: str) -> None:
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Run(method, {}, 2).estimator(0).fit(rng.normal(size=(200, 2)), sensitive_features=np.arange(200) % 2)


def _fit_plain(task: Task, run: Run, seconds: float) -> None:
    """Keep the best of many starts of plain k-means. At least one is made, and none begins when the time is over."""
    started, cpu_started, n_starts = time.monotonic(), time.process_time(), number_of_starts(len(task.X))
    for start in range(n_starts):
        trial = Run(run.method, run.parameters, run.n_clusters)
        labels = kmeans_labels(task.X, run.n_clusters, np.random.default_rng(start))
        if labels.max() + 1 < run.n_clusters:
            run.note = f"{labels.max() + 1} distinct rows"
            break
        trial.measure(task, labels)
        if not run.sse <= trial.sse:
            run.counts, run.sse, run.deviation = trial.counts, trial.sse, trial.deviation
        run.note = f"the best of {start + 1} starts"
        if time.monotonic() - started > seconds:
            break
    run.status, run.seconds = OK, time.process_time() - cpu_started


def _fit_run(task: Task, run: Run, seed: int, share: float, seconds_left: float) -> None:
    """Fit in a separate process. fair-limit ends its search after its share of the time; other methods are then stopped."""
    if run.method == FairLimit.name:
        max_seconds = float(f"{share:.3g}")
        run.parameters = {**run.parameters, "max_seconds": max_seconds}
    outcome = _fit_within(seconds_left if run.method == FairLimit.name else share, task, run, seed)
    run.status, run.note, run.seconds = outcome.status, outcome.note, outcome.seconds
    if outcome.result is None:
        return
    fitted, elapsed = outcome.result
    if run.method == FairLimit.name:
        if elapsed >= max_seconds:
            run.note = f"its search ended after {max_seconds:g} s"
        else:  # the time had no influence, so it is not needed to repeat the run
            run.parameters = {name: value for name, value in run.parameters.items() if name != "max_seconds"}
    if fitted.memberships_.sum() > len(task.X):
        run.note = "clusters overlap"
    elif fitted.n_clusters_ != run.n_clusters:
        run.note = f"{fitted.n_clusters_} clusters"
    else:
        run.measure(task, fitted.labels_)
        run.fitted = fitted


def _fit_within(seconds: float, task: Task, run: Run, seed: int) -> Fit:
    """The fitted estimator and its wall time, from a separate process that is stopped after ``seconds`` of wall time."""

    def fit(seed: int) -> tuple[Any, float]:
        if CAN_STOP_FITS:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # without a handler, the signal ends the process
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
        started = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about too few clusters, for example, which the path shows too
            fitted = run.estimator(seed).fit(task.X, sensitive_features=task.sensitive_features)
        return fitted, time.monotonic() - started

    ((_, outcome),) = fits(fit, [seed], Budget())
    was_stopped = CAN_STOP_FITS and outcome.note == f"ended by {signal.SIGALRM.name}"
    return Fit(TIMEOUT, f"stopped after {seconds:.0f} s", seconds=outcome.seconds) if was_stopped else outcome
