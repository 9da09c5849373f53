"""Trial fits of every method on one table within a time limit: the candidates, their order, and the result of each."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import load_kernels
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.analysis.leaderboard import spread_positions
from clusterlets.estimators import ClusterletClustering, MethodClustering, fairness_report
from clusterlets.grid.artifacts import CROSSED, OK, UNSUPPORTED
from clusterlets.grid.cells import combinations, format_parameters
from clusterlets.grid.fitting import Fit, Limits, fits
from clusterlets.grid.prices import add_prices

#: Status of a fit for which no time was left, or whose configuration crossed a limit with an earlier seed.
NOT_TRIED = "not_tried"
#: Its note in the first case.
TIME_OVER = "the time was over"
#: Its note where the fits were interrupted.
INTERRUPTED = "interrupted"
#: Plain k-means: prices of fairness are relative to its cost.
REFERENCE = "k-means"
#: Share of the whole time that a single fit may take.
SHARE = 0.1
#: Seconds of CPU time for compiling a method and fitting a small table.
LOADING = 120.0

_TABLE = "table"  # the name of the one dataset
_SCORES = ("n_clusters", "deviation_max", "delta_min", "weighted_deviation", "balance", "overlap", "kmeans_cost")

#: Called before each configuration with the number done, the total number, and the next one in words.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Candidate:
    """A method of the registry with values of its parameters."""

    method: str
    parameters: Mapping[str, Any]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, format_parameters(self.parameters))))

    def estimator(self, n_clusters: int, seed: int) -> ClusterletClustering | MethodClustering:
        """The unfitted estimator; a matcher returns the configuration with the number of clusters closest to this."""
        if methods.get(self.method).role == "paper":
            return ClusterletClustering(n_clusters=n_clusters, matcher=self.method, random_state=seed, **self.parameters)
        return MethodClustering(self.method, n_clusters, parameters=dict(self.parameters), random_state=seed)


def candidates(names: Sequence[str], rows: int, features: int, n_clusters: int) -> list[Candidate]:
    """The methods with grid values of the parameters that trade fairness for cost; cheap methods first.

    At most as many per method as in the leaderboard.
    """
    chosen_candidates = []
    for name in sorted(names, key=lambda name: (methods.get(name)().seconds(rows, features, n_clusters), name)):
        parameters = methods.get(name).parameters
        grid = {
            parameter: values for parameter, values in methods.get(name).grid().items() if parameters[parameter].trades_fairness
        }
        points = list(combinations(grid))
        chosen_candidates += [Candidate(name, points[place]) for place in spread_positions(len(points))]
    return chosen_candidates


def trial_runs(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    candidates: Sequence[Candidate],
    seeds: Sequence[int],
    seconds: float,
    progress: Progress,
) -> list[dict]:
    """One row per candidate and seed, with status and scores; rows with a cost have a price.

    Every fit runs in its own process (:mod:`clusterlets.grid.fitting`), with a limit on CPU time of :data:`SHARE` of the
    seconds, or of what is left of them. The clock starts once every method is loaded; no candidate starts after the end, or
    after a KeyboardInterrupt.
    """
    load_kernels()
    _compile_methods(candidates, progress)
    end = time.monotonic() + seconds
    trials = {(place, seed): Fit(NOT_TRIED, INTERRUPTED) for place in range(len(candidates)) for seed in seeds}
    with suppress(KeyboardInterrupt):
        for place, candidate in enumerate(candidates):
            progress(place, len(candidates), str(candidate))
            for seed, fit in _fits(X, groups, n_clusters, candidate, seeds, end, SHARE * seconds):
                trials[place, seed] = fit
    progress(len(candidates), len(candidates), "")
    rows = []
    for (place, seed), fit in trials.items():
        row = {"dataset": _TABLE, "k": n_clusters, "method": candidates[place].method, "matcher": None, "seed": seed}
        row |= {"parameters": format_parameters(candidates[place].parameters), "status": fit.status, "note": fit.note}
        rows.append(row | {"seconds": fit.seconds} | (fit.result or dict.fromkeys(_SCORES, np.nan)))
    with_cost = [row for row in rows if not np.isnan(row["kmeans_cost"])]
    sizes = {int(row["n_clusters"]) for row in with_cost}
    add_prices(with_cost, {_TABLE: {size: least_plain_cost(X, size) for size in sizes if size > 1}})
    for row in rows:
        row.setdefault("price_of_fairness", np.nan)
    return rows


def _compile_methods(candidates: Sequence[Candidate], progress: Progress) -> None:
    """Fit each method once on a small artificial table, so that its code is compiled and loaded before the fits fork.

    On a new machine this takes up to half a minute, which must not count as a fit's time. Each method is compiled in its own
    process first, as it may be a user's and may never return; only methods that finished there are loaded here. A method that
    cannot fit the small table is reported when it fits the actual one.
    """
    X, groups = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    for candidate in {candidate.method: candidate for candidate in candidates}.values():
        progress(0, len(candidates), f"{candidate.method} is loaded")
        load = partial(scores_of, candidate, X, groups, 2)
        ((seed, fit),) = fits(load, [0], Limits(seconds=LOADING))
        if fit.status == OK:
            load(seed)


def _fits(X, groups, n_clusters, candidate, seeds, end: float, longest: float) -> Iterator[tuple[int, Fit]]:
    """The fit of every seed; a single one if the method is not random. After a crossed limit no further seed is tried."""
    method = methods.get(candidate.method)
    unsupported = method().unsupported(len(X), int(groups.max()) + 1)
    if unsupported:
        yield from ((seed, Fit(UNSUPPORTED, unsupported)) for seed in seeds)
        return
    fit: Fit | None = None
    for seed in seeds:
        left = end - time.monotonic()
        if fit and fit.status in (*CROSSED, NOT_TRIED):
            fit = Fit(NOT_TRIED, fit.note if fit.status == NOT_TRIED else f"seed {seeds[0]}: {fit.status}")
        elif left <= 0:
            fit = Fit(NOT_TRIED, TIME_OVER)
        elif fit is None or method.is_random:
            limits = Limits(seconds=min(longest, left))
            ((_, fit),) = fits(lambda seed: scores_of(candidate, X, groups, n_clusters, seed), [seed], limits)
        yield seed, fit


def scores_of(candidate: Candidate, X: np.ndarray, groups: np.ndarray, n_clusters: int, seed: int) -> dict[str, float]:
    """The scores of one fit that the ranking needs; O(n d) besides the fit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # n_clusters in the scores tells
        fitted = candidate.estimator(n_clusters, seed).fit(X, sensitive_features=groups)
    settings = {"cohesion": False, "silhouette": False, "reference_cost": 0.0}
    report = fairness_report(X, fitted.memberships_, groups, **settings)
    return {name: report[name] for name in _SCORES}
