"""The declaration of a score, and its evaluation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Score:
    """One number about a clustering: a column of ``runs.csv``, an entry of the glossary, and usually of a fairness report.

    Attributes
    ----------
    name : str
        As in ``runs.csv``.
    computed_from : type
        What it is computed from: ``Pieces``, ``JoinedClusterlets``, ``Instances`` or ``PlainCost``.
    function : callable
        From a value of that type to the score; NaN where it has no meaning.
    range : tuple of float
        Smallest and largest possible value, either of which may be infinite.
    meaning : str
        What it measures, in plain text.
    unit : str
        ``ratio`` for a number without one.
    better : {"higher", "lower", None}
        None where neither is better.
    undefined : str
        When it is NaN, an empty cell in the result files; empty if never.
    source : str
        The publication that defines it, if it is not the paper.
    """

    name: str
    computed_from: type
    function: Callable[[Any], float]
    range: tuple[float, float]
    meaning: str
    unit: str = "ratio"
    better: Literal["higher", "lower"] | None = None
    undefined: str = ""
    source: str = ""

    @property
    def values(self) -> str:
        """Unit, range and direction: ``instances, 0.., lower is better``; ``or empty`` where it may be undefined."""
        low, high = (f"{bound:g}" if abs(bound) < float("inf") else "" for bound in self.range)
        direction = f", {self.better} is better" if self.better else ""
        return f"{self.unit}, {low}..{high}{' or empty' if self.undefined else ''}{direction}"

    @property
    def explanation(self) -> str:
        """Meaning, and where it is undefined and published, as one text."""
        condition = f". Empty {self.undefined}" if self.undefined else ""
        return f"{self.meaning}{condition}{f' ({self.source})' if self.source else ''}"


def evaluate(scores: Iterable[Score], values: Any) -> dict[str, float]:
    """Evaluate, by name, the scores that are computed from values of this type."""
    return {score.name: score.function(values) for score in scores if score.computed_from is type(values)}
