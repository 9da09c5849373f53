"""What limits on the groups of every cluster cost, for each number of clusters: :func:`tune`."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.groups import column_names, encode
from clusterlets.estimators.inputs import InvalidInput, check_numbers, check_whole
from clusterlets.extras import optional
from clusterlets.methods.fair_limit import FairLimit
from clusterlets.parameter_text import format_nested

with optional():  # needs pandas: the path is a DataFrame
    import pandas as pd

    from clusterlets.tuning import hints, recommendation
    from clusterlets.tuning.path import REFERENCE, Progress, Run, Step, Task, plan, walk

__all__ = ["Tuned", "tune"]

#: By default, two to so many clusters are tried.
MOST_CLUSTERS = 10
COLUMNS = [
    *("method", "parameters", "limit", "k", "deviation", "price", "sse", "smallest", "keeps", "seconds", "status", "note"),
]


class Tuned:
    """The result of :func:`tune`.

    Attributes
    ----------
    path : DataFrame
        One row for each limit and number of clusters, then one for plain k-means, then other methods. docs/choosing.md
        explains the columns.
    best : Run
        The recommended run: the cheapest fit with the requested limit or, if it has no result, the run with the smallest
        deviation. Of several numbers of clusters, the one with the highest silhouette is recommended.
    labels : int array (n,)
        The clusters of the recommended run.
    seed : int
        Of all fits.
    silhouettes : dict of int to float
        The silhouette of the best run with each number of clusters, estimated from a sample of rows.
    interrupted : bool
        Whether Ctrl-C ended the walk early.
    """

    def __init__(self, task: Task, runs: Sequence[Run], seed: int, interrupted: bool):
        self.task, self.runs, self.seed, self.interrupted = task, runs, seed, interrupted
        self.numbers_of_clusters = sorted({run.n_clusters for run in runs})
        best_runs = sorted((run for run in runs if run.fitted is not None), key=lambda run: run.n_clusters)
        if not best_runs:
            notes = ", ".join(dict.fromkeys(run.note or run.status for run in runs if run.step is task.asked))
            raise InvalidInput(f"No fit has a result ({notes}), so nothing can be recommended: allow more minutes.")
        self.silhouettes = {run.n_clusters: hints.silhouette(task.X, run.fitted.labels_, seed) for run in best_runs}
        self.best = min(best_runs, key=lambda run: (not run.is_asked(task), -self.silhouettes[run.n_clusters]))
        self.labels = self.best.fitted.labels_
        self.path = self._path()

    def reference(self, n_clusters: int) -> Run:
        """The run of plain k-means."""
        return next(run for run in self.runs if run.method == REFERENCE and run.n_clusters == n_clusters)

    def price(self, run: Run) -> float:
        """The cost of a run, divided by that of plain k-means with as many clusters; NaN if one of them is missing or 0."""
        plain_cost = self.reference(run.n_clusters).sse
        return run.sse / plain_cost if plain_cost > 0 else np.nan

    def cheapest(self, n_clusters: int, step: Step) -> Run | None:
        """The cheapest run of fair-limit that keeps the limits of a step; None if no fit with these limits has a result.

        For the requested limits, it is a fit with them. For others, it may be one with stricter limits.
        """
        runs = [run for run in self.runs if run.step and run.n_clusters == n_clusters and run.counts is not None]
        own = [run for run in runs if run.step is step]
        keeping = own if step is self.task.asked else runs if own else []
        return min((run for run in keeping if run.keeps(self.task, step)), key=lambda run: run.sse, default=None)

    def _path(self) -> pd.DataFrame:
        rows = []
        for k in self.numbers_of_clusters:
            own = {id(run.step): run for run in reversed(self.runs) if run.n_clusters == k and run.step}
            rows += [self._row(own[id(step)], self.cheapest(k, step), step.limit) for step in self.task.path]
            rows.append(self._row(self.reference(k), self.reference(k)))
        rows += [self._row(run, run) for run in self.runs if not run.step and run.method != REFERENCE]
        return pd.DataFrame(rows, columns=COLUMNS)

    def _row(self, run: Run, clusters: Run | None, limit: float | str | None = None) -> list:
        """A row about a run, whose clusters are those of another run if that one is cheaper, or has a result at all."""
        clusters = clusters or run
        run = clusters if run.counts is None else run
        numbers = [round(number, 6) for number in (clusters.deviation, self.price(clusters), clusters.sse)]
        smallest = np.nan if clusters.counts is None else clusters.counts.sum(axis=0).min()
        keeps = clusters.keeps(self.task, self.task.asked)
        names = [run.method, format_nested(clusters.parameters), limit, run.n_clusters]
        return [*names, *numbers, smallest, keeps, round(run.seconds, 3), run.status, run.note]

    def estimator(self):
        """The estimator of the recommended run, not yet fitted: a :class:`clusterlets.FairLimit`, unless no such run counts."""
        return self.best.estimator(self.seed)

    def recommendation(self) -> str:
        """A text: what to use, what each limit costs, hints on the choice of both, and warnings."""
        return recommendation.sentences(self)

    def plot(self, path: str | None = None):
        """Plot the price against the limit, with a line for each number of clusters.

        If ``path`` is given, the figure is also written to this PNG, PDF or SVG file.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingExtra
            Without matplotlib.
        """
        with optional():
            from matplotlib import pyplot

            from clusterlets.pages.saving import write
            from clusterlets.tuning.picture import draw

        figure = draw(self)
        pyplot.close(figure)  # otherwise pyplot would keep the figure in memory
        if path is not None:
            write(figure, path, dpi=200)
        return figure


def tune(
    X,
    *,
    sensitive_features,
    n_clusters: int | Sequence[int] | None = None,
    max_deviation: float | Mapping[str, float] | None = None,
    min_cluster_size: int = 1,
    shares: Mapping | None = None,
    min_ratio: float | None = None,
    minutes: float = 2.0,
    other_methods: Sequence[str] = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> Tuned:
    """Find out what each limit costs, for each number of clusters. Ctrl-C ends the walk and returns what is finished.

    fair-limit runs with the requested limit first, then with limits from 0.005 to 0.2.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances, as finite numbers. Scale features with different units first.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.FairLimit.fit`.
    n_clusters : int or sequence of int
        Numbers of clusters, each at least 2; by default 2 to 10.
    max_deviation : float or mapping of str to float
        The requested limit, from 0 to 1, on the difference between a group's share in a cluster and in the table; by default
        0.02. It holds for each sensitive column. A mapping gives every column its own limit; then no other limits are tried.
    min_cluster_size : int
        Smallest number of rows in a cluster.
    shares, min_ratio
        Other kinds of limits, instead of ``max_deviation``. :class:`clusterlets.FairLimit` explains them. No other limits are
        tried.
    minutes : float
        Wall time for all fits together, without compiling. Fits get shares of it. A fit still running at the end is stopped.
    other_methods : sequence of str
        Methods to compare with, by their names in :func:`clusterlets.methods.names`.
    random_state : int
        Seed of all fits.
    progress : callable or None
        Called before each fit with the number of finished fits, the number of planned fits, and a text on the next fit.

    Returns
    -------
    Tuned
        With ``path``, ``recommendation()``, ``labels``, ``estimator()`` and ``plot()``.

    Raises
    ------
    InvalidInput
        If an argument is out of range, if the estimators would refuse the data, or if no fit has a result in time.
    ClusterletsError
        If ``other_methods`` contains a name that no method has.
    """
    if isinstance(minutes, str) or not 0 < minutes < np.inf:
        raise InvalidInput(f"minutes={minutes!r} is not a number above 0.")
    check_whole("min_cluster_size", min_cluster_size, 1)
    check_whole("random_state", random_state, 0)
    check_same_index(X=X, sensitive_features=sensitive_features)
    check_numbers(X)
    X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2)
    if n_clusters is None:
        n_clusters = range(2, min(MOST_CLUSTERS, len(X)) + 1)
    numbers_of_clusters = list(dict.fromkeys(n_clusters)) if isinstance(n_clusters, Sequence | range) else [n_clusters]
    if not numbers_of_clusters:
        raise InvalidInput("n_clusters is empty: give at least one number of clusters.")
    for k in numbers_of_clusters:
        check_whole("n_clusters", k, 2)
        if k > len(X):
            raise InvalidInput(f"n_clusters={k} is more than n_samples={len(X)}: ask for fewer clusters.")
    groups, classes = encode(sensitive_features, len(X))
    columns = dict(zip(column_names(sensitive_features), np.atleast_2d(classes.T).tolist(), strict=True))
    bounds = {"max_deviation": max_deviation, "shares": shares, "min_ratio": min_ratio}
    bounds = {name: value for name, value in bounds.items() if value is not None} or {"max_deviation": 0.02}
    faults = FairLimit().faults(2, **bounds)
    if faults:
        raise InvalidInput(f"{faults[0]}.")
    names = [methods.get(name).name for name in other_methods]
    task = Task.of(X, sensitive_features, groups, columns, bounds, min_cluster_size)
    runs, interrupted = plan(task, numbers_of_clusters, names), False
    try:
        walk(task, runs, random_state, minutes, progress or (lambda done, total, description: None))
    except KeyboardInterrupt:
        interrupted = True
    return Tuned(task, runs, random_state, interrupted)
