"""Lloyd's rounds whose fair assignment splits instances: centres for methods that round the assignment afterwards.

On a weighted sample the rounds cost a fraction of those on the table, and counts need not be whole on the way.
"""

from operator import itemgetter

import numpy as np

from clusterlets.algorithms.fair_dual import TEMPERATURES, fractional_assignment, share_rows, solve_dual
from clusterlets.algorithms.geometry import distances_to_centres
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans

_TRIAL_ROUNDS = 5  # rounds after which starts are compared
_N_PARTS, _MIN_PART = 4, 1_000  # starts are tried on one of so many parts of a table, if that has at least so many rows
_FINALISTS = 2  # starts that go on to the end
_LAST_TEMPERATURE = TEMPERATURES[5]  # the last one would hardly move a centre


def fractional_lloyd(
    X: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    bounds: tuple[np.ndarray, np.ndarray],
    slack: float,
    random_state: np.random.Generator,
    n_init: int = 1,
    max_iter: int = 30,
    tol: float = 1e-3,
) -> tuple[np.ndarray, np.ndarray]:
    """Centres (k, d) that suit the cheapest fractional assignment within bounds on shares, and the dual's multipliers (R, k).

    Parameters
    ----------
    X : float array (n, d)
    weights : float array (n,)
        Instances that each row stands for. The groups' shares of them must lie within the bounds, or the rounds do not
        converge.
    groups : int array (n,)
        0..K-1, each of which occurs.
    bounds : pair of float arrays (K,)
        Least and largest share of each group in a cluster.
    slack : float
        Instances by which counts may miss a bound.
    n_init : int
        Starts. Each gets a few rounds, on a quarter of the rows where there are many, and the best two go on.
    tol : float
        A round that lowers the bound on the cost by less than this fraction of it is the last.

    Notes
    -----
    Some centres are equal where there are fewer distinct rows than clusters. Fair Lloyd with fractional assignments on
    coresets: Schmidt, Schwiegelshohn and Sohler 2018. O(n k d) time per round, and the steps of the dual.
    """
    constraints, table = share_rows(*bounds), (np.ascontiguousarray(X, dtype=np.float64), weights, groups)

    def run_rounds(table, centres, multipliers, max_rounds):
        """Run rounds; returns the centres, the multipliers and the bound at the end."""
        (X, weights, groups), last_bound = table, np.inf
        for _ in range(max_rounds):
            costs = distances_to_centres(X, centres, n_clusters)
            dual = solve_dual(costs, weights, groups, len(bounds[0]), constraints, slack, multipliers, _LAST_TEMPERATURE)
            multipliers = dual.multipliers
            centres = _means(X, fractional_assignment(costs, groups, dual) * weights[:, None])
            if dual.bound >= (1 - tol) * last_bound:
                break
            last_bound = dual.bound
        return centres, multipliers, dual.bound

    part = table if n_init == 1 or len(X) < _N_PARTS * _MIN_PART else _draw_part(*table, random_state)
    runs = []
    for _ in range(n_init):
        start, _ = weighted_kmeans(part[0], part[1], n_clusters, random_state)
        runs.append(run_rounds(part, start, None, min(_TRIAL_ROUNDS, max_iter)))
    if max_iter > _TRIAL_ROUNDS:
        best = sorted(runs, key=itemgetter(2))[:_FINALISTS]
        runs = [run_rounds(table, centres, multipliers, max_iter - _TRIAL_ROUNDS) for centres, multipliers, _ in best]
    centres, multipliers, _ = min(runs, key=itemgetter(2))
    return centres, multipliers


def _draw_part(
    X: np.ndarray, weights: np.ndarray, groups: np.ndarray, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One of ``_N_PARTS`` parts of the rows of each group, at least one row, with weights that add up to the group's."""
    row_samples, scales = [], []
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        drawn = np.sort(random_state.choice(members, -(-len(members) // _N_PARTS), replace=False))
        row_samples.append(drawn)
        scales.append(np.full(len(drawn), weights[members].sum() / weights[drawn].sum()))
    rows = np.concatenate(row_samples)
    return X[rows], weights[rows] * np.concatenate(scales), groups[rows]


def _means(X: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Means (k, d) of the rows, weighted by their amounts (n, k) in the clusters, which are never quite 0."""
    return np.stack([(weights[:, None] * X).sum(axis=0) / weights.sum() for weights in amounts.T])
