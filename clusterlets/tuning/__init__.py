"""The search for the cheapest clustering of a table within limits: :func:`tune`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.estimators.groups import encode
from clusterlets.estimators.inputs import InvalidInput, check_whole, text_as_invalid_input
from clusterlets.extras import optional
from clusterlets.grid.cells import format_nested
from clusterlets.grid.fitting import Fit

with optional():  # needs pandas: tune returns a DataFrame
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
    """The result of :func:`tune`: one row per configuration, with its best run. The first row is the recommended run.

    docs/choosing.md explains the columns.

    Attributes
    ----------
    runs : DataFrame
        Every run, whatever its status, with its seed.
    task : Task
        The table, and the limits that its clusters must keep.
    plan : sequence of Candidate
        The configurations, in the order of the search.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    """

    _metadata = ["runs", "task", "plan", "interrupted"]

    @property
    def _constructor(self):
        return pd.DataFrame  # a selection of rows or columns is a plain frame

    def best(self) -> dict[str, Any]:
        """The recommended run: method, parameters, seed and its scores.

        It has the lowest cost of all runs that keep the limit with the requested number of clusters. If there is no such run,
        it is the run with the smallest deviation.

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
        """The candidate that ``run`` is a run of."""
        key = run["method"], run["parameters"]
        return next(candidate for candidate in self.plan if (candidate.method, format_nested(candidate.parameters)) == key)

    def recommendation(self) -> str:
        """A text on the recommended run: what it costs, and how it compares with others."""
        return recommendation.sentences(self)

    def plot(self, path: str | None = None):
        """Plot the price of each configuration against its largest deviation.

        If ``path`` is given, the figure is also written to this PNG, PDF or SVG file.

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
        pyplot.close(figure)  # otherwise pyplot would keep the figure in memory
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
    """Search for the cheapest clustering within limits of unfairness. Ctrl-C ends the search and returns the finished runs.

    fair-limit is tried first. Then every other method is tried with one seed. Configurations that come close to the limits and
    to the lowest cost get more seeds.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances, as finite numbers. Scale features with different units first.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.estimators.ClusterletClustering.fit`.
    n_clusters : int
        Number of clusters, at least 2.
    max_deviation : float or mapping of str to float
        Limit, from 0 to 1, on the difference between a group's share in a cluster and in the table; by default 0.02. It holds
        for each sensitive column. A mapping gives every column its own limit.
    min_cluster_size : int
        Smallest number of rows in a cluster.
    shares, min_ratio
        Other kinds of limits, instead of ``max_deviation``. :class:`clusterlets.FairLimit` explains them.
    minutes : float
        Wall time for all fits together. A fit still running at the end is stopped. More minutes can only lower the cost.
    methods_tried : sequence of str or None
        Names from :func:`clusterlets.methods.names`, at least one besides k-means. By default all methods except B and D, whose
        clusters may overlap, fair-lloyd, which has another aim, and random labels.
    n_seeds : int
        Maximum number of fits per configuration, each with a different seed.
    random_state : int
        The first seed. The others are the next whole numbers.
    progress : callable or None
        Called before each fit with the number of finished fits, the number of planned fits, and a text on the next fit and the
        best price so far.

    Returns
    -------
    Tuned
        A DataFrame with ``recommendation()``, ``estimator()``, ``best()`` and ``plot()``.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or if the estimators would refuse the data.
    ClusterletsError
        If ``methods_tried`` contains a name that no method has.
    """
    if isinstance(minutes, str) or not 0 < minutes < np.inf:
        raise InvalidInput(f"minutes={minutes!r} is not a number above 0.")
    end = time.monotonic() + 60 * minutes
    check_whole("n_clusters", n_clusters, 2)
    check_whole("min_cluster_size", min_cluster_size, 1)
    check_whole("n_seeds", n_seeds, 1)
    check_whole("random_state", random_state, 0)
    check_same_index(X=X, sensitive_features=sensitive_features)
    with text_as_invalid_input(X):
        X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2)
    groups, classes = encode(sensitive_features, len(X))
    if n_clusters > len(X):
        raise InvalidInput(f"n_clusters={n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
    suitable = [name for name in methods.names() if name not in trials.UNSUITABLE]
    names = {methods.get(name).name for name in (suitable if methods_tried is None else methods_tried)}
    if not names - {REFERENCE}:
        raise InvalidInput(f"methods_tried names no method besides {REFERENCE}, so there is nothing to compare: add one.")
    bounds = {"max_deviation": max_deviation, "shares": shares, "min_ratio": min_ratio}
    requirement = Requirement.of(sensitive_features, classes, groups, bounds)
    _, levels = requirement.limits()
    task = Task(X, sensitive_features, levels, requirement, n_clusters, min_cluster_size, least_plain_cost(X, n_clusters))
    plan, runs = trials.candidates(sorted(names), task), []
    seeds = range(random_state, random_state + n_seeds)
    try:
        for run in trials.search(task, plan, seeds, end, progress or (lambda done, total, description: None)):
            runs.append(run)
        return _rank(task, plan, runs, interrupted=False)
    except KeyboardInterrupt:  # may also come while the runs are ranked
        return _rank(task, plan, runs, interrupted=True)


def _rank(task: Task, plan: Sequence[Candidate], runs: Sequence[dict], interrupted: bool) -> Tuned:
    """The result of the search. Configurations without a run get a row that says so."""
    tried = {(run["method"], run["parameters"]) for run in runs}
    note = "interrupted" if interrupted else "time ran out"
    placeholders = [trials.row(candidate, task, None, Fit(trials.NOT_TRIED, note)) for candidate in plan]
    untried = [row for row in placeholders if (row["method"], row["parameters"]) not in tried]
    all_runs = pd.DataFrame([*runs, *untried])
    tuned = Tuned(_by_configuration(all_runs))
    tuned.runs, tuned.task, tuned.plan, tuned.interrupted = all_runs, task, plan, interrupted
    return tuned


def _by_configuration(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per configuration, with its best run and the columns :data:`COLUMNS`.

    Configurations that keep the limit come first, ordered by price.
    """
    keys = ["method", "parameters"]
    keeps_limit = runs["keeps"]
    # Runs that keep the limit are ordered by price, others by deviation, and runs without a price come last. Of equal runs, the
    # first one tried wins.
    price_or_deviation = runs["price"].where(keeps_limit, runs["deviation_max"].mask(runs["price"].isna())).round(9)
    ranked = runs.assign(misses_limit=~keeps_limit, price_or_deviation=price_or_deviation)
    ranked = ranked.sort_values(["misses_limit", "price_or_deviation"], kind="stable")
    best_runs = ranked.drop_duplicates(keys)
    summaries = runs.groupby(keys, sort=False).agg(
        runs=("status", lambda statuses: int((statuses != trials.NOT_TRIED).sum())),
        kept=("keeps", "sum"),
        price_median=("price", "median"),
        statuses=("status", leaderboard.count_statuses),
        seconds=("seconds", "sum"),
    )
    table = best_runs.drop(columns="seconds").merge(summaries.reset_index(), on=keys)
    on_front = leaderboard.is_on_front(table.loc[table["price"].notna(), ["deviation_max", "price"]])
    table["on_front"] = on_front.reindex(table.index, fill_value=False)
    table["role"] = [methods.get(name).role for name in table["method"]]
    return table.astype({"seed": "Int64"})[COLUMNS].round(6).reset_index(drop=True)
