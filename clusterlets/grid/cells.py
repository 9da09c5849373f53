"""The cells of the grid, the names of their files, and the random generators of their runs.

A cell is one method on one dataset, with one k and one batch of seeds, and with all values of its parameters. It is one file,
and one job scores it.
"""

import itertools
import json
import math
import re
import string
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np

from clusterlets.datasets.numerals import parse_number
from clusterlets.errors import ClusterletsError
from clusterlets.parameters import canonical_value

# Each step has a number, which selects its random stream. All methods share these steps; a fit has its method's number.
# The matchers' number is also 2, but only the sample has k = 0, so their streams differ.
EXTRACTION, PARTITIONS, SAMPLE = 0, 1, 2

# Characters that need no escape in file names. The underscore needs one, because it separates parameters.
_UNESCAPED = frozenset(string.ascii_letters + string.digits + ".+-")

# A configuration may contain only numbers that people and YAML read alike.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_MAX_DIGITS = 300  # about as many as in the largest float; Python refuses to convert more than 4,300
_DECIMAL = re.compile(r"(?:[+-]?(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-][0-9]+)?")
# Text that YAML may read as another number, a truth value or a date.
_DIFFERENT_IN_YAML = re.compile(
    r"[+-]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:[eE][+-][0-9]+)?|\.(?:inf|Inf|INF))"
    r"|\.[0-9_]+(?:[eE][+-][0-9]+)?|\.(?:nan|NaN|NAN)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?"
    r"|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF"
)
_KEYWORDS = {
    **dict.fromkeys(("null", "Null", "NULL", "~")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_SPELLING_ADVICE = "write numbers like 100000 or 1.0e+5, booleans as true or false, and text in quotes"

Value = int | float | str | bool | None


@dataclass(frozen=True)
class Cell:
    """One method on one dataset, with one k and one batch of seeds. ``parameters`` lists the values of each parameter."""

    dataset: str
    method: str
    k: int
    parameters: Mapping[str, list]
    seeds: str

    @property
    def configurations(self) -> list[dict[str, Value]]:
        """The parameters of each configuration of the cell."""
        return list(combinations(self.parameters))

    @property
    def path(self) -> str:
        """The cell's file, relative to the results folder."""
        return f"runs/{self.dataset}/{self.method}/k{self.k}/seeds{self.seeds}.csv"


def cells(config: Mapping) -> Iterator[Cell]:
    """All cells of the grid, in the order of the result files: first the matchers, by name; then the other methods, by k."""
    entries = config["method_settings"]
    matchers = [method for method in config["methods"] if entries[method]["is_matcher"]]
    others = [method for method in config["methods"] if method not in matchers]
    methods_with_k = [(method, k) for method in matchers for k in config["k"]]
    methods_with_k += [(method, k) for k in config["k"] for method in others]
    for dataset in config["datasets"]:
        for method, k in methods_with_k:
            for seeds in seed_batches(**config["seeds"]):
                yield Cell(dataset, method, k, entries[method]["parameters"], seeds)


def number_of_configurations(config: Mapping) -> int:
    """An upper bound on the configurations in all cells of the grid and its variants, computed without listing them."""
    n_batches = -(-config["seeds"]["count"] // config["seeds"]["batch"])  # rounded up
    n_combinations = sum(math.prod(map(len, entry["parameters"].values())) for entry in config["method_settings"].values())
    return len(config["datasets"]) * n_combinations * len(config["k"]) * n_batches * (1 + len(config["variants"]))


def combinations(parameters: Mapping[str, list]) -> Iterator[dict[str, Value]]:
    """All combinations of the values that are listed for each parameter."""
    for values in itertools.product(*parameters.values()):
        yield dict(zip(parameters, values, strict=True))


# ---- configurations in the names of files ----------------------------------------------------------------------------


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
    """Parse a value without quotes, by the same rules in configurations and on command lines.

    Raises
    ------
    ClusterletsError
        If people and YAML may read the value differently, such as 010, 1_0, 1e5 or no, or if the number is too large.
    """
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if _WHOLE.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise ClusterletsError(f"{text[:60]}...: a whole number may have at most {_MAX_DIGITS} digits.")
        return int(text)
    if not _DECIMAL.fullmatch(text):
        if _DIFFERENT_IN_YAML.fullmatch(text) or not math.isnan(parse_number(text)):
            raise ClusterletsError(f"{text[:60]} can be misread; {_SPELLING_ADVICE}.")
        return text
    value = float(text)
    if math.isinf(value):
        raise ClusterletsError(f"{text[:60]} is not a finite number.")
    return canonical_value(value)


# ---- seeds -----------------------------------------------------------------------------------------------------------


def seed_batches(count: int, batch: int) -> list[str]:
    """Split the seeds 0..count-1 into batches of ``batch`` seeds. Returns the batches' names, such as ``"0-9"``."""
    return [f"{first}-{min(first + batch, count) - 1}" for first in range(0, count, batch)]


def seeds_of(batch: str) -> range:
    """The seeds of a batch, from its name."""
    first, last = batch.split("-")
    return range(int(first), int(last) + 1)


def sample_stream(base_seed: int, dataset: str) -> np.random.Generator:
    """The generator that samples rows for estimated scores. It is the same for every method, k and seed."""
    return random_stream(base_seed, dataset, 0, 0, SAMPLE)


def random_stream(base_seed: int, dataset: str, k: int, seed: int, step: int, start: int = 0) -> np.random.Generator:
    """The generator of one step for one seed. ``step`` is the number of a shared step, or of a method.

    Each ``start`` of a run has its own generator. Generators do not depend on a method's parameters, so that all
    matchers get the same clusterlets.
    """
    dataset_number = zlib.crc32(dataset.encode())  # not hash(), which differs between Python processes
    later_start = [start] if start else []  # the first start keeps the stream of a run with a single start
    return np.random.default_rng(np.random.SeedSequence([base_seed, dataset_number, k, seed, step, *later_start]))
