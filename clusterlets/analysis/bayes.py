"""The Bayesian signed-rank test, with a region of practical equivalence (Benavoli et al. 2014; 2017, section 4.2).

Wilcoxon's test says how surprising the differences would be if the methods were equal. This test gives the probabilities
that one method deviates less than the other, that both are practically equivalent, and that it deviates more.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

#: Half the width of the region of practical equivalence: mean deviations within half a percentage point are equivalent. The
#: comparison with the paper calls a deviation within this distance close.
ROPE = 0.005
DRAWS = 20_000
#: Weight of the prior's single observation at 0, inside the region; each block has the weight 1.
PRIOR = 0.5
_DECIMALS = 12
COLUMNS = [
    *("ranking", "method", "other", "blocks", "rope"),
    *("probability_lower", "probability_equivalent", "probability_higher"),
]


def signed_ranks(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every pair of methods of each sample (blocks x methods, mean deviations): ``bayes.csv``, columns ``COLUMNS``."""
    rows = [
        (name, method, other, len(values), ROPE, *posterior(values[method] - values[other]))
        for name, values in samples.items()
        for method, other in combinations(values, 2)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def posterior(differences: ArrayLike) -> tuple[float, float, float]:
    """Probabilities that a difference (n,) is typically below -:data:`ROPE`, within it, and above; they add up to 1.

    The blocks, one difference each, and the prior's observation at 0 have weights from a Dirichlet distribution. Each draw of
    the weights gives the shares of the Walsh averages (z_i + z_j) / 2 below, within and above the region, and counts for the
    largest of the three. Draws come from a fixed seed; one is added to each of the three counts (Laplace's rule), so that no
    probability is 0. O(draws * blocks).
    """
    z = np.round(np.append(0.0, np.asarray(differences, float)), _DECIMALS)
    order = np.argsort(z, kind="stable")
    z, weights = z[order], _weights(len(z))[order]
    # (n + 2, draws): row i holds the total weight of the i smallest.
    cumulative = np.vstack([np.zeros(DRAWS), np.cumsum(weights, axis=0)])
    low = np.searchsorted(z, np.round(-2 * ROPE - z, _DECIMALS), side="left")
    high = np.searchsorted(z, np.round(2 * ROPE - z, _DECIMALS), side="right")
    below = (weights * cumulative[low]).sum(axis=0)
    above = (weights * (cumulative[-1] - cumulative[high])).sum(axis=0)
    within = (weights * (cumulative[high] - cumulative[low])).sum(axis=0)
    largest = np.argmax([within, below, above], axis=0)
    counts = np.bincount(largest, minlength=3) + 1.0
    share_within, share_below, share_above = counts / counts.sum()
    return float(share_below), float(share_within), float(share_above)


@lru_cache(maxsize=4)
def _weights(n: int) -> np.ndarray:
    """Draws (n, DRAWS) of unnormalized Dirichlet weights: ``PRIOR`` for the first observation, 1 for each further one."""
    stream = np.random.default_rng(0)
    weights = np.vstack([stream.standard_gamma(PRIOR, DRAWS), stream.standard_exponential((n - 1, DRAWS))])
    weights.flags.writeable = False  # the cache shares it between callers
    return weights
