"""The declaration of a score, and its evaluation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Score:
    """One number about a clustering. It is a column of ``runs.csv``, an entry of the glossary, and usually in fairness reports.

    Attributes
    ----------
    name : str
        Name of the column of ``runs.csv``.
    computed_from : type
        The input of ``function``: ``Pieces``, ``JoinedClusterlets``, ``Instances`` or ``PriceInputs``.
    function : callable
        Computes the score from an object of that type; returns NaN if the score is undefined for this object.
    range : tuple of float
        Smallest and largest possible value, either of which may be infinite.
    meaning : str
        What the score measures, in plain text.
    unit : str
        ``ratio`` for a number without a unit.
    better : {"higher", "lower", None}
        Which values are better; None if neither are.
    undefined : str
        When the score is NaN, which is an empty cell in the result files. An empty text if the score is always defined.
    source : str
        The publication that defines the score, if it is not the paper.
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
        """Unit, range and direction: ``instances, 0.., lower is better``. "or empty" is added if the score may be undefined."""
        low, high = (f"{bound:g}" if abs(bound) < float("inf") else "" for bound in self.range)
        direction = f", {self.better} is better" if self.better else ""
        return f"{self.unit}, {low}..{high}{' or empty' if self.undefined else ''}{direction}"

    @property
    def explanation(self) -> str:
        """One text with the meaning, the condition under which the score is undefined, and the source."""
        condition = f". Empty {self.undefined}" if self.undefined else ""
        return f"{self.meaning}{condition}{f' ({self.source})' if self.source else ''}"


def evaluate(scores: Iterable[Score], source: Any) -> dict[str, float]:
    """The value of each score that is computed from the type of ``source``, by the name of the score."""
    return {score.name: score.function(source) for score in scores if score.computed_from is type(source)}
