"""Profiles of clusters: the features that stand out in a cluster, and the rows that are typical of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.memberships import members_of
from clusterlets.extras import optional

if TYPE_CHECKING:
    import pandas as pd

#: A feature stands out if a cluster's mean differs from the table's by at least this many standard deviations of the table.
MIN_DIFFERENCE = 0.3
_N_SHOWN = 3  # features that stand out, and typical rows, per cluster


@dataclass(frozen=True)
class Profiles:
    """Means and standard deviations of the features, in each cluster and in the whole table, in the units of the features.

    Attributes
    ----------
    names : list of d str
        Names of the features.
    means, spreads : float arrays (C, d)
        Mean and standard deviation in each cluster.
    table_means, table_spreads : float arrays (d,)
        Mean and standard deviation in the whole table.
    """

    names: list[str]
    means: np.ndarray
    spreads: np.ndarray
    table_means: np.ndarray
    table_spreads: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, memberships: csr_array, names: Sequence[str] | None = None) -> "Profiles":
        """Compute the profiles from features (n, d) and memberships (n, C). No cluster may be empty.

        By default, the names are ``feature 0``, ``feature 1`` and so on. O(n d) if clusters are disjoint.
        """
        names = [f"feature {index}" for index in range(X.shape[1])] if names is None else [str(name) for name in names]
        if len(names) != X.shape[1]:
            raise InvalidInput(f"There are {len(names)} feature names, but X has {X.shape[1]} features.")
        means, spreads = (np.array([stat(X[rows], axis=0) for rows in members_of(memberships)]) for stat in (np.mean, np.std))
        return cls(names, means, spreads, X.mean(axis=0), X.std(axis=0))

    @property
    def differences(self) -> np.ndarray:
        """Means of the clusters minus the table's, in standard deviations of the table (C, d); 0 for constant features."""
        differences = self.means - self.table_means
        return np.divide(differences, self.table_spreads, out=np.zeros_like(differences), where=self.table_spreads > 0)

    def describe(self, cluster: int) -> str:
        """The features that stand out most in a cluster, by its index: ``age 52.1 +- 8.0 (table 38.6 +- 13.6)``."""
        differences = np.abs(self.differences[cluster])
        features = np.argsort(-differences, kind="stable")[:_N_SHOWN]
        parts = [
            f"{self.names[feature]} {_with_spread(self.means[cluster, feature], self.spreads[cluster, feature])} "
            f"(table {_with_spread(self.table_means[feature], self.table_spreads[feature])})"
            for feature in features[differences[features] >= MIN_DIFFERENCE]
        ]
        return "; ".join(parts) or "no feature stands out"

    def frame(self, clusters: Sequence) -> "pd.DataFrame":
        """One row per cluster and feature; within a cluster, features that stand out most come first.

        ``clusters`` are the names of the clusters.
        """
        with optional():
            import pandas as pd
        parts = []
        for index, cluster in enumerate(clusters):
            columns = {
                "cluster": cluster,
                "feature": self.names,
                "mean": self.means[index],
                "spread": self.spreads[index],
                "table_mean": self.table_means,
                "table_spread": self.table_spreads,
                "difference": self.differences[index],
            }
            parts.append(pd.DataFrame(columns).sort_values("difference", key=np.abs, ascending=False, kind="stable"))
        return pd.concat(parts, ignore_index=True)


def _with_spread(mean: float, spread: float) -> str:
    """``1984.51 +- 2.29``: the spread with three significant digits or as a whole number, the mean with as many decimals."""
    exponent = int(f"{spread:.2e}".partition("e")[2])
    if spread == 0 or not -6 <= exponent < 12:
        return f"{mean:.7g} +- {spread:.3g}"
    decimals = max(0, 2 - exponent)
    return f"{round(mean, decimals) + 0.0:.{decimals}f} +- {spread:.{decimals}f}"  # + 0.0 turns -0.0 into 0.0


def typical_rows(X: np.ndarray, memberships: csr_array) -> list[np.ndarray]:
    """The indices of up to three rows nearest to each cluster's mean, nearest first. O(n d) if clusters are disjoint."""
    rows_by_cluster = []
    for rows in members_of(memberships):
        squared_distances = ((X[rows] - X[rows].mean(axis=0)) ** 2).sum(axis=1)
        rows_by_cluster.append(rows[np.argsort(squared_distances, kind="stable")[:_N_SHOWN]])
    return rows_by_cluster
