"""Lloyd's algorithm with an assignment within limits that may split instances among clusters.

It finds centres for methods that later assign whole instances to them, and can run on a weighted sample.
"""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from clusterlets.algorithms.fair_dual import FairAssignment
from clusterlets.algorithms.limits import violation_units
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans

_COLD_START, _WARM_START = (0.1, 0.03), (0.03,)  # temperatures of the dual; lower ones would hardly move a centre
_TOLERANCE = 1e-3  # of the dual, as a fraction of all instances
_TRIAL_ROUNDS, _MAX_ROUNDS = 5, 25  # rounds of each start, and more rounds of the best ones
_N_FINALISTS = 2  # starts that continue after the trial rounds
_MIN_GAIN = 1e-3  # rounds end if one lowers the bound on the cost by no more than this fraction, ...
_CATCH_UP = 4.0  # ... or if a bound to beat is further away than this many times the last gain


@dataclass(frozen=True)
class Centres:
    """Centres (k, d), and the multipliers (R, k) and the bound of the last fractional assignment, whose means they are."""

    centres: np.ndarray
    multipliers: np.ndarray | None
    bound: float


def fractional_lloyd(
    X: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    rows: np.ndarray,
    slack: np.ndarray,
    random_state: np.random.Generator,
    n_init: int = 1,
) -> Centres:
    """Centres for the cheapest fractional assignment within limits.

    Parameters
    ----------
    X : float array (n, d)
    weights : float array (n,)
        Number of instances that each row stands for. The groups' shares of all instances must keep the limits.
    groups : int array (n,)
        0..K-1, each of which occurs.
    rows, slack : int arrays (R, K), (R, k)
        The limits: ``rows @ counts`` may be at most ``slack`` for the counts (K, k) of the groups in the clusters.
    n_init : int
        Number of starts. All run for a few rounds, and the best two continue.

    Notes
    -----
    Some centres are equal if there are fewer distinct rows than clusters. Lloyd's algorithm with fair fractional assignments on
    coresets is due to Schmidt, Schwiegelshohn and Sohler, 2018. A round takes O(n k d) time and the time of the dual.
    """
    units = violation_units(rows)[:, None]
    X = np.ascontiguousarray(X, dtype=np.float64)
    assignment = FairAssignment(weights, groups, rows.shape[1], rows / units, slack / units)
    starts = [Centres(weighted_kmeans(X, weights, slack.shape[1], random_state)[0], None, np.inf) for _ in range(n_init)]
    trials = sorted((run_rounds(X, assignment, start, _TRIAL_ROUNDS) for start in starts), key=attrgetter("bound"))
    finalists = [run_rounds(X, assignment, trial, _MAX_ROUNDS) for trial in trials[:_N_FINALISTS]]
    return min(finalists, key=attrgetter("bound"))


def run_rounds(
    X: np.ndarray,
    assignment: FairAssignment,
    start: Centres,
    max_rounds: int,
    bound_to_beat: float = np.inf,
    min_gain: float = _MIN_GAIN,
) -> Centres:
    """Alternate fractional assignments of the rows (n, d) and means until a round gains no more than a fraction of the bound.

    They also end if they cannot beat another bound.
    """
    centres, multipliers, last_bound = start.centres, start.multipliers, np.inf
    for _ in range(max_rounds):
        temperatures = _COLD_START if multipliers is None else _WARM_START
        dual = assignment.solve_at(X, centres, multipliers, temperatures, _TOLERANCE * assignment.n_instances)
        centres, multipliers, gain = dual.means, dual.multipliers, last_bound - dual.bound  # type: ignore[assignment]  # a solution has means
        if gain <= min_gain * last_bound < np.inf or dual.bound - bound_to_beat > _CATCH_UP * gain:
            break
        last_bound = dual.bound
    return Centres(centres, multipliers, dual.bound)
