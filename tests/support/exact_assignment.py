"""The cheapest fair assignment to given centres, with proof: a baseline for tests and for small tables.

With the counts of each group in each cluster fixed to whole numbers, what remains is a transportation problem for each
group, whose solution is whole by itself. So only these counts must be whole in a mixed-integer program over all shares of
instances. Solvers of such programs differ in their last digits and in their choice among equals: nothing that is promised
byte for byte may rest on this module.
"""

from dataclasses import dataclass
from math import frexp

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from clusterlets.algorithms.fair_assignment import fair_assignment, share_bounds
from clusterlets.algorithms.transport import transport_groups
from clusterlets.errors import ClusterletsError

# Less than a whole instance by more than the solver's tolerance, so that a bound missed by 1 counts as missed.
_SLACK = 1 - 1e-5


@dataclass(frozen=True)
class ExactAssignment:
    """An assignment, and what is known about the cheapest one.

    Attributes
    ----------
    labels : int array (n,)
    cost : float
    bound : float
        No assignment that keeps the bounds costs less, to the accuracy of the solver.
    is_optimal : bool
        Whether the solver proved, to a millionth of the cost, that there is no cheaper one.
    """

    labels: np.ndarray
    cost: float
    bound: float
    is_optimal: bool


def exact_assignment(costs: np.ndarray, groups: np.ndarray, delta: float = 0.0, time_limit: float = 60.0) -> ExactAssignment:
    """Assign every instance at the least cost, no cluster empty, within bounds on the shares of the groups.

    Parameters
    ----------
    costs : float array (n, k)
        Squared distances, say; finite and not negative.
    groups : int array (n,)
        0..K-1, each of which occurs.
    delta : float
        In [0, 1): of m instances, a cluster holds from floor(m r (1 - delta)) to ceil(m r / (1 - delta)) of a group with
        share r in the table.
    time_limit : float
        Seconds for the solver. Afterwards its best assignment stands, or that of :func:`fair_assignment` if it has none.

    Returns
    -------
    ExactAssignment

    Raises
    ------
    ClusterletsError
        If there are more clusters than instances, ``delta`` is out of range, or the solver fails.

    Notes
    -----
    n k continuous and K k whole variables, by HiGHS: exponential at worst. 2,000 instances and 10 clusters take some seconds
    with two groups, and may stay open for minutes with three. The fair assignment with bounds: Bera et al. 2019.
    """
    costs, groups = np.ascontiguousarray(costs, dtype=np.float64), np.ascontiguousarray(groups, dtype=np.int64)
    n, k = costs.shape
    if k > n:
        raise ClusterletsError(f"{n} instances cannot fill {k} clusters.")
    low, high = share_bounds(groups, delta)
    # The cost above each instance's least, scaled to about 1: a part that all assignments share would let the differences
    # drown in the solver's tolerances.
    least = costs.min(axis=1, keepdims=True)
    excess = costs - least
    unit = 2.0 ** frexp(float(excess.max()))[1]
    solution = _solve(excess / unit, groups, low, high, time_limit)
    if solution.status not in (0, 1):  # proved, or out of time
        raise ClusterletsError(f"The solver found no fair assignment of {n} instances to {k} clusters: {solution.message}")
    offset = float(least.sum())
    bound = offset + unit * max(0.0, float(solution.mip_dual_bound or 0.0))
    if solution.x is None:
        fallback = fair_assignment(costs, groups, delta)
        return ExactAssignment(fallback.labels, fallback.cost, max(bound, fallback.bound), False)
    counts = np.rint(solution.x[n * k :]).astype(np.int64).reshape(-1, k)
    _check(counts, low, high)
    labels = transport_groups(costs, groups, counts)
    cost = float(costs[np.arange(n), labels].sum())
    return ExactAssignment(labels, cost, min(bound, cost), solution.status == 0)


def _solve(costs: np.ndarray, groups: np.ndarray, low: np.ndarray, high: np.ndarray, time_limit: float) -> OptimizeResult:
    """HiGHS's answer to the program over shares of instances (n, k) and whole counts (K, k)."""
    (n, k), n_groups = costs.shape, len(low)
    identity, no_counts = eye_array(k), csr_array((n, n_groups * k))
    instances = hstack([kron(eye_array(n), np.ones((1, k))), no_counts])
    membership = csr_array((np.ones(n), (groups, np.arange(n))), shape=(n_groups, n))
    counted = hstack([kron(membership, identity), -eye_array(n_groups * k)])
    too_few = low[:, None] - np.eye(n_groups)
    too_many = np.eye(n_groups) - high[:, None]
    rows = [too_few, too_many, -np.ones((1, n_groups))]
    shares = hstack([csr_array(((2 * n_groups + 1) * k, n * k)), kron(np.vstack(rows), identity)])
    limits = np.concatenate([np.full(2 * n_groups * k, _SLACK), np.full(k, -1.0)])
    return milp(
        np.concatenate([costs.ravel(), np.zeros(n_groups * k)]),
        integrality=np.repeat([0, 1], [n * k, n_groups * k]),
        bounds=Bounds(0, np.repeat([1.0, float(n)], [n * k, n_groups * k])),
        constraints=[
            LinearConstraint(vstack([instances, counted]), *[np.repeat([1.0, 0.0], [n, n_groups * k])] * 2),
            LinearConstraint(shares, -np.inf, limits),
        ],
        options={"time_limit": time_limit, "mip_rel_gap": 1e-6},
    )


def _check(counts: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Whole counts must keep the bounds by themselves, whatever the solver's tolerances."""
    sizes = counts.sum(axis=0)
    within = (counts >= np.floor(low[:, None] * sizes + 1e-9)) & (counts <= np.ceil(high[:, None] * sizes - 1e-9))
    if not within.all() or not sizes.all():
        raise ClusterletsError("The solver's counts of groups do not keep the bounds; another time limit may help.")
