"""Checks of what users pass to the estimators and the report, with the messages about wrong values."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets.errors import ClusterletsError, InvalidInput, NoClusteringError
from clusterlets.text import counted, first_of

# How NumPy and pandas spell a missing value in an array of text, such as np.array(["f", np.nan]).
_GAPS_AS_TEXT = {"nan", "NaT", "<NA>"}


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
        raise InvalidInput(f"{name} has masked values: fill them or drop these rows first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{name} has rows of different lengths.") from None


def weights_of_rows(sample_weight, n: int) -> np.ndarray:
    """The weights (n,). Raises a ValueError if they are masked, or if scikit-learn refuses them."""
    array = as_array(sample_weight, "sample_weight")
    weights = check_array(array, ensure_2d=False, dtype=np.float64, ensure_non_negative=True, input_name="sample_weight")
    if weights.shape != (n,):
        raise InvalidInput(f"sample_weight has the shape {weights.shape}; give one weight for each of the {n} rows.")
    return weights


def check_equal_weights(sample_weight, n: int, owner: str) -> None:
    """Raise a ValueError unless all rows weigh the same; first for weights that scikit-learn refuses too."""
    weights = weights_of_rows(sample_weight, n)
    if np.ptp(weights) > 0 or not weights[0]:
        raise InvalidInput(
            f"sample_weight: {owner} cannot weight instances, because its shares are counts of rows. Leave the weights out, or "
            "repeat rows instead."
        )


def frame_columns(table) -> list[tuple[Any, Any]] | None:
    """The name and the values of each column of a DataFrame, Series or Index of pandas, or of a table or column of polars or
    Arrow; None for anything else. A column without a name is called 0.

    Their libraries are not imported: a caller with such a table has done it.
    """
    pandas = sys.modules.get("pandas")
    if pandas and isinstance(table, pandas.DataFrame | pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return list(pandas.DataFrame(table).items())
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if hasattr(table, "__arrow_c_stream__") and names is not None:
        return [(name, table[name]) for name in names]
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):  # a single column
        return [(getattr(table, "name", None) or 0, table)]
    return None


def feature_names(X) -> list | None:
    """The names of the columns of a table; None if X has no names."""
    columns = frame_columns(X)
    return None if columns is None else [name for name, _ in columns]


def check_numbers(X, may_have_gaps: bool = False) -> None:
    """Raise InvalidInput if X has masked values, or a column of text, dates, times, infinite numbers or, unless allowed, gaps.

    What else X must be, scikit-learn checks. O(n d).
    """
    frame = frame_columns(X)
    if frame is None:
        array = as_array(X, "X")
        with np.errstate(over="ignore", invalid="ignore"):  # a finite sum clears a large array in a tenth of the time
            may_be_faulty = array.dtype.kind in "mMOUS" or (array.dtype.kind == "f" and not np.isfinite(array.sum()))
        frame = list(enumerate(array.T)) if array.ndim == 2 and may_be_faulty else []
        check_columns(frame, have_names=False, may_have_gaps=may_have_gaps)
    else:
        check_columns(frame, have_names=True, may_have_gaps=may_have_gaps)


def check_columns(columns: list[tuple[Any, Any]], have_names: bool, may_have_gaps: bool = False) -> None:
    """What :func:`check_numbers` checks, for columns (n,) of X that are given as pairs with their names or numbers."""
    gaps, infinite = {}, {}
    for name, column in columns:
        values = np.asarray(column)
        if values.dtype.kind in "mM":
            _refuse_time(name, values[0] if len(values) else "")
        if values.dtype.kind in "OUS":
            _check_cells(name, values, have_names)
        gaps[name], infinite[name] = np.flatnonzero(is_missing(values)), np.flatnonzero(_is_infinite(values))
    _refuse_rows({} if may_have_gaps else gaps, "contains NaN", "no value", "Fill the gaps, or drop these rows")
    _refuse_rows(infinite, "contains inf", "an infinite number", "Correct these numbers, or drop these rows")


def _refuse_rows(rows_of_columns: dict[Any, np.ndarray], what: str, have: str, remedy: str) -> None:
    """Raise InvalidInput if a column has such rows. It names all these columns."""
    faulty = {name: rows for name, rows in rows_of_columns.items() if len(rows)}
    if faulty:
        (name, rows), *others = faulty.items()
        noted = f"; the same holds for {', '.join(first_of([repr(other) for other, _ in others], 5))}" if others else ""
        raise InvalidInput(
            f"X: column {name!r} {what}: {counted(len(rows), 'row has', 'rows have')} {have}, the first is row {rows[0]} "
            f"(counting from 0){noted}. {remedy}."
        )


def _check_cells(name: Any, cells: np.ndarray, must_be_numbers: bool) -> None:
    for cell in cells:
        if isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64):
            _refuse_time(name, cell)
        if isinstance(cell, str | bytes) and not _is_number(cell):
            text = cell if isinstance(cell, str) else cell.decode(errors="replace")
            raise InvalidInput(
                f"X: column {name!r} holds the text {str(text)!r}. Leave the column out, or encode it as numbers."
            )
        # A list of one number would pass for the number.
        if must_be_numbers and (np.ndim(cell) or (not _is_gap(cell) and not _is_number(cell))):
            raise InvalidInput(f"X: column {name!r} holds {str(cell)[:60]}, which is not a number. Leave the column out.")


def _refuse_time(name: Any, cell: Any) -> None:
    raise InvalidInput(
        f"X: column {name!r} holds dates or times, such as {cell}. Leave the column out, or turn it into a number that you can "
        "compare with the other features, such as years."
    )


def _is_infinite(values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return np.isinf(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    return np.fromiter((isinstance(value, float) and np.isinf(value) for value in values), dtype=bool, count=len(values))


def is_missing(values: np.ndarray) -> np.ndarray:
    """Whether each value is missing, bool array (n,): None, NaN, NaT or pandas.NA, or the text that NumPy makes of them."""
    if values.dtype != object:
        return values != values  # NaN and NaT differ from themselves
    return np.fromiter(map(_is_gap, values), dtype=bool, count=len(values))


def _is_gap(value: Any) -> bool:
    if isinstance(value, str):
        return value in _GAPS_AS_TEXT
    try:
        return value is None or bool(value != value)
    except TypeError:  # the value is pandas.NA, which is neither true nor false
        return True
    except ValueError:  # the value is an array, which is not valid but not missing either
        return False


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
