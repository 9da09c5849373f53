"""What the commands share: parsers, types of options, and functions that write files and messages."""

import argparse
import csv
import functools
import io
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clusterlets.errors import ClusterletsError
from clusterlets.json_text import parse_json
from clusterlets.storage import check_writable, write_text
from clusterlets.tables.numerals import parse_number
from clusterlets.text import cut

if TYPE_CHECKING:
    import pandas as pd  # slow to load

#: The value of ``-o`` that means standard output. Messages then go to standard error.
STANDARD_OUTPUT = "-"

_MAX_WHOLE_NUMBER = 10**18  # so that every accepted number fits into a 64-bit integer
_FILE_ENDINGS = {"--report": (".html",), "--plot": (".png", ".pdf", ".svg")}


def parser(name: str, description: str | None, epilog: str | None = None, **settings: Any) -> argparse.ArgumentParser:
    """Create the parser of a command. The epilog, if any, keeps its line breaks."""
    formatter = argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter
    settings |= {"epilog": epilog, "formatter_class": functools.partial(formatter, max_help_position=26)}
    settings["description"] = description and textwrap.fill(description, 80)
    return argparse.ArgumentParser(f"clusterlets {name}", **settings)


def option(name: str, value: str) -> list[str]:
    """The arguments that give an option a value. A value that begins with a hyphen would be read as another option."""
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def nonempty(text: str) -> str:
    """Type of an option: text that is not empty. An empty text probably comes from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; leave the option out, or give it a value")
    return text


def utf8_name(text: str) -> str:
    """Type of an option: like :func:`nonempty`, but read as UTF-8 in every locale, because tables are in UTF-8."""
    return nonempty(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def columns(text: str) -> list[str]:
    """Type of an option: names of columns, separated by commas. A name that has a comma stands in quotes, as in a CSV file."""
    try:
        (names,) = csv.reader([utf8_name(text)], skipinitialspace=True, strict=True)
    except (ValueError, csv.Error):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} does not name columns; write a,b or '\"a, b\"'") from None
    return names


def as_columns(names: Iterable[str]) -> str:
    """The text that :func:`columns` reads as these names."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def whole_number(minimum: int, maximum: int = _MAX_WHOLE_NUMBER) -> Callable[[str], int]:
    """Return the type of an option that takes whole numbers from ``minimum`` to ``maximum``."""
    limits = f"of at least {minimum}" if maximum == _MAX_WHOLE_NUMBER else f"from {minimum} to {maximum}"

    def parse(text: str) -> int:
        # Longer text is out of range, and int() refuses text of thousands of digits.
        value = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a whole number {limits}")
        return value

    return parse


def decimal_number(accepts: Callable[[float], bool], allowed: str) -> Callable[[str], float]:
    """Return the type of an option that takes numbers for which ``accepts`` is true. ``allowed`` describes them in errors."""

    def parse(text: str) -> float:
        value = parse_number(text)
        if not accepts(value):
            raise argparse.ArgumentTypeError(f"{text[:60]!r} is not {allowed}")
        return value

    return parse


def json_mapping(text: str) -> dict[str, Any]:
    """Parse a JSON object, such as the limits of several sensitive columns. Raises ClusterletsError for other text."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise ClusterletsError(f'{cut(text, 60)} is not a JSON object such as {{"sex": 0.02}}: {error}.') from None


def as_typed(value: Any) -> str:
    """A value as a command line has it: a mapping as JSON."""
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


def add_output_files(parser: argparse._ActionsContainer, **help_texts: str) -> None:
    """Add options that name output files, such as ``--plot``, with their help texts. ``-o`` is short for ``--output``."""
    for name, text in help_texts.items():
        short = ["-o"] if name == "output" else []
        parser.add_argument(*short, f"--{name}", type=nonempty, metavar="FILE", help=text)


def check_output_files(outputs: Mapping[str, str | None], inputs: Iterable[tuple[str, str | Path]]) -> None:
    """Refuse output files that cannot be written, that would replace an input or each other, or that have a wrong ending.

    ``outputs`` maps each option to its file, or to None if the option is not given. ``inputs`` holds a description and the path
    of each file that the command reads. A link counts as the file that it leads to. Raises ClusterletsError.
    """
    files = {option: file for option, file in outputs.items() if file and file != STANDARD_OUTPUT}
    # Listing the inputs takes time, and a file that does not exist yet cannot be one of them.
    input_files = list(inputs) if any(map(os.path.exists, files.values())) else []
    for option, file in files.items():
        for description, path in input_files:
            if _is_same_file(file, path):
                raise ClusterletsError(f"{file} is {description}, which would be lost; name another file to write.")
        for other_option, other_file in files.items():
            if option != other_option and _is_same_file(file, other_file):
                raise ClusterletsError(
                    f"{option} {file} and {other_option} {other_file} are the same file, so one would be lost; use two."
                )
        with writing(file):
            check_writable(file)
    for option, endings in _FILE_ENDINGS.items():
        name = outputs.get(option)
        if name and Path(name).suffix not in endings:
            raise ClusterletsError(f"{option} {name}: the name must end in {' or '.join(endings)}.")


def _is_same_file(path: str | Path, other_path: str | Path) -> bool:
    """Whether both paths lead to the same file. Links are followed; files that do not exist yet are compared by path."""
    try:
        return os.path.samefile(path, other_path)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other_path)


def files_below(description: str, *paths: str | Path) -> Iterator[tuple[str, Path]]:
    """Pair the description with each file in ``paths`` and below the folders in ``paths``, for :func:`check_output_files`."""
    for path in map(Path, paths):
        yield from ((description, file) for file in (path, *path.rglob("*")) if file.is_file())


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn the operating system's error about a path that cannot be written into a ClusterletsError."""
    try:
        yield
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be written ({error.strerror}); name another file.") from None


def write_table(output: str, frame: "pd.DataFrame") -> None:
    """Write a table as CSV to standard output or to a file. An interruption never leaves a file half written."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if output == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    with writing(output):
        write_text(output, text)


@contextmanager
def compiling_announced(command: str) -> Iterator[None]:
    """Print a line, once, if the ``with`` statement compiles anything."""
    from clusterlets.algorithms.compiled import before_compiling  # imported late: Numba is slow to load

    message = f"clusterlets {command}: compiling once for this machine; this may take half a minute."
    with before_compiling(functools.partial(print, message, file=sys.stderr, flush=True)):
        yield


def stream_for_people(output: str | None) -> TextIO:
    """The stream for a command's messages: standard error if its table goes to standard output, else standard output."""
    return sys.stderr if output == STANDARD_OUTPUT else sys.stdout
