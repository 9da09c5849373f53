"""A program in any language as a method: it reads a table from one file and writes labels to another."""

import csv
import os
import select
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from clusterlets.errors import ClusterletsError
from clusterlets.methods import Method

_PAUSE = 0.2  # seconds after which a quiet program is looked at
_LONGEST_PIPE = 1 << 20  # bytes: as much as Linux lets a pipe hold


def program(method_name: str, command: str, conda: str = "") -> type[Method]:
    """The method that runs a command line.

    Parameters
    ----------
    method_name : str
    command : str
        For the shell. ``{table}`` is the file to read: a CSV with a header, the features x1, x2, ... and last the column
        ``sensitive``, codes 0..K-1. ``{labels}`` is the file to write: a CSV with the header ``cluster`` and one whole number
        a row, in the table's order. ``{k}``, ``{seed}`` and the names of parameters in braces stand for their values.
    conda : str
        Name of the conda environment that it runs in, if it needs one of its own.

    Raises
    ------
    ClusterletsError
        If the command lacks ``{table}`` or ``{labels}``.
    """
    missing = [placeholder for placeholder in ("{table}", "{labels}") if placeholder not in command]
    if missing:
        raise ClusterletsError(f"{method_name}: the command {command!r} lacks {' and '.join(missing)}.")

    shell = [*(["conda", "run", "--no-capture-output", "--name", conda] if conda else []), "/bin/sh", "-c"]

    class Program(Method):
        name = method_name
        libraries = ()

        def fit(self, X, groups, n_clusters, random_state, **parameters):
            with TemporaryDirectory(prefix="clusterlets-") as folder:
                table, labels = Path(folder) / "table.csv", Path(folder) / "labels.csv"
                _write_table(table, X, groups)
                values = {
                    "table": table,
                    "k": n_clusters,
                    "seed": int(random_state.integers(2**31)),
                    "labels": labels,
                    **parameters,
                }
                filled_command = command
                for key, value in values.items():
                    filled_command = filled_command.replace(f"{{{key}}}", shlex.quote(str(value)))
                _run([*shell, filled_command])
                return _read_labels(labels, len(X))

    return Program


def _write_table(path: Path, X: np.ndarray, groups: np.ndarray) -> None:
    with path.open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(f"x{feature + 1}" for feature in range(X.shape[1])), "sensitive"])
        # Python writes floats with every digit, and the same in every locale.
        writer.writerows([*row, group] for row, group in zip(X.tolist(), groups.tolist(), strict=True))


def _run(command: list[str]) -> None:
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except FileNotFoundError as error:
        raise ClusterletsError(f"{error.filename} does not exist, and the command needs it") from None
    assert process.stderr  # a pipe
    with process.stderr as pipe:
        errors = _pass_on(pipe.fileno(), process).decode(errors="replace").strip()
    if process.wait():
        last_line = f": {errors.splitlines()[-1]}" if errors else ""
        raise ClusterletsError(f"the command ended with status {process.returncode}{last_line}")


def _pass_on(pipe: int, process: subprocess.Popen) -> bytes:
    """Print what a program writes until it ends, though what it left in the background may hold the pipe; the last of it."""
    content, has_ended = b"", False
    while not has_ended:
        has_ended = process.poll() is not None  # first, so that all of its output is read below
        if select.select([pipe], [], [], 0 if has_ended else _PAUSE)[0]:
            chunk = os.read(pipe, _LONGEST_PIPE)
            with suppress(OSError):
                os.write(2, chunk)
            content = (content + chunk)[-_LONGEST_PIPE:]
            has_ended |= not chunk
    return content


def _read_labels(path: Path, n_rows: int) -> np.ndarray:
    if not path.is_file():
        raise ClusterletsError("the command wrote no labels")
    header, *lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    lines = [line.strip().strip('"') for line in lines if line.strip()]
    if header.strip().strip('"') != "cluster":
        raise ClusterletsError(f"the labels begin with {header[:40]!r}, and should begin with the header cluster")
    for row, line in enumerate(lines):
        if not (line.isascii() and line.isdigit()):
            raise ClusterletsError(f"the label of row {row} is {line[:40]!r}, and should be a whole number")
    if len(lines) != n_rows:
        raise ClusterletsError(f"there are {len(lines)} labels for {n_rows} rows")
    return np.array(lines, dtype=np.int64)
