"""What a parameter of a method may be, and what it means: said once, on the method's class.

The checks of configurations, commands and estimators follow from it, and so do the estimators' signatures and
docstrings, the options of ``clusterlets cluster``, the search of ``tune`` and the tables of docs/methods.md. The default
is that of ``fit``.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from clusterlets.methods.bounds import Bound

#: What a parameter's value may be, so that it can stand in a configuration and in the name of a file.
VALUE_TYPES: tuple[Any, ...] = (int, float, str, bool, type(None))


@dataclass(frozen=True)
class Parameter:
    """A parameter that may have any value; the subclasses say which values it may have.

    Attributes
    ----------
    meaning : str
        One sentence or a few, for a user.
    grid : sequence
        Values that a configuration tries unless it names its own; without any, the default alone is tried, and paths do
        not name the parameter.
    also : sequence
        Values that are allowed besides those of the range or the choices: ``"auto"`` or None.
    trades_fairness : bool
        Whether its values trade fairness for cost, so that ``tune`` tries those of the grid.
    bound : Bound or None
        If it bounds the groups of every cluster: what it promises, and how to check it.
    default : object
        Filled in from the signature of ``fit`` (or of a matcher's ``match``).
    """

    _: KW_ONLY
    meaning: str = ""
    grid: Sequence[Any] = ()
    also: Sequence[Any] = ()
    trades_fairness: bool = False
    bound: Bound | None = None
    default: Any = None

    @property
    def allowed(self) -> str:
        """The values that it may have, in words."""
        return " or ".join(filter(None, (self._range(), *map(_text, self.also))))

    @property
    def annotation(self) -> str:
        """Its type, as a stub writes it."""
        texts = [f'"{value}"' for value in self.also if isinstance(value, str)]
        literals = ["Literal[" + ", ".join(texts) + "]"] if texts else []
        return " | ".join([self._type(), *literals, *(["None"] if None in self.also else [])])

    def fault(self, name: str, value: Any) -> str:
        """What is wrong with a value, in words; empty if it may have it."""
        is_special = any(value is special or (isinstance(value, str) and value == special) for special in self.also)
        return "" if is_special or self._accepts(value) else f"{name}: {value!r}; it must be {self.allowed}"

    def _type(self) -> str:
        return "Any"

    def _range(self) -> str:
        return "anything"

    def _accepts(self, value: Any) -> bool:
        return True


@dataclass(frozen=True)
class Real(Parameter):
    """A number from ``least`` to ``most``; with ``above``, ``least`` itself is excluded."""

    least: float
    most: float
    _: KW_ONLY
    above: bool = False

    def _type(self) -> str:
        return "float"

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

    def _type(self) -> str:
        return "int"

    def _range(self) -> str:
        return f"a whole number from {_text(self.least)} to {_text(self.most)}"

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, int) and super()._accepts(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few texts."""

    choices: Sequence[str]

    def _type(self) -> str:
        return "Literal[" + ", ".join(f'"{choice}"' for choice in self.choices) + "]"

    def _range(self) -> str:
        return " or ".join(self.choices)

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices


def _text(value: Any) -> str:
    """A value as a configuration writes it."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
