"""Methods that are programs in any language. A program reads a table from one file and writes labels to another."""

import csv
import os
import re
import select
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError
from clusterlets.methods import Method
from clusterlets.parameter_text import as_text

# A name in braces. After a dollar sign it is a shell variable, not a placeholder.
_PLACEHOLDER = re.compile(r"(\$?)\{([A-Za-z][A-Za-z0-9_]*)\}")
# The placeholders that every command may have.
_BUILT_IN = ("table", "labels", "k", "seed")

_POLL_INTERVAL = 0.2  # seconds between two checks whether a program that prints nothing has ended
_PIPE_SIZE = 1 << 20  # bytes, by default the most that a pipe can hold on Linux


def program(method_name: str, command: str) -> type[Method]:
    """Make a subclass of :class:`Method` that runs a command line.

    Parameters
    ----------
    method_name : str
        The method's name in configurations and results.
    command : str
        A command for the shell. ``{table}`` is the file to read: a CSV file with a header, the features x1, x2, ... and, as
        last column, ``sensitive`` with codes 0..K-1. ``{labels}`` is the file to write: a CSV file with the header ``cluster``
        and one whole number per row, in the table's order. ``{k}``, ``{seed}`` and parameters in braces become their values.

    Raises
    ------
    ClusterletsError
        If the command lacks ``{table}`` or ``{labels}``.
    """
    missing = [placeholder for placeholder in ("{table}", "{labels}") if placeholder not in command]
    if missing:
        raise ClusterletsError(f"{method_name}: the command {command!r} lacks {' and '.join(missing)}.")

    class Program(Method):
        name = method_name
        libraries = ()

        def fit(self, X, groups, n_clusters, random_state, **parameters):
            with TemporaryDirectory(prefix="clusterlets-") as folder:
                table, labels = Path(folder) / "table.csv", Path(folder) / "labels.csv"
                _write_table(table, X, groups)
                seed = int(random_state.integers(2**31))
                values = {"table": str(table), "labels": str(labels), "k": n_clusters, "seed": seed, **parameters}
                _run(["/bin/sh", "-c", _fill(command, values)])
                return _read_labels(labels, len(X))

        def faults(self, n_clusters, **parameters):
            return list(_faults(command, parameters))

    return Program


def _faults(command: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """One message for each fault in the braces of a command or in its parameters."""
    placeholders = [name for _, name in _PLACEHOLDER.findall(command)]
    for name in parameters:
        if name in _BUILT_IN:
            yield f"parameters: {{{name}}} stands for something else in every command; give the parameter another name"
        elif name not in placeholders:
            yield f"parameters: the command has no {{{name}}}, so all its values would give the same run"
    for dollar, name in dict.fromkeys(_PLACEHOLDER.findall(command)):
        if not dollar and name not in {*_BUILT_IN, *parameters}:
            yield (
                f"command: {{{name}}} is not one of the parameters ({', '.join(parameters) or 'none'}). Braces that are the "
                "program's own need a space, as in { print }; others belong in a script"
            )
        elif dollar and name in {*_BUILT_IN, *parameters}:
            yield f"command: ${{{name}}} is a variable of the shell; write {{{name}}}, or rename the variable"
    try:
        _fill(command, {**dict.fromkeys(_BUILT_IN, 0), **parameters})
    except ClusterletsError as error:
        yield str(error)


def _fill(command: str, values: Mapping[str, Any]) -> str:
    """Replace the placeholders of a command. Raises ClusterletsError if the shell would not read a value as one word."""
    words = {name: value if isinstance(value, str) else as_text(value) for name, value in values.items()}
    unsafe = [name for _, name in _PLACEHOLDER.findall(command) if name in words and shlex.quote(words[name]) != words[name]]
    if unsafe and not _keeps_words_whole(command, words):
        raise ClusterletsError(
            f"command: the shell would not read {words[unsafe[0]]!r} as one word in place of {{{unsafe[0]}}}; values are "
            "quoted, so do not write quotes around a placeholder"
        )
    return _substitute(command, words, shlex.quote)


def _keeps_words_whole(command: str, words: Mapping[str, str]) -> bool:
    """Whether the shell splits the filled command into the same words as the command with its placeholders."""
    try:
        filled = shlex.split(_substitute(command, words, shlex.quote))
        return filled == [_substitute(word, words) for word in shlex.split(command)]
    except ValueError:  # a quote is not closed
        return False


def _substitute(text: str, words: Mapping[str, str], quote: Callable[[str], str] = str) -> str:
    """Replace the placeholders in a text. Names that are not in ``words`` stay."""

    def replacement(match: re.Match) -> str:
        dollar, name = match.groups()
        return match[0] if dollar or name not in words else quote(words[name])

    return _PLACEHOLDER.sub(replacement, text)


def _write_table(path: Path, X: np.ndarray, groups: np.ndarray) -> None:
    with path.open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(f"x{feature + 1}" for feature in range(X.shape[1])), "sensitive"])
        writer.writerows([*row, group] for row, group in zip(X.tolist(), groups.tolist(), strict=True))


def _run(command: list[str]) -> None:
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except FileNotFoundError as error:
        raise ClusterletsError(f"{error.filename} does not exist, and the command needs it") from None
    assert process.stderr  # a pipe
    with process.stderr as pipe:
        errors = _forward_output(pipe.fileno(), process).decode(errors="replace").strip()
    if process.wait():
        last_line = f": {errors.splitlines()[-1]}" if errors else ""
        raise ClusterletsError(f"the command ended with status {process.returncode}{last_line}")


def _forward_output(pipe: int, process: subprocess.Popen) -> bytes:
    """Copy a program's output from a pipe to standard error until the program ends. Returns the end of the output.

    Programs in the background may hold the pipe open longer, so it is not enough to wait for the end of the pipe.
    """
    last_bytes, has_ended = b"", False
    while not has_ended:
        has_ended = process.poll() is not None  # checked before reading, so that the last read gets all output
        if select.select([pipe], [], [], 0 if has_ended else _POLL_INTERVAL)[0]:
            chunk = os.read(pipe, _PIPE_SIZE)
            with suppress(OSError):
                os.write(2, chunk)
            last_bytes = (last_bytes + chunk)[-_PIPE_SIZE:]
            has_ended |= not chunk
    return last_bytes


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
