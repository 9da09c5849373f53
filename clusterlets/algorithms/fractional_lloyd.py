"""Lloyd's algorithm with a fair assignment that may split instances among clusters.

It finds centres for methods that later assign whole instances to them, and can run on a weighted sample.
"""

from operator import itemgetter

import numpy as np

from clusterlets.algorithms.fair_dual import TEMPERATURES, fractional_assignment, share_rows, solve_dual
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans

_N_TRIAL_ROUNDS = 5  # rounds of each start before the starts are compared
_N_PARTS, _MIN_ROWS_OF_PART = 4, 1_000  # several starts are tried on one of four parts, if a part has at least 1,000 rows
_N_FINALISTS = 2  # starts that continue after the trial rounds
_LAST_TEMPERATURE = TEMPERATURES[5]  # lower temperatures would hardly move a centre


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
    """Centres (k, d) for the cheapest fractional assignment within bounds on shares, and the multipliers (R, k) of its dual.

    Parameters
    ----------
    X : float array (n, d)
    weights : float array (n,)
        Number of instances that each row stands for. The groups' shares of all instances must lie within the bounds, or the
        rounds do not converge.
    groups : int array (n,)
        0..K-1, each of which occurs.
    bounds : pair of float arrays (K,)
        Smallest and largest share of each group in a cluster, which make R constraints.
    slack : float
        Number of instances by which counts may violate a bound.
    n_init : int
        Number of starts. Several run for a few rounds, on a quarter of a large table, and the best two continue on all rows.
    max_iter : int
        Largest number of rounds of a start.
    tol : float
        A start ends with a round that lowers the dual's bound on the cost by no more than this fraction.

    Notes
    -----
    Some centres are equal if there are fewer distinct rows than clusters. Lloyd's algorithm with fair fractional assignments on
    coresets is due to Schmidt, Schwiegelshohn and Sohler, 2018. A round takes O(n k d) time and the time of the dual.
    """
    constraints = share_rows(*bounds)
    table = np.ascontiguousarray(X, dtype=np.float64), weights, groups

    def run_rounds(table, centres, multipliers, max_rounds):
        """Alternate fair assignments and means; returns the last centres, multipliers and bound of the dual."""
        X, weights, groups = table
        last_bound = np.inf
        for _ in range(max_rounds):
            costs = squared_distances_to_centres(X, centres, n_clusters)
            dual = solve_dual(costs, weights, groups, len(bounds[0]), constraints, slack, multipliers, _LAST_TEMPERATURE)
            multipliers = dual.multipliers
            centres = _means(X, fractional_assignment(costs, groups, dual) * weights[:, None])
            if dual.bound >= (1 - tol) * last_bound:
                break
            last_bound = dual.bound
        return centres, multipliers, dual.bound

    is_small = len(X) < _N_PARTS * _MIN_ROWS_OF_PART
    trial_table = table if n_init == 1 or is_small else _draw_part(*table, random_state)
    runs = []
    for _ in range(n_init):
        start, _ = weighted_kmeans(trial_table[0], trial_table[1], n_clusters, random_state)
        runs.append(run_rounds(trial_table, start, None, min(_N_TRIAL_ROUNDS, max_iter)))
    if max_iter > _N_TRIAL_ROUNDS:
        finalists = sorted(runs, key=itemgetter(2))[:_N_FINALISTS]
        runs = [run_rounds(table, centres, multipliers, max_iter - _N_TRIAL_ROUNDS) for centres, multipliers, _ in finalists]
    centres, multipliers, _ = min(runs, key=itemgetter(2))
    return centres, multipliers


def _draw_part(
    X: np.ndarray, weights: np.ndarray, groups: np.ndarray, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw 1 in ``_N_PARTS`` rows of each group, at least one, with weights scaled to add up to those of the whole group."""
    row_samples, scales = [], []
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        sample = np.sort(random_state.choice(members, -(-len(members) // _N_PARTS), replace=False))
        row_samples.append(sample)
        scales.append(np.full(len(sample), weights[members].sum() / weights[sample].sum()))
    rows = np.concatenate(row_samples)
    return X[rows], weights[rows] * np.concatenate(scales), groups[rows]


def _means(X: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Mean row (k, d) of each cluster, weighted by the positive amount of each row in the cluster: ``amounts`` (n, k)."""
    return np.stack([(amount[:, None] * X).sum(axis=0) / amount.sum() for amount in amounts.T])
