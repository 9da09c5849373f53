"""The table of scores. To add a score, add an entry here or in ``clusterlets/metrics/instances.py``.

The table defines the columns of ``runs.csv``, ``fairness_report``, the glossary of the report, and ``docs/results-format.md``.
"""

from math import inf, nan

from clusterlets.metrics import instances
from clusterlets.metrics.composition import (
    additive_violation,
    balance,
    delta_min,
    deviation_beyond_row,
    deviation_of_columns,
    vfc_error,
    weighted_deviation,
)
from clusterlets.metrics.pieces import JoinedClusterlets, Pieces, centroid_silhouette, kmeans_cost, overlap
from clusterlets.metrics.prices import BELOW_ONE, PriceInputs, price_of_fairness
from clusterlets.metrics.score import Score

_BERA_ET_AL = "Bera, Chakrabarty, Flores and Negahbani 2019"
_SHARE_DIFFERENCE = "absolute difference of shares"

#: The scores of the paper and those that go with them, in the order of the columns of the result files.
PAPER_SCORES = (
    Score(
        "n_clusters",
        computed_from=Pieces,
        function=lambda pieces: len(pieces.membership),
        unit="count",
        range=(1, inf),
        meaning='number of clusters in the result: "Size" in the paper. A single cluster is always perfectly fair, so its '
        "fairness means nothing",
    ),
    Score(
        "deviation_mean",
        computed_from=Pieces,
        function=lambda pieces: float(pieces.deviations.mean()),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        better="lower",
        meaning="mean over the clusters of the largest difference, over the groups, between a group's share in the cluster and "
        "in the dataset (or the configured deviation instead of the difference; kl is in nats and has no upper limit)",
    ),
    Score(
        "deviation_std",
        computed_from=Pieces,
        function=lambda pieces: float(pieces.deviations.std()),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        meaning="population standard deviation of the clusters' deviations",
    ),
    Score(
        "deviation_max",
        computed_from=Pieces,
        function=lambda pieces: float(pieces.deviations.max()),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        better="lower",
        meaning="largest deviation of a cluster",
    ),
    Score(
        "balance",
        computed_from=Pieces,
        function=lambda pieces: balance(pieces.composition),
        range=(0, 1),
        better="higher",
        meaning="least ratio of two groups' counts in any cluster",
    ),
    Score(
        "balance_ratio",
        computed_from=Pieces,
        function=lambda pieces: balance(pieces.composition) / balance(pieces.group_counts[None, :]),
        range=(0, inf),
        better="higher",
        meaning="balance divided by that of the dataset",
    ),
    Score(
        "cohesion",
        computed_from=Pieces,
        function=lambda pieces: pieces.cohesion_with_error[0],
        range=(0, 1),
        better="higher",
        meaning="1 - (mean over clusters of the mean pairwise distance, zero diagonal included) / (largest distance in the "
        "dataset)",
    ),
    Score(
        "overlap",
        computed_from=Pieces,
        function=lambda pieces: overlap(pieces.membership, pieces.sizes),
        unit="share of instances",
        range=(0, 1),
        better="lower",
        meaning="share of instances in two or more clusters; 0 is a partition",
    ),
    Score(
        "smallest",
        computed_from=Pieces,
        function=lambda pieces: int(pieces.composition.sum(axis=1).min()),
        unit="instances",
        range=(1, inf),
        meaning="size of the smallest cluster",
    ),
    Score(
        "largest",
        computed_from=Pieces,
        function=lambda pieces: int(pieces.composition.sum(axis=1).max()),
        unit="instances",
        range=(1, inf),
        meaning="size of the largest cluster",
    ),
    Score(
        "centroid_silhouette",
        computed_from=JoinedClusterlets,
        function=centroid_silhouette,
        range=(-1, 1),
        better="higher",
        meaning="silhouette over the centroids of clusterlets",
        undefined="for overlapping clusters, for a single one, and for methods other than matchers",
        source="Rousseeuw 1987",
    ),
    Score(
        "kmeans_cost",
        computed_from=Pieces,
        function=lambda pieces: (
            kmeans_cost(pieces.membership, pieces.sizes, pieces.centroids, pieces.inertia) if pieces.is_crisp else nan
        ),
        unit="squared units of the data",
        range=(0, inf),
        better="lower",
        meaning="sum of squared distances to the cluster means",
        undefined="for overlapping clusters",
    ),
    Score(
        "price_of_fairness",
        computed_from=PriceInputs,
        function=lambda inputs: price_of_fairness(inputs.cost, inputs.n_clusters, inputs.reference),
        range=(0, inf),
        better="lower",
        meaning="kmeans_cost divided by the least cost of plain k-means with the same number of clusters, over 50 starts with "
        f"fixed seeds (10 above 100,000 rows); no other run changes it; {BELOW_ONE}. For k between the configured values, the "
        "log of the least cost is interpolated linearly in log k",
        undefined="for overlapping clusters, and for numbers of clusters outside those of plain k-means",
    ),
)

#: Further scores, for comparing methods.
FURTHER_SCORES = (
    Score(
        "column_deviation",
        computed_from=Pieces,
        function=lambda pieces: deviation_of_columns(pieces.composition, pieces.group_counts, pieces.columns, pieces.deviation),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        better="lower",
        meaning="largest deviation of a cluster, measured in each sensitive column separately. Equals deviation_max if there "
        "is one column; with several, the groups of deviation_max are the combinations of their values. The leaderboard's "
        "limits apply to this score",
    ),
    Score(
        "deviation_beyond_row",
        computed_from=Pieces,
        function=lambda pieces: deviation_beyond_row(pieces.composition, pieces.group_counts, pieces.columns),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        better="lower",
        meaning="largest deviation in each sensitive column if each count may be one row off: max(0, |p - r| - 1 / m) for the "
        "share p in a cluster of m instances and the share r in the dataset; at most L if all clusters keep the limit L within "
        "one row",
    ),
    Score(
        "delta_min",
        computed_from=Pieces,
        function=lambda pieces: delta_min(pieces.composition, pieces.group_counts),
        range=(0, 1),
        better="lower",
        meaning="least delta for which r (1 - delta) <= p <= r / (1 - delta) holds for every cluster and group, where p is the "
        "group's share in the cluster and r its share in the dataset; 0 if all shares are the dataset's, 1 if a cluster lacks "
        "a group",
        source=_BERA_ET_AL,
    ),
    Score(
        "additive_violation",
        computed_from=Pieces,
        function=lambda pieces: additive_violation(pieces.composition, pieces.group_counts),
        unit="instances",
        range=(0, inf),
        better="lower",
        meaning="largest difference between a group's count in a cluster and the count that its share in the dataset implies, "
        "rounded up; at most 1 if all clusters keep the dataset's shares up to whole instances",
        source=_BERA_ET_AL,
    ),
    Score(
        "weighted_deviation",
        computed_from=Pieces,
        function=lambda pieces: weighted_deviation(pieces.composition, pieces.group_counts),
        unit=_SHARE_DIFFERENCE,
        range=(0, 1),
        better="lower",
        meaning="mean, over the groups and over the clusters, of the absolute difference between a group's share in the "
        "cluster and in the dataset, weighted by cluster size; always absolute, whatever kind of deviation is configured",
        source="Abraham, Deepak and Sundaram 2020",
    ),
    Score(
        "vfc_error",
        computed_from=Pieces,
        function=lambda pieces: vfc_error(pieces.composition, pieces.group_counts),
        unit="nats",
        range=(0, inf),
        better="lower",
        meaning="sum over clusters of the Kullback-Leibler divergence of the dataset's shares from the cluster's, sum of "
        "r log(r / p), where p is the group's share in the cluster and r its share in the dataset: infinite if a cluster lacks "
        "a group. It grows with the number of clusters, and its direction is the reverse of the deviation kl",
        source="Ziko, Yuan, Granger and Ben Ayed 2021",
    ),
    *instances.SCORES,
    Score(
        "cohesion_error",
        computed_from=Pieces,
        function=lambda pieces: pieces.cohesion_with_error[1],
        range=(0, inf),
        meaning="standard error of the cohesion if it is estimated, on tables of more than 100,000 rows",
        undefined="if the cohesion is exact (0 in fairness_report)",
    ),
)

#: Every score, in the order of the columns of the result files.
SCORES = (*PAPER_SCORES, *FURTHER_SCORES)


def score(name: str) -> Score:
    """The score with this name; KeyError if there is none."""
    return {entry.name: entry for entry in SCORES}[name]
