"""The runs that the figures show cluster by cluster, with the clusters' composition and the rows' positions."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from clusterlets.analysis import selection
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.recovery import Clusters
from clusterlets.grid.scoring import CLUSTERLETS

_RUN_COLUMNS = ["dataset", "method", "matcher", "k", "hops", "omega", "seed"]
# The columns of the two tables.
COMPOSITION = [*_RUN_COLUMNS, "cluster", "size", "group", "count", "share", "dataset_share"]
PROJECTION = [*_RUN_COLUMNS, "rows", "row", "x", "y", "x_share", "y_share", "group", "cluster"]

# The matchers are shown side by side at this setting, or at the nearest one in the grid.
_SETTING = {"k": 5, "hops": 2, "omega": 0.5}
_MAX_GROUPS = 4  # more groups cannot be distinguished by the shapes of points
_MAX_POINTS = 700  # more points would only cover each other


def comparable_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """One successful run for each dataset and matcher, all with the same k, hops, omega and seed.

    These are the values nearest to k = 5, 2 hops and omega = 0.5 that were run, and the first seed. If several runs of a
    dataset and matcher have them, the first is used.
    """
    runs = runs[runs["method"] == CLUSTERLETS]
    for parameter, preferred in _SETTING.items():
        available = np.sort(runs[parameter].dropna().unique())
        if len(available):
            nearest = available[np.abs(available - preferred).argmin()]
            runs = runs[runs[parameter].isna() | (runs[parameter] == nearest)]
    return selection.ok(runs[runs["seed"] == runs["seed"].min()]).drop_duplicates(["dataset", "matcher"])


def clearest_dataset(runs: pd.DataFrame, read_table: Callable[[str], Prepared]) -> str:
    """The dataset of ``runs`` whose first two principal components show the most.

    Three criteria decide, in this order: how many matchers have a run in ``runs``, whether the groups are few enough to be
    distinguished by the shapes of points, and how large a share of the variance the second component holds. If that share is
    small, all points lie near a line.
    """

    def criteria(dataset: str) -> tuple[int, bool, float]:
        table = read_table(dataset)
        n_matchers = int((runs["dataset"] == dataset).sum())
        return n_matchers, len(table.group_names) <= _MAX_GROUPS, float(principal_components(table.X)[1][1])

    return max(runs["dataset"].unique(), key=criteria)


def principal_components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates on the first two principal components (n, 2), and these components' shares of the variance (2,).

    A component that does not exist has only zeros.
    """
    if not np.ptp(X, axis=0).any():
        return np.zeros((len(X), 2)), np.zeros(2)
    pca = PCA(min(2, X.shape[1]), svd_solver="covariance_eigh")
    coordinates = pca.fit_transform(X)
    n_missing = 2 - coordinates.shape[1]
    return np.pad(coordinates, ((0, 0), (0, n_missing))), np.pad(pca.explained_variance_ratio_, (0, n_missing))


def composition(run: Mapping, clusters: Clusters, group_names: Iterable[str]) -> pd.DataFrame:
    """One line for each cluster and group of ``run``, a row of ``runs.csv``, with the largest clusters first."""
    counts, names = clusters.composition, list(group_names)
    counts = counts[np.argsort(-counts.sum(axis=1), kind="stable")]
    sizes = counts.sum(axis=1)
    dataset_counts = clusters.counts.sum(axis=0)
    lines = pd.DataFrame(
        {
            "cluster": np.repeat(np.arange(len(counts)), len(names)),
            "size": np.repeat(sizes, len(names)),
            "group": names * len(counts),
            "count": counts.ravel(),
            "share": (counts / sizes[:, None]).ravel(),
            "dataset_share": np.tile(dataset_counts / dataset_counts.sum(), len(counts)),
        }
    )
    return _add_run_columns(run, lines)[COMPOSITION]


def projection(run: Mapping, clusters: Clusters, table: Prepared) -> pd.DataFrame:
    """Positions on the first two principal components: one line for each row of the table and each cluster that contains it.

    The clusters are those of ``run``, a row of ``runs.csv``. Of a large table, 700 evenly spaced rows are shown.
    """
    coordinates, shares = principal_components(table.X)
    rows, cluster_numbers = clusters.members()
    is_shown = np.isin(rows, np.unique(np.linspace(0, len(table.X) - 1, _MAX_POINTS).round().astype(int)))
    rows, cluster_numbers = rows[is_shown], cluster_numbers[is_shown]
    size_ranks = np.argsort(np.argsort(-clusters.composition.sum(axis=1), kind="stable"))
    lines = pd.DataFrame(
        {
            "rows": len(table.X),
            "row": rows,
            "x": _round_digits(coordinates[rows, 0]),
            "y": _round_digits(coordinates[rows, 1]),
            "x_share": _round_digits(shares[:1])[0],
            "y_share": _round_digits(shares[1:])[0],
            "group": np.array(table.group_names)[table.groups[rows]],
            "cluster": size_ranks[cluster_numbers],
        }
    )
    return _add_run_columns(run, lines)[PROJECTION]


def _add_run_columns(run: Mapping, lines: pd.DataFrame) -> pd.DataFrame:
    lines = lines.assign(**{name: run[name] for name in _RUN_COLUMNS})
    return lines.astype(dict.fromkeys(("k", "hops", "seed"), "Int64"))


def _round_digits(values: np.ndarray) -> list[float]:
    """Round to five significant digits: enough for a drawing, and few enough to hide rounding errors of LAPACK."""
    return [float(f"{value:.5g}") for value in values]
