"""What the estimators and the report take from people, and the words in which they refuse it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError, InvalidInput


@contextmanager
def as_invalid_input(where: str = "") -> Iterator[None]:
    """Errors of the algorithms, which know nothing of scikit-learn's ways, as those that its users expect."""
    try:
        yield
    except ClusterletsError as error:
        raise InvalidInput(f"{where} {error}".lstrip()) from None


def check_whole(name: str, value: Any, least: int) -> None:
    """InvalidInput unless a setting is a whole number of at least ``least``; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{name}: {value!r}; it must be a whole number of at least {least}.")


def plain(value: Any) -> Any:
    """A value of a parameter; a search over parameters draws NumPy's numbers, which become Python's."""
    return value.item() if isinstance(value, np.generic) else value


def generator(random_state) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):  # numpy itself takes one from 2.2 on only
        random_state = int(random_state.randint(2**32, dtype=np.uint64))
    try:
        if isinstance(random_state, bool):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(f"random_state={random_state!r} is neither a number of 0 or more nor a generator.") from None


def as_array(values, what: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise InvalidInput(f"{what} has masked values: drop these rows first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{what} has rows of different lengths.") from None
