"""The parameters of methods. The class of a method declares which values each parameter may have, and what it means.

Everything else is derived from these declarations: the checks of configurations, commands and estimators, the options of
``clusterlets cluster`` and the tables of docs/methods.md. Only the default of a parameter comes from elsewhere, the signature
of ``fit``.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

import clusterlets.installation  # noqa: F401

# The largest rounding error of counts that are computed from shares.
_ROUNDING_ERROR = 1e-9


@dataclass(frozen=True)
class Bound:
    """What a parameter guarantees for every cluster, up to whole rows.

    Attributes
    ----------
    meaning : str
        The guarantee, in a few words.
    excess : callable
        Takes the value, the composition (C, K) and the counts of the groups in the table (K,). Returns the number of rows
        by which the worst cluster misses the guarantee, unrounded; 0 or less if every cluster keeps it.
    resolve : callable
        Takes the value, such as "balanced", and the requested number of clusters. Returns the number that the value stands
        for, or None if there is no bound at this value.
    """

    meaning: str
    excess: Callable[[Any, np.ndarray, np.ndarray], float]
    resolve: Callable[[Any, int], Any] = lambda value, n_clusters: value

    def missed_rows(self, value: Any, composition: np.ndarray, group_counts: np.ndarray) -> int:
        """Whole rows by which the worst cluster misses the guarantee; 0 if every cluster keeps it. O(C K)."""
        return max(0, ceil(self.excess(value, composition, group_counts) - _ROUNDING_ERROR))


def _excess_of_shares(delta: float, composition: np.ndarray, group_counts: np.ndarray) -> float:
    sizes = composition.sum(axis=1, keepdims=True)
    expected = sizes * group_counts / group_counts.sum()
    excess = composition - np.minimum(sizes, expected / (1 - delta))
    return float(np.maximum(excess, expected * (1 - delta) - composition).max())


def _fraction_of_group(tau: Any, n_clusters: int) -> Any:
    if isinstance(tau, str):
        return Fraction("1" if tau == "balanced" else tau.removesuffix("x")) / n_clusters
    return tau


#: A limit for each sensitive column. The method itself guarantees it to the last row, so the excess is not computed.
STRICT = Bound("in every cluster, strictly", lambda *_: 0.0)
#: A group with share r of the table makes up from r (1 - delta) to r / (1 - delta) of every cluster.
SHARES = Bound("shares from r (1 - delta) to r / (1 - delta) in every cluster", _excess_of_shares)
#: Every cluster has at least this fraction of each group: "balanced" is 1 / n_clusters, and "0.95x" is 0.95 / n_clusters.
PARTS = Bound(
    "at least tau of the rows of each group in every cluster",
    lambda tau, composition, group_counts: float((np.asarray(tau, dtype=float) * group_counts - composition).max()),
    _fraction_of_group,
)
#: For two groups: every cluster has at least this many rows of its rarer group for each row of its other group.
RATIO = Bound(
    "in every cluster at least this many rows of its rarer group for each row of the other",
    lambda balance, composition, _: float((balance / (1 + balance) * composition.sum(axis=1) - composition.min(axis=1)).max()),
)
#: Every cluster has at least this many rows.
SIZE = Bound(
    "at least this many rows in every cluster",
    lambda minimum, composition, _: float(minimum - composition.sum(axis=1).min()),
)


# ---- kinds of parameters ----------------------------------------------------------------------------------------------

#: The types of values that configurations and file names can hold.
VALUE_TYPES: tuple[Any, ...] = (int, float, str, bool, type(None))


def canonical_value(value: Any) -> Any:
    """Turn whole floats into integers, so that 1.0 and 1 are the same configuration. Other values stay as they are."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= 2**53  # larger floats are not exact
    return int(value) if is_whole else value


@dataclass(frozen=True)
class Parameter:
    """A parameter that may have any value. Subclasses restrict the values.

    Attributes
    ----------
    meaning : str
        What the parameter does, in one or a few sentences for users.
    grid : sequence
        Values to try unless a configuration lists others. If the grid is empty, only the default is tried, and paths do not
        contain the parameter.
    ladder : sequence
        Values to try in place of the grid in a comparison of all methods, at most eight.
    also : sequence
        Allowed values outside the range or the choices, such as ``"auto"`` or None.
    trades_fairness : bool
        Whether its values trade fairness for cost. ``tune`` compares with up to three values of its grid.
    bound : Bound or None
        What the parameter guarantees for every cluster, if anything.
    default : object
        The default value, from the signature of ``fit`` (or of a matcher's ``match``), if it takes the parameter.
    """

    _: KW_ONLY
    meaning: str = ""
    grid: Sequence[Any] = ()
    ladder: Sequence[Any] = ()
    also: Sequence[Any] = ()
    trades_fairness: bool = False
    bound: Bound | None = None
    default: Any = None

    def __post_init__(self) -> None:
        for name in ("grid", "ladder"):
            object.__setattr__(self, name, tuple(canonical_value(value) for value in getattr(self, name)))

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return " or ".join(filter(None, (self._range(), *map(_text, self.also))))

    def fault(self, name: str, value: Any) -> str:
        """What is wrong with a value, in words; empty if the value is allowed."""
        # "in" would fail for an array, and would take 1 for True.
        is_special = any(value is special or (isinstance(value, str) and value == special) for special in self.also)
        return "" if is_special or self._accepts(value) else f"{name}: {value!r}; it must be {self.allowed}"

    def _range(self) -> str:
        return "anything"

    def _accepts(self, value: Any) -> bool:
        return True


@dataclass(frozen=True)
class Real(Parameter):
    """A number from ``least`` to ``most``. With ``above``, ``least`` itself is excluded."""

    least: float
    most: float
    _: KW_ONLY
    above: bool = False

    def _range(self) -> str:
        if self.above:
            return f"a number above {_text(self.least)}, at most {_text(self.most)}"
        return f"a number from {_text(self.least)} to {_text(self.most)}"

    def _accepts(self, value: Any) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and self.least <= value <= self.most and not (self.above and value == self.least)


@dataclass(frozen=True)
class Integer(Real):
    """A whole number from ``least`` to ``most``."""

    def _range(self) -> str:
        return f"a whole number from {_text(self.least)} to {_text(self.most)}"

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, int) and super()._accepts(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few strings."""

    choices: Sequence[str]

    def _range(self) -> str:
        return " or ".join(self.choices)

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices


# ---- parameters that several methods share -------------------------------------------------------------------------------

#: How far a group's share of a cluster may be from its share of the table: a ratio from 1 - delta to 1 / (1 - delta).
DELTA = Real(
    0,
    0.999,
    grid=[0.0, 0.1, 0.3],
    trades_fairness=True,
    bound=SHARES,
    meaning="Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every "
    "cluster, up to whole instances. With several sensitive columns, a group is a combination of their values.",
)
#: For methods that bound shares. Unlike delta, it bounds each sensitive column, and it is strict.
MAX_DEVIATION = Real(
    0,
    1,
    also=[None],
    ladder=[0.01, 0.02, 0.03, 0.05, 0.07, 0.1],
    bound=STRICT,
    meaning="In place of delta: largest difference between a group's share in a cluster and in the table. It is kept strictly, "
    "in each sensitive column by itself, or the fit reports that it found no such clusters.",
)
#: For methods whose ``fit`` makes a single start: :func:`clusterlets.methods.fit` makes the others.
N_INIT = Integer(1, 10_000, default=1, meaning="Number of fits, of which the best one counts.")
MIN_CLUSTER_SIZE = Integer(
    1,
    10**9,
    bound=SIZE,
    meaning="Smallest number of rows in a cluster.",
)


def _text(value: Any) -> str:
    """A value as sentences show it. None is ``null``, as in a configuration."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
