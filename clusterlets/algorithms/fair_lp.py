"""Fair clustering by a linear program at the centres of plain k-means (Bera, Chakrabarty, Flores and Negahbani 2019)."""

import numpy as np

from clusterlets.algorithms.fair_assignment import FairAssignment, fair_assignment
from clusterlets.algorithms.geometry import distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kmeans import kmeans


def fair_lp(
    X,
    groups,
    n_clusters: int,
    random_state: np.random.Generator,
    delta: float = 0.0,
    min_cluster_size: int = 1,
    max_deviation: float | None = None,
) -> FairAssignment:
    """The cheapest assignment to the centres of plain k-means within bounds on the shares of the groups.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
        Group codes from 0 on.
    n_clusters : int
        At most n.
    random_state : numpy.random.Generator
    delta : float
        As in :func:`clusterlets.algorithms.fair_assignment.fair_assignment`.
    min_cluster_size : int
        Least instances of a cluster.
    max_deviation : float, optional
        Replaces ``delta``, as in the same function.

    Returns
    -------
    FairAssignment
        Cost and bound are those at the centres of plain k-means, not at the means of the fair clusters.

    Raises
    ------
    ClusterletsError
        As :func:`clusterlets.algorithms.instances.checked_instances`, and for ``delta`` out of range.

    Notes
    -----
    The published code rounds a fractional solution by further programs and may miss a bound by several instances; here the
    counts are rounded first, so that every bound is missed by less than one. O(n k d) time per round of k-means, and the
    assignment.
    """
    X, groups = checked_instances(X, groups, "fair-lp", n_clusters)
    centres = kmeans(X, n_clusters, random_state).centres
    costs = distances_to_centres(X, centres, n_clusters)
    groups = codes_that_occur(groups)
    return fair_assignment(costs, groups, delta, min_cluster_size=min_cluster_size, max_deviation=max_deviation)
