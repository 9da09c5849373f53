"""What commands write: clusterings in one form, and errors for people where a file cannot be written."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from clusterlets.benchmark.frames import write_csv
from clusterlets.errors import ClusterletsError


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn what the system says of a path that cannot be written into an error for people."""
    try:
        yield
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be written ({error.strerror}); name another file.") from None


def write_memberships(output: str | None, rows: np.ndarray, clusters: np.ndarray) -> None:
    """Write pairs of row and cluster, both counted from 0, to a CSV file (whole or not at all), or to the screen.

    A row that is in several clusters has several lines.
    """
    frame = pd.DataFrame({"row": rows, "cluster": clusters})
    if output is None:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    with writing(output):
        write_csv(output, frame)
