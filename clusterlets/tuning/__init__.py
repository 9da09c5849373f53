"""Which method suits a table: every method on it, chosen on some seeds and scored on others (:func:`tune`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.groups import encode
from clusterlets.estimators.inputs import InvalidInput, check_whole
from clusterlets.extras import optional
from clusterlets.grid.artifacts import OK
from clusterlets.grid.cells import parse_parameters

with optional():  # tune returns a frame
    import pandas as pd

    from clusterlets.analysis import leaderboard
    from clusterlets.tuning.trials import INTERRUPTED, REFERENCE, Candidate, Progress, candidates, trial_runs

__all__ = ["Tuned", "tune"]

#: Columns of :class:`Tuned`, in this order.
COLUMNS = [
    *("rank", "method", "role", "parameters", "price", "deviation_max", "delta_min", "weighted_deviation", "n_clusters"),
    *("within", "ok", "seeds", "on_front", "outcome", "runs", "statuses", "note", "seconds"),
]
#: Outcome of a configuration that its method did not choose.
ANOTHER_CHOSEN = "another one is chosen"


class Tuned(pd.DataFrame):
    """The result of :func:`tune`: one row per configuration, the recommended one first; docs/choosing.md has the columns.

    Attributes
    ----------
    runs : DataFrame
        Every run, whatever its status, with its seed.
    n_clusters : int
        Clusters requested.
    max_deviation : float
        The limit on the largest deviation of a cluster.
    """

    _metadata = ["runs", "n_clusters", "max_deviation"]

    @property
    def _constructor(self):
        return pd.DataFrame  # a selection of rows or columns is a plain frame

    @property
    def keeps_limit(self) -> bool:
        """Whether any method keeps the limit on the scoring seeds."""
        return bool(self["rank"].notna().any())

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the fits before their time."""
        return bool((self.runs["note"] == INTERRUPTED).any())

    def best(self) -> dict[str, Any]:
        """The recommended run: method, parameters, seed and its own scores.

        It is the run of the recommended configuration on the first scoring seed that keeps the limit, or else on the first
        scoring seed with a result.

        Raises
        ------
        ClusterletsError
            If no fit has a result with a price.
        """
        row = self.iloc[0]
        has_scores = ~leaderboard.is_choosing_seed(self.runs["seed"]) & (self.runs["status"] == OK)
        is_recommended = (self.runs["method"] == row["method"]) & (self.runs["parameters"] == row["parameters"])
        scored_runs = self.runs[has_scores & is_recommended]
        if scored_runs.empty or pd.isna(row["price"]):
            raise InvalidInput(
                f"No fit has a result with a price ({_counts(self.runs['status'])}), so nothing can be recommended: allow more "
                "minutes."
            )
        within_limit = scored_runs[scored_runs["deviation_max"] <= self.max_deviation]
        return dict((within_limit if len(within_limit) else scored_runs).iloc[0])

    def estimator(self):
        """The estimator of :meth:`best`, not yet fitted."""
        best = self.best()
        return Candidate(best["method"], parse_parameters(best["parameters"])).estimator(self.n_clusters, int(best["seed"]))

    def recommendation(self) -> str:
        """Which configuration to use and why, in sentences."""
        from clusterlets.tuning.recommendation import sentences

        return sentences(self)

    def plot(self, path: str | None = None):
        """Price against the largest deviation, one labelled point per configuration; ``path`` also writes a PNG, PDF or SVG.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingExtra
            Without the libraries of the extra ``workflow``, which draws its figures in the same way.
        """
        with optional("workflow"):
            from clusterlets.report.drawing.saving import write
            from clusterlets.tuning.front import draw

        figure = draw(self)
        if path is not None:
            write(figure, path, dpi=200)
        return figure


def tune(
    X,
    *,
    sensitive_features,
    n_clusters: int = 5,
    max_deviation: float = 0.02,
    minutes: float = 5.0,
    methods_tried: Sequence[str] | None = None,
    n_seeds: int = 6,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Tuned:
    """Try every method on a table and rank them by cost under a limit of unfairness; Ctrl-C ranks what is finished.

    Each method chooses its parameters on the first half of the seeds; all scores and ranks come from the second half, by the
    rule of :mod:`clusterlets.analysis.leaderboard`.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances: finite numbers. Scale them first where their units differ.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.estimators.ClusterletClustering.fit`.
    n_clusters : int
        Number of clusters, at least 2. A matcher of Clusterlets returns the configuration with the closest number.
    max_deviation : float
        Limit, from 0 to 1, on the largest deviation of a cluster from the table's shares.
    minutes : float
        Wall time for all fits. No configuration starts after it; one fit may take a tenth of it in CPU time. Fits that were
        not tried have that status. More minutes, or a faster machine, may thus give another answer.
    methods_tried : sequence of str or None
        Names from :func:`clusterlets.methods.names`, at least one besides k-means; None for all. Plain k-means is always
        included, because prices need it.
    n_seeds : int
        Fits of each configuration, at least 2.
    random_state : int
        The first seed; the others follow it.
    progress : callable or None
        Called with the number of configurations done, their total number, and the next one in words.

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
    _check(n_clusters, max_deviation, minutes, n_seeds, random_state)
    check_same_index(X=X, sensitive_features=sensitive_features)
    X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2)
    groups, _ = encode(sensitive_features, len(X))
    if n_clusters > len(X):
        raise InvalidInput(f"n_clusters={n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
    names = {methods.get(name).name for name in (methods.names() if methods_tried is None else methods_tried)} | {REFERENCE}
    if len(names) < 2:
        raise InvalidInput(f"methods_tried names no method besides {REFERENCE}, and there is nothing to compare; name one.")
    trial_candidates = candidates(sorted(names), len(X), X.shape[1], n_clusters)
    seeds = range(random_state, random_state + n_seeds)
    rows = trial_runs(
        X, groups, n_clusters, trial_candidates, seeds, 60 * minutes, progress or (lambda done, total, words: None)
    )
    runs = pd.DataFrame(rows)
    tuned = Tuned(_by_configuration(runs, max_deviation))
    tuned.runs, tuned.n_clusters, tuned.max_deviation = runs, n_clusters, max_deviation
    return tuned


def _check(n_clusters, max_deviation, minutes, n_seeds, random_state) -> None:
    for name, value, least in (("n_clusters", n_clusters, 2), ("n_seeds", n_seeds, 2), ("random_state", random_state, 0)):
        check_whole(name, value, least)
    if not 0 <= max_deviation <= 1:
        raise InvalidInput(f"max_deviation={max_deviation!r} is not a number from 0 to 1.")
    if not 0 < minutes < np.inf:
        raise InvalidInput(f"minutes={minutes!r} is not a number above 0.")


def _by_configuration(runs: pd.DataFrame, max_deviation: float) -> pd.DataFrame:
    """One row per configuration (:data:`COLUMNS`): ranked ones, then the choices of the other methods, then the rest."""
    keys = ["method", "parameters"]
    board = leaderboard.leaderboard(runs, [max_deviation])
    scored = leaderboard.configurations(leaderboard.participating_runs(runs), [max_deviation]).replace(np.inf, np.nan)
    statuses = runs.groupby(keys, sort=False).agg(
        runs=("seed", "size"), statuses=("status", _counts), note=("note", _first), seconds=("seconds", "sum")
    )
    choices = board.loc[board["parameters"].notna(), [*keys, "rank", "outcome"]]
    outcome_by_method = board.loc[board["parameters"].isna(), ["method", "outcome"]].set_index("method")["outcome"]
    table = scored.merge(statuses.reset_index(), on=keys).merge(choices, how="left", on=keys)
    table["outcome"] = table["outcome"].fillna(table["method"].map(outcome_by_method)).fillna(ANOTHER_CHOSEN)
    on_front = leaderboard.is_on_front(table.loc[table["price"].notna(), ["deviation_max", "price"]])
    table["on_front"] = on_front.reindex(table.index, fill_value=False)
    table["role"] = [methods.get(name).role for name in table["method"]]
    table["within"] = table[f"within_{max_deviation:g}"]
    table["note"] = table["note"].mask((table["note"] == "") & (table["ok"] > 0) & table["price"].isna(), "clusters overlap")
    table["missed"] = table["chosen_by_deviation_max"].where(table["chosen_by_price"].notna() & table["price"].notna())
    order = ["rank", "missed", "chosen_by_price"]
    return table.sort_values(order, kind="stable")[COLUMNS].round(6).reset_index(drop=True)


def _counts(statuses: pd.Series) -> str:
    """``ok 4; timeout 2``."""
    return "; ".join(f"{status} {count}" for status, count in statuses.value_counts().sort_index().items())


def _first(notes: pd.Series) -> str:
    return next((note for note in notes if note), "")
