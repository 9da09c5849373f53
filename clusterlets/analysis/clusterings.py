"""Which runs are shown cluster by cluster, and the data to show: their composition, and the positions of their rows."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from clusterlets.analysis import selection
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.recovery import Clusters
from clusterlets.grid.scoring import CLUSTERLETS

_RUN = ["dataset", "method", "matcher", "k", "hops", "omega", "seed"]
COMPOSITION = [*_RUN, "cluster", "size", "group", "count", "share", "dataset_share"]
PROJECTION = [*_RUN, "rows", "row", "x", "y", "x_share", "y_share", "group", "cluster"]

# The matchers are shown side by side at this setting, or at the nearest one in the grid.
_SETTING = {"k": 5, "hops": 2, "omega": 0.5}
_MAX_GROUPS = 4  # groups that a reader can distinguish by the shape of a point
_MAX_POINTS = 700  # more would only cover each other


def comparable_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """One run of each dataset and matcher, all at the same setting: k near 5, 2 hops, omega near .5, the first seed.

    Other parameters have the first values that were run.
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

    Datasets on which the most matchers have a result come first, then those whose groups a reader can distinguish by the
    shape of a point. Of these it is the one whose second component holds the largest share of the variance, because without
    that all points lie along a line.
    """

    def worth(dataset: str) -> tuple[int, bool, float]:
        table = read_table(dataset)
        matchers = int((runs["dataset"] == dataset).sum())
        return matchers, len(table.group_names) <= _MAX_GROUPS, float(principal_components(table.X)[1][1])

    return max(runs["dataset"].unique(), key=worth)


def principal_components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows on the first two principal components (n, 2), and their shares of the variance (2,); zeros for a missing one."""
    if not np.ptp(X, axis=0).any():
        return np.zeros((len(X), 2)), np.zeros(2)
    pca = PCA(min(2, X.shape[1]), svd_solver="covariance_eigh")
    coordinates = pca.fit_transform(X)
    n_missing = 2 - coordinates.shape[1]
    return np.pad(coordinates, ((0, 0), (0, n_missing))), np.pad(pca.explained_variance_ratio_, (0, n_missing))


def composition(row: Mapping, clusters: Clusters, group_names: Iterable[str]) -> pd.DataFrame:
    """One line per cluster and group of one run; the clusters by descending size."""
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
    return _add_run_columns(row, lines)[COMPOSITION]


def projection(row: Mapping, clusters: Clusters, table: Prepared) -> pd.DataFrame:
    """One line per row and cluster of one run, on the table's two principal components; at most 700 evenly spaced rows."""
    coordinates, shares = principal_components(table.X)
    rows, cluster = clusters.members()
    is_shown = np.isin(rows, np.unique(np.linspace(0, len(table.X) - 1, _MAX_POINTS).round().astype(int)))
    rows, cluster = rows[is_shown], cluster[is_shown]
    ranks = np.argsort(np.argsort(-clusters.composition.sum(axis=1), kind="stable"))
    lines = pd.DataFrame(
        {
            "rows": len(table.X),
            "row": rows,
            "x": _round_digits(coordinates[rows, 0]),
            "y": _round_digits(coordinates[rows, 1]),
            "x_share": _round_digits(shares[:1])[0],
            "y_share": _round_digits(shares[1:])[0],
            "group": np.array(table.group_names)[table.groups[rows]],
            "cluster": ranks[cluster],
        }
    )
    return _add_run_columns(row, lines)[PROJECTION]


def _add_run_columns(row: Mapping, lines: pd.DataFrame) -> pd.DataFrame:
    lines = lines.assign(**{name: row[name] for name in _RUN})
    return lines.astype(dict.fromkeys(("k", "hops", "seed"), "Int64"))


def _round_digits(values: np.ndarray) -> list[float]:
    """Five digits: enough to draw, and not affected by the last bits, which depend on the library."""
    return [float(f"{value:.5g}") for value in values]
