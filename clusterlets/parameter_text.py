"""Parameters of methods as text: in results, in the names of files, and on command lines."""

import itertools
import json
import math
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import clusterlets.installation  # noqa: F401
from clusterlets.errors import ClusterletsError
from clusterlets.parameters import canonical_value
from clusterlets.tables.numerals import parse_number

# Characters that need no escape in file names. The underscore needs one, because it separates parameters.
_UNESCAPED = frozenset(string.ascii_letters + string.digits + ".+-")

_WHOLE = re.compile(r"[+-]?[0-9]+")
_MAX_DIGITS = 300  # about as many as in the largest float; Python refuses to convert more than 4,300
_KEYWORDS = {
    **dict.fromkeys(("null", "Null", "NULL", "~")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

Value = int | float | str | bool | None


def combinations(parameters: Mapping[str, list]) -> Iterator[dict[str, Value]]:
    """All combinations of the values that are listed for each parameter."""
    for values in itertools.product(*parameters.values()):
        yield dict(zip(parameters, values, strict=True))


def configuration(parameters: Mapping[str, Value]) -> str:
    """The name of a configuration in paths, such as ``_tau0.1_max_iter7``. Numbers keep all digits."""
    return "".join(f"_{name}{as_text(value)}" for name, value in parameters.items())


def format_parameters(parameters: Mapping[str, Value]) -> str:
    """The parameters of a run, as they are written in results: ``hops=2,scope=last``."""
    return ",".join(f"{name}={as_text(value)}" for name, value in parameters.items())


def format_nested(parameters: Mapping[str, Any]) -> str:
    """Write parameters as :func:`format_parameters` does, but mappings as JSON."""
    simple_values = {name: value for name, value in parameters.items() if not isinstance(value, Mapping)}
    mappings = [f"{name}={json.dumps(value)}" for name, value in parameters.items() if isinstance(value, Mapping)]
    return ",".join([*filter(None, [format_parameters(simple_values)]), *mappings])


def parse_parameters(text: str) -> dict[str, Value]:
    """Parse parameters that :func:`format_parameters` or a user wrote. Raises ClusterletsError if one is given twice."""
    parameters: dict[str, Value] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in parameters:
            raise ClusterletsError(f"Parameter {name!r} is given twice in {text!r}; give it one value.")
        parameters[name] = parse_value(value)
    return parameters


def as_text(value: Value) -> str:
    """Write a value in characters that are safe in paths. Text that looks like a number is escaped; empty text becomes "%"."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        digits, exponent, power = repr(value + 0).partition("e")  # adding 0 turns -0.0 into 0.0
        return f"{digits}{'' if '.' in digits else '.0'}e{power}" if exponent else digits.removesuffix(".0")
    escaped = "".join(char if char in _UNESCAPED else "".join(f"%{byte:02X}" for byte in char.encode()) for char in value)
    if not escaped:
        return "%"
    return escaped if _is_read_as_text(escaped) else f"%{ord(escaped[0]):02X}{escaped[1:]}"


def _is_read_as_text(text: str) -> bool:
    try:
        return isinstance(parse_unquoted(text), str)
    except ClusterletsError:
        return False


def parse_value(text: str) -> Value:
    """Parse a value that :func:`as_text` or a user wrote. With quotes or escapes it is text."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if "%" in text:
        return "" if text == "%" else unquote(text)
    return parse_unquoted(text)


def parse_unquoted(text: str) -> Value:
    """Parse a value without quotes: null, true, false, a number such as 010, 1e5 or .5, or else text.

    Raises ClusterletsError for a number that is too large.
    """
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if _WHOLE.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise ClusterletsError(f"{text[:60]}...: a whole number may have at most {_MAX_DIGITS} digits.")
        return int(text)
    value = parse_number(text)
    if math.isinf(value):
        raise ClusterletsError(f"{text[:60]} is not a finite number.")
    if not value and re.search("[1-9]", text.lower().partition("e")[0]):
        raise ClusterletsError(f"{text[:60]} is so small that it would be read as 0; write 0 or a larger number.")
    return text if math.isnan(value) else canonical_value(value)
