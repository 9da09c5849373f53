"""What commands share: option types, clusterings as CSV, and errors for users."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from clusterlets.errors import ClusterletsError
from clusterlets.grid.runs_frame import write_csv

_MAX = 10**18  # largest whole number accepted, so that it fits into any array


def nonempty(text: str) -> str:
    """The text of an option, which must not be empty: an unset shell variable would otherwise count as no option."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; leave the option out, or give it a value")
    return text


def utf8_name(text: str) -> str:
    """The same for names in a table, which is UTF-8 even if the locale, and so the command line, is ASCII."""
    return nonempty(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def whole_number(minimum: int, maximum: int = _MAX) -> Callable[[str], int]:
    """A type of option: whole numbers from ``least`` to ``most``."""
    limits = f"of at least {minimum}" if maximum == _MAX else f"from {minimum} to {maximum}"

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
        if not minimum <= number <= maximum:
            raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a whole number {limits}")
        return number

    return parse


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn the system's error about a path that cannot be written into one for users."""
    try:
        yield
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be written ({error.strerror}); name another file.") from None


def write_memberships(output: str | None, rows: np.ndarray, clusters: np.ndarray) -> None:
    """Write pairs of row and cluster, both counted from 0, to a CSV file (whole or not at all), or to the screen.

    A row in several clusters has several lines.
    """
    frame = pd.DataFrame({"row": rows, "cluster": clusters})
    if output is None:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    with writing(output):
        write_csv(output, frame)
