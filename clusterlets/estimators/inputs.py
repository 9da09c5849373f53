"""What the estimators and the report take from people, and the words in which they refuse it."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.utils._param_validation import Interval

from clusterlets.errors import ClusterletsError


class InvalidInput(ClusterletsError, ValueError):
    """Input that a person can mend; also the ``ValueError`` that users of scikit-learn expect."""


@contextmanager
def as_invalid_input(where: str = "") -> Iterator[None]:
    """Errors of the algorithms, which know nothing of scikit-learn's ways, as those that its users expect."""
    try:
        yield
    except ClusterletsError as error:
        raise InvalidInput(f"{where} {error}".lstrip()) from None


class NumberIn(Interval):
    """scikit-learn's interval, but for True and False, which Python takes for 1 and 0."""

    def is_satisfied_by(self, val):
        return not isinstance(val, bool) and super().is_satisfied_by(val)


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
