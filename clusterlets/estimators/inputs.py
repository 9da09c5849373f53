"""Checks of what users pass to the estimators and the report, with the messages about wrong values."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError, InvalidInput, NoClusteringError


@contextmanager
def as_invalid_input(where: str = "") -> Iterator[None]:
    """Turn the algorithms' errors into InvalidInput, which is a ValueError, as users of scikit-learn expect.

    ``where`` begins the message.
    """
    try:
        yield
    except NoClusteringError:  # already an InvalidInput
        raise
    except ClusterletsError as error:
        raise InvalidInput(f"{where} {error}".lstrip()) from None


def check_whole(name: str, value: Any, minimum: int) -> None:
    """Raise InvalidInput unless the setting ``name`` is a whole number, not True or False, of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        raise InvalidInput(f"{name}: {as_python(value)!r}; it must be a whole number of at least {minimum}.")


def as_python(value: Any) -> Any:
    """The value; a NumPy number, which a random search may pass, becomes a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def generator(random_state) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):  # np.random.default_rng accepts a RandomState only from NumPy 2.2 on
        random_state = int(random_state.randint(2**32, dtype=np.uint64))
    try:
        if isinstance(random_state, bool):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(f"random_state={random_state!r} is neither a number of 0 or more nor a generator.") from None


def as_array(values, name: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise InvalidInput(f"{name} has masked values: drop these rows first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{name} has rows of different lengths.") from None


@contextmanager
def text_as_invalid_input(X) -> Iterator[None]:
    """If the conversion of X to numbers fails, raise an error that names the first column with text."""
    try:
        yield
    except (TypeError, ValueError):
        first_text = _find_text(X)
        if first_text is None:
            raise
        name, cell = first_text
        raise InvalidInput(
            f"X: column {name!r} holds the text {cell!r}. Leave the column out, or encode it as numbers."
        ) from None


def _find_text(X) -> tuple[Any, str] | None:
    """The name (or else the index) of the first column with text, and its first text."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names, values = list(X.columns), X.to_numpy(dtype=object)
    else:
        values = np.array(X, dtype=object)
        names = list(range(values.shape[1])) if values.ndim == 2 else []
    for index, name in enumerate(names):
        for cell in values[:, index]:
            if isinstance(cell, str) and not _is_number(cell):
                return name, str(cell)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
