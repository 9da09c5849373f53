"""What other seeds of ours would print in a cell of the paper's tables, and what they would print if it were wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

_LAST_BIT = 1e-12
# Half-widths within which a reader would call two numbers close: the larger of a number and a share of the printed one.
_CLOSE = {
    "deviation": (0.005, 0.40),
    "cohesion": (0.03, 0.0),
    "centroid": (0.03, 0.0),
    "overlap": (0.03, 0.0),
    "size": (1.0, 0.10),
    "correlation": (0.06, 0.0),
}

#: The table, row and quantity of a cell.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Numbers:
    """A distribution over a number: a mixture of Student-t kernels with three degrees of freedom.

    ``atoms`` (m,) are the centres, ``weights`` (m,) add up to 1, and ``width`` is the kernels' scale, which is raised to a
    quarter of the printed number's last digit if it is less.
    """

    atoms: np.ndarray
    weights: np.ndarray
    width: float

    def probability(self, printed: str) -> float:
        """Probability that a number rounds to the printed one. O(m)."""
        below, above = self._tails(printed)
        return 1 - below - above

    def tail(self, printed: str) -> float:
        """Probability of a number at least as far out as the printed one, on either side."""
        below, above = self._tails(printed)
        return min(1.0, 2 * (1 - max(below, above)))

    def _tails(self, printed: str) -> tuple[float, float]:
        """Probabilities of a number that rounds to less, and to more."""
        value, unit = float(printed), last_digit(printed)
        scale = max(self.width, unit / 4)
        below = student((value - unit / 2 - self.atoms) / scale)
        above = student((self.atoms - value - unit / 2) / scale)
        return float((self.weights * below).sum()), float((self.weights * above).sum())


@dataclass(frozen=True)
class Options:
    """A distribution over a few options, by their names; the probabilities add up to 1."""

    masses: Mapping[str, float]

    def probability(self, printed: str) -> float:
        return self.masses.get(printed, 0.0)

    def tail(self, printed: str) -> float:
        """Probability of an option no likelier than the printed one."""
        highest = self.probability(printed) + _LAST_BIT
        return sum(mass for mass in self.masses.values() if mass <= highest)


Prediction = Numbers | Options


@dataclass(frozen=True)
class Forecast:
    """What a number of ours would be on other seeds, and groups of alternatives: what it would be if it were wrong."""

    quantity: str
    own: Prediction
    alternatives: tuple[tuple[Prediction, ...], ...]

    def evidence(self, printed: str) -> float:
        """How many times likelier the printed number is as ours than as an alternative; all groups count the same.

        A further group is our distribution moved up and down by what a reader would still call close.
        """
        groups: list[tuple[Prediction, ...]] = list(self.alternatives)
        if isinstance(self.own, Numbers):
            distance = closeness_limit(self.quantity, float(printed))
            groups.append(tuple(replace(self.own, atoms=self.own.atoms + step) for step in (distance, -distance)))
        alternative = np.mean([np.mean([other.probability(printed) for other in group]) for group in groups if group])
        return float(self.own.probability(printed) / max(alternative, np.finfo(float).tiny))


def closeness_limit(quantity: str, printed: float) -> float:
    """How far a number may be from a printed one to count as close."""
    absolute, share = _CLOSE[quantity.split("_")[0]]
    return max(absolute, share * abs(printed))


def last_digit(printed: str) -> float:
    """The unit of the last printed digit: 0.001 for ``.836``, 1 for ``17``."""
    return float(f"1e-{len(printed.partition('.')[2])}")


def student(values: np.ndarray) -> np.ndarray:
    """The distribution function of Student's t with three degrees of freedom."""
    ratio = values / np.sqrt(3.0)
    return 0.5 + (ratio / (1 + ratio * ratio) + np.arctan(ratio)) / np.pi
