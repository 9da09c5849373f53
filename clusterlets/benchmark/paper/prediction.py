"""Forecasts of the numbers in the paper's tables: how likely our runs with other seeds are to give each number.

A forecast also holds alternatives: what a paper with wrong numbers might print, such as the numbers of other datasets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

# Probabilities that differ by at most this count as equal, because of rounding errors.
_TIE_TOLERANCE = 1e-12
# The largest distance at which a reader would still call a number close to a printed one. It is the larger of an absolute
# distance and a share of the printed number.
_CLOSENESS_LIMITS = {
    "deviation": (0.005, 0.40),
    "cohesion": (0.03, 0.0),
    "centroid": (0.03, 0.0),
    "overlap": (0.03, 0.0),
    "size": (1.0, 0.10),
    "correlation": (0.06, 0.0),
}

#: A cell of the paper's tables, by table, row and quantity.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Mixture:
    """The distribution of a number: a mixture of Student-t kernels with three degrees of freedom.

    ``atoms`` (m,) are the centres, and ``weights`` (m,) add up to 1. The scale of the kernels is ``width``, but at least a
    quarter of a unit in the last printed digit.
    """

    atoms: np.ndarray
    weights: np.ndarray
    width: float

    def probability(self, printed: str) -> float:
        """Probability that a number rounds to the printed one. O(m)."""
        below, above = self._tails(printed)
        return 1 - below - above

    def tail(self, printed: str) -> float:
        """The two-sided tail probability: that of a number at least as extreme as the printed one."""
        below, above = self._tails(printed)
        return min(1.0, 2 * (1 - max(below, above)))

    def _tails(self, printed: str) -> tuple[float, float]:
        """Probabilities that a number rounds to less than the printed one, and to more."""
        value, unit = float(printed), last_digit_unit(printed)
        scale = max(self.width, unit / 4)
        below = student_cdf((value - unit / 2 - self.atoms) / scale)
        above = student_cdf((self.atoms - value - unit / 2) / scale)
        return float((self.weights * below).sum()), float((self.weights * above).sum())


@dataclass(frozen=True)
class Options:
    """A distribution over a few named options, such as the matchers: their probabilities, which add up to 1."""

    probabilities: Mapping[str, float]

    def probability(self, printed: str) -> float:
        return self.probabilities.get(printed, 0.0)

    def tail(self, printed: str) -> float:
        """Total probability of the options that are no likelier than the printed one."""
        limit = self.probability(printed) + _TIE_TOLERANCE
        return sum(probability for probability in self.probabilities.values() if probability <= limit)


Prediction = Mixture | Options


@dataclass(frozen=True)
class Forecast:
    """What our runs with other seeds would give for a number (``prediction``), and what a wrong paper might print instead.

    ``alternatives`` are groups of distributions; for example, one group holds those of the other datasets.
    """

    quantity: str
    prediction: Prediction
    alternatives: tuple[tuple[Prediction, ...], ...]

    def evidence(self, printed: str) -> float:
        """How many times likelier the printed number is under our prediction than under the alternatives.

        Every group of alternatives has the same weight. For a number, there is one more group: our prediction, shifted up
        and down by :func:`closeness_limit`.
        """
        groups: list[tuple[Prediction, ...]] = list(self.alternatives)
        if isinstance(self.prediction, Mixture):
            limit = closeness_limit(self.quantity, float(printed))
            groups.append(tuple(replace(self.prediction, atoms=self.prediction.atoms + shift) for shift in (limit, -limit)))
        mean_probability = np.mean([np.mean([member.probability(printed) for member in group]) for group in groups if group])
        return float(self.prediction.probability(printed) / max(mean_probability, np.finfo(float).tiny))


def closeness_limit(quantity: str, printed: float) -> float:
    """The largest distance from a printed number at which another number still counts as close to it."""
    absolute, share = _CLOSENESS_LIMITS[quantity.split("_")[0]]
    return max(absolute, share * abs(printed))


def last_digit_unit(printed: str) -> float:
    """The unit of the last printed digit: 0.001 for ``.836``, 1 for ``17``."""
    return float(f"1e-{len(printed.partition('.')[2])}")


def student_cdf(values: np.ndarray) -> np.ndarray:
    """The cumulative distribution function of Student's t with three degrees of freedom."""
    ratio = values / np.sqrt(3.0)
    return 0.5 + (ratio / (1 + ratio * ratio) + np.arctan(ratio)) / np.pi
