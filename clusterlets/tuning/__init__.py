"""Which method suits a table: the best clustering known within a limit, and what it is compared with (:func:`tune`)."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.estimators.groups import encode
from clusterlets.estimators.inputs import InvalidInput, check_whole, naming_text
from clusterlets.extras import optional
from clusterlets.grid.cells import in_words
from clusterlets.grid.fitting import Fit

with optional():  # tune returns a frame
    import pandas as pd

    from clusterlets.analysis import leaderboard
    from clusterlets.tuning import recommendation, trials
    from clusterlets.tuning.requirement import Requirement
    from clusterlets.tuning.trials import REFERENCE, Candidate, Progress, Task

__all__ = ["Tuned", "tune"]

#: Columns of :class:`Tuned`, in this order.
COLUMNS = [
    *("method", "role", "parameters", "seed", "keeps", "price", "deviation_max", "smallest", "n_clusters", "kmeans_cost"),
    *("assignment_gap", "runs", "kept", "price_median", "on_front", "statuses", "note", "seconds"),
]


class Tuned(pd.DataFrame):
    """The result of :func:`tune`: one row per configuration, with its best run, the recommended one first.

    docs/choosing.md has the columns.

    Attributes
    ----------
    runs : DataFrame
        Every run, whatever its status, with its seed.
    task : Task
        The table, and what its clusters must keep.
    plan : sequence of Candidate
        The configurations, in the order in which they were to be tried.
    interrupted : bool
        Whether Ctrl-C ended the fits before their time.
    """

    _metadata = ["runs", "task", "plan", "interrupted"]

    @property
    def _constructor(self):
        return pd.DataFrame  # a selection of rows or columns is a plain frame

    def best(self) -> dict[str, Any]:
        """The recommended run: method, parameters, seed and its scores.

        Of the runs with the requested clusters within the limit it is the one of least cost. If there is none, it is the one of
        least deviation.

        Raises
        ------
        ClusterletsError
            If no fit has a result with a price.
        """
        run = self.iloc[0].to_dict()
        if pd.isna(run["price"]):
            statuses = leaderboard.count_statuses(self.runs["status"])
            raise InvalidInput(
                f"No fit has a result with a price ({statuses}), so nothing can be recommended: allow more minutes."
            )
        return run | {"seed": int(run["seed"])}

    def estimator(self):
        """The estimator of :meth:`best`, not yet fitted."""
        best = self.best()
        return self.candidate(best).estimator(self.task.n_clusters, best["seed"])

    def candidate(self, run: Mapping[str, Any]) -> "Candidate":
        """The method of a run, with the values of its parameters."""
        return next(
            each for each in self.plan if (each.method, in_words(each.parameters)) == (run["method"], run["parameters"])
        )

    def recommendation(self) -> str:
        """Which run to repeat, what it costs, and what it is compared with."""
        return recommendation.sentences(self)

    def plot(self, path: str | None = None):
        """Price against the largest deviation, one labelled point per configuration; ``path`` also writes a PNG, PDF or SVG.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingExtra
            Without matplotlib.
        """
        with optional("tune"):
            from matplotlib import pyplot

            from clusterlets.report.drawing.saving import write
            from clusterlets.tuning.front import draw

        figure = draw(self)
        pyplot.close(figure)  # or pyplot would keep it forever
        if path is not None:
            write(figure, path, dpi=200)
        return figure


def tune(
    X,
    *,
    sensitive_features,
    n_clusters: int = 5,
    max_deviation: float | Mapping[str, float] | None = None,
    min_cluster_size: int = 1,
    shares: Mapping | None = None,
    min_ratio: float | None = None,
    minutes: float = 5.0,
    methods_tried: Sequence[str] | None = None,
    n_seeds: int = 6,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Tuned:
    """The cheapest clustering known within limits of unfairness; Ctrl-C returns what is finished.

    fair-limit with the limits comes first. Every other method is tried with one seed; those that come close get more.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances: finite numbers. Scale them first where their units differ.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.estimators.ClusterletClustering.fit`.
    n_clusters : int
        Number of clusters, at least 2.
    max_deviation : float or mapping of str to float
        Limit, from 0 to 1, on the difference between a group's share in a cluster and in the table; by default 0.02. With
        several sensitive columns the shares of each column are limited, by one number, or by one for each column.
    min_cluster_size : int
        Smallest number of rows in a cluster.
    shares, min_ratio
        Limits of another kind in place of ``max_deviation``, as :class:`clusterlets.FairLimit` takes them.
    minutes : float
        Wall time for all fits; those that run at its end are stopped. More minutes only refine the answer.
    methods_tried : sequence of str or None
        Names from :func:`clusterlets.methods.names`, at least one besides k-means. None for all that can answer: B and D, whose
        clusters overlap, fair-lloyd, which has another aim, and random labels are then left out.
    n_seeds : int
        Maximum number of fits of a configuration.
    random_state : int
        The first seed; the others follow it.
    progress : callable or None
        Called before each fit with the number done, the number planned, and in words the next one and the best so far.

    Returns
    -------
    Tuned
        A DataFrame with ``recommendation()``, ``estimator()``, ``best()`` and ``plot()``.

    Raises
    ------
    InvalidInput
        For arguments out of range, and as the estimators do.
    ClusterletsError
        For a name that no method has.
    """
    if isinstance(minutes, str) or not 0 < minutes < np.inf:
        raise InvalidInput(f"minutes={minutes!r} is not a number above 0.")
    end = time.monotonic() + 60 * minutes
    check_whole("n_clusters", n_clusters, 2)
    check_whole("min_cluster_size", min_cluster_size, 1)
    check_whole("n_seeds", n_seeds, 1)
    check_whole("random_state", random_state, 0)
    check_same_index(X=X, sensitive_features=sensitive_features)
    with naming_text(X):
        X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2)
    groups, classes = encode(sensitive_features, len(X))
    if n_clusters > len(X):
        raise InvalidInput(f"n_clusters={n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
    default = [name for name in methods.names() if name not in trials.UNSUITABLE]
    names = {methods.get(name).name for name in (default if methods_tried is None else methods_tried)}
    if not names - {REFERENCE}:
        raise InvalidInput(f"methods_tried names no method besides {REFERENCE}, and there is nothing to compare; name one.")
    bounds = {"max_deviation": max_deviation, "shares": shares, "min_ratio": min_ratio}
    requirement = Requirement.of(sensitive_features, classes, groups, bounds)
    _, levels = requirement.limits()
    task = Task(X, sensitive_features, levels, requirement, n_clusters, min_cluster_size, least_plain_cost(X, n_clusters))
    plan, runs = trials.candidates(sorted(names), task), []
    seeds = range(random_state, random_state + n_seeds)
    try:
        for run in trials.search(task, plan, seeds, end, progress or (lambda done, total, description: None)):
            runs.append(run)
        return _ranked(task, plan, runs, interrupted=False)
    except KeyboardInterrupt:  # also while they are ranked
        return _ranked(task, plan, runs, interrupted=True)


def _ranked(task: Task, plan: Sequence[Candidate], runs: Sequence[dict], interrupted: bool) -> Tuned:
    """The result of these runs and of the configurations that were not tried."""
    tried = {(run["method"], run["parameters"]) for run in runs}
    note = "interrupted" if interrupted else "the time was over"
    untried = [trials.row(candidate, task, None, Fit(trials.NOT_TRIED, note)) for candidate in plan]
    frame = pd.DataFrame([*runs, *(run for run in untried if (run["method"], run["parameters"]) not in tried)])
    tuned = Tuned(_by_configuration(frame))
    tuned.runs, tuned.task, tuned.plan, tuned.interrupted = frame, task, plan, interrupted
    return tuned


def _by_configuration(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per configuration (:data:`COLUMNS`), with its best run; those that keep the limit first, by price."""
    keys = ["method", "parameters"]
    within = runs["keeps"]
    # Within the limit the price decides, and outside of it the deviation; ties, up to rounding, go to the first tried.
    second = runs["price"].where(within, runs["deviation_max"].mask(runs["price"].isna())).round(9)
    ranked = runs.assign(first=~within, second=second).sort_values(["first", "second"], kind="stable").drop_duplicates(keys)
    sums = runs.groupby(keys, sort=False).agg(
        runs=("status", lambda statuses: int((statuses != trials.NOT_TRIED).sum())),
        kept=("keeps", "sum"),
        price_median=("price", "median"),
        statuses=("status", leaderboard.count_statuses),
        seconds=("seconds", "sum"),
    )
    table = ranked.drop(columns="seconds").merge(sums.reset_index(), on=keys)
    on_front = leaderboard.is_on_front(table.loc[table["price"].notna(), ["deviation_max", "price"]])
    table["on_front"] = on_front.reindex(table.index, fill_value=False)
    table["role"] = [methods.get(name).role for name in table["method"]]
    return table.astype({"seed": "Int64"})[COLUMNS].round(6).reset_index(drop=True)
