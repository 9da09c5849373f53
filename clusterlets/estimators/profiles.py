"""Who is in a cluster: which features stand out in it, and which rows are typical of it."""

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

#: Differences of a mean, in standard deviations of the table, from which a feature stands out.
STANDS_OUT = 0.3
_SHOWN = 3  # features, and typical rows, of a cluster


@dataclass(frozen=True)
class Profiles:
    """Features of the clusters next to those of the table, in the units of the features.

    Attributes
    ----------
    names : list of d str
        Names of the features.
    means, spreads : float arrays (C, d)
        Mean and standard deviation in each cluster.
    table_means, table_spreads : float arrays (d,)
        The same in the table.
    """

    names: list[str]
    means: np.ndarray
    spreads: np.ndarray
    table_means: np.ndarray
    table_spreads: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, memberships: csr_array, names: Sequence[str] | None = None) -> "Profiles":
        """From features (n, d) and the memberships (n, C) of occupied clusters; O(n d) for a crisp clustering."""
        names = [f"feature {index}" for index in range(X.shape[1])] if names is None else [str(name) for name in names]
        if len(names) != X.shape[1]:
            raise InvalidInput(f"There are {len(names)} names of features, and X has {X.shape[1]}.")
        means, spreads = (np.array([kind(X[rows], axis=0) for rows in members_of(memberships)]) for kind in (np.mean, np.std))
        return cls(names, means, spreads, X.mean(axis=0), X.std(axis=0))

    @property
    def differences(self) -> np.ndarray:
        """Mean of the cluster less that of the table, in standard deviations of the table (C, d); 0 where nothing varies."""
        off = self.means - self.table_means
        return np.divide(off, self.table_spreads, out=np.zeros_like(off), where=self.table_spreads > 0)

    def sentence(self, cluster: int) -> str:
        """The features of a cluster, by its index, that stand out most: ``age 52.1 +- 8.0 (table 38.6 +- 13.6)``."""
        differences = np.abs(self.differences[cluster])
        shown = np.argsort(-differences, kind="stable")[:_SHOWN]
        parts = [
            f"{self.names[feature]} {self.means[cluster, feature]:.4g} +- {self.spreads[cluster, feature]:.3g} "
            f"(table {self.table_means[feature]:.4g} +- {self.table_spreads[feature]:.3g})"
            for feature in shown[differences[shown] >= STANDS_OUT]
        ]
        return "; ".join(parts) or "no feature stands out"

    def frame(self, clusters: Sequence) -> "pd.DataFrame":
        """One row for each cluster and feature; of each cluster the features that stand out most come first."""
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


def typical_rows(X: np.ndarray, memberships: csr_array) -> list[np.ndarray]:
    """Of each cluster the rows that are nearest to its mean, the nearest first; O(n d) for a crisp clustering."""
    typical = []
    for rows in members_of(memberships):
        off = ((X[rows] - X[rows].mean(axis=0)) ** 2).sum(axis=1)
        typical.append(rows[np.argsort(off, kind="stable")[:_SHOWN]])
    return typical
