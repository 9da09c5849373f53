"""The Bayesian signed-rank test, with a region of practical equivalence (Benavoli et al. 2014; 2017, section 4.2).

Wilcoxon's test says how surprising the differences would be if the methods were equal. For two methods, this test gives the
probabilities that the first deviates less than the second, that the two are practically equivalent, and that the first deviates
more.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

#: Half the width of the region of practical equivalence: two mean deviations are equivalent if they differ by at most half a
#: percentage point. The comparison with the paper calls deviations close by the same measure.
ROPE = 0.005
DRAWS = 20_000  # number of draws of the blocks' weights
#: The weight of the prior, which is a single difference of 0, inside the region. A block has weight 1.
PRIOR = 0.5
_DECIMALS = 12  # differences are rounded to this many decimals before they are compared with the region
COLUMNS = [
    *("ranking", "method", "other", "blocks", "rope"),
    *("probability_lower", "probability_equivalent", "probability_higher"),
]


def signed_ranks(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The test of every pair of methods of each sample: ``bayes.csv``, columns ``COLUMNS``.

    A sample holds mean deviations, blocks x methods.
    """
    rows = [
        (name, method, other, len(values), ROPE, *posterior(values[method] - values[other]))
        for name, values in samples.items()
        for method, other in combinations(values, 2)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def posterior(differences: ArrayLike) -> tuple[float, float, float]:
    """Probabilities that differences (n,), one per block, are typically below, within and above the region; they add up to 1.

    The region extends from -:data:`ROPE` to :data:`ROPE`. The differences z, to which the prior adds a 0, get weights from a
    Dirichlet distribution. Each draw of the weights gives the weighted shares of the Walsh averages (z_i + z_j) / 2 below,
    within and above the region, and counts for the largest of these three shares. The draws come from a fixed seed. One is
    added to each of the three counts (Laplace's rule), so that no probability is 0. O(draws * blocks).
    """
    z = np.round(np.append(0.0, np.asarray(differences, float)), _DECIMALS)
    order = np.argsort(z, kind="stable")
    z, weights = z[order], _weights(len(z))[order]
    # Shape (n + 2, draws): row i holds the total weight of the i smallest differences.
    cumulative = np.vstack([np.zeros(DRAWS), np.cumsum(weights, axis=0)])
    first_within = np.searchsorted(z, np.round(-2 * ROPE - z, _DECIMALS), side="left")
    first_above = np.searchsorted(z, np.round(2 * ROPE - z, _DECIMALS), side="right")
    weight_below = (weights * cumulative[first_within]).sum(axis=0)
    weight_above = (weights * (cumulative[-1] - cumulative[first_above])).sum(axis=0)
    weight_within = (weights * (cumulative[first_above] - cumulative[first_within])).sum(axis=0)
    largest_region = np.argmax([weight_within, weight_below, weight_above], axis=0)
    counts = np.bincount(largest_region, minlength=3) + 1.0
    share_within, share_below, share_above = counts / counts.sum()
    return float(share_below), float(share_within), float(share_above)


@lru_cache(maxsize=4)
def _weights(n: int) -> np.ndarray:
    """Draws (n, DRAWS) of Dirichlet weights, not normalised. The parameter is ``PRIOR`` for the first row, 1 for the others."""
    rng = np.random.default_rng(0)
    weights = np.vstack([rng.standard_gamma(PRIOR, DRAWS), rng.standard_exponential((n - 1, DRAWS))])
    weights.flags.writeable = False  # because the cache gives all callers the same array
    return weights
