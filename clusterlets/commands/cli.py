"""What all commands share: parsers, types of options, and the files and streams that they write."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clusterlets.datasets.numerals import number
from clusterlets.errors import ClusterletsError
from clusterlets.storage import check_writable, write_text

if TYPE_CHECKING:
    import pandas as pd  # slow to load

#: What -o calls standard output; messages then go to standard error.
STANDARD_OUTPUT = "-"

_MAX = 10**18  # largest whole number accepted, so that it fits into any array
_ENDINGS = {"--report": (".html",), "--plot": (".png", ".pdf", ".svg")}


def parser(name: str, description: str | None, epilog: str | None = None, **settings: Any) -> argparse.ArgumentParser:
    """The parser of a command; the lines of an epilog stay as they are."""
    layout = argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter
    settings |= {"description": description, "epilog": epilog, "formatter_class": layout}
    return argparse.ArgumentParser(f"clusterlets {name}", **settings)


def nonempty(text: str) -> str:
    """The text of an option, which must not be empty: an unset shell variable would otherwise count as no option."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; leave the option out, or give it a value")
    return text


def utf8_name(text: str) -> str:
    """As :func:`nonempty`, for names in a table, which is UTF-8 even if the locale, and so the command line, is ASCII."""
    return nonempty(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def whole_number(minimum: int, maximum: int = _MAX) -> Callable[[str], int]:
    """A type of option: whole numbers from ``minimum`` to ``maximum``."""
    limits = f"of at least {minimum}" if maximum == _MAX else f"from {minimum} to {maximum}"

    def parse(text: str) -> int:
        value = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a whole number {limits}")
        return value

    return parse


def decimal_number(accepts: Callable[[float], bool], allowed: str) -> Callable[[str], float]:
    """A type of option: the numbers that ``accepts`` takes; ``allowed`` says in words which these are."""

    def parse(text: str) -> float:
        value = number(text)
        if not accepts(value):
            raise argparse.ArgumentTypeError(f"{text[:60]!r} is not {allowed}")
        return value

    return parse


def json_mapping(text: str) -> dict[str, Any]:
    """A mapping as JSON writes it, such as the limits of several sensitive columns."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ClusterletsError(f'{text} is no mapping as JSON writes it, such as {{"sex": 0.02}}: {error}.') from None


def add_output_files(parser: argparse.ArgumentParser, **helps: str) -> None:
    """Add options for files to write, with their help: ``--output``, which is also ``-o``, ``--plot`` and so on."""
    for name, text in helps.items():
        short = ["-o"] if name == "output" else []
        parser.add_argument(*short, f"--{name}", type=nonempty, metavar="FILE", help=text)


def refuse_files(written: Mapping[str, str | None], read: Iterable[tuple[str, str | Path]]) -> None:
    """Refuse files that cannot be written, that would replace another, or whose name has the wrong ending, before any work.

    ``written`` maps options to files, or to None where an option is not given; ``read`` holds descriptions and paths of what
    the command reads. Links count as the files to which they lead. Raises ClusterletsError.
    """
    files = {option: file for option, file in written.items() if file and file != STANDARD_OUTPUT}
    inputs = [(what, path) for what, path in read] if any(map(os.path.exists, files.values())) else []
    for option, file in files.items():
        for what, path in inputs:
            if _is_same_file(file, path):
                raise ClusterletsError(f"{file} is {what}, which would be lost; name another file to write.")
        for other, other_file in files.items():
            if option != other and _is_same_file(file, other_file):
                raise ClusterletsError(
                    f"{option} {file} and {other} {other_file} are one file, and one would replace the other; name two files."
                )
        with writing(file):
            check_writable(file)
    for option, endings in _ENDINGS.items():
        name = written.get(option)
        if name and Path(name).suffix not in endings:
            raise ClusterletsError(f"{option} {name}: the name must end in {' or '.join(endings)}.")


def _is_same_file(one: str | Path, other: str | Path) -> bool:
    """Whether both paths lead to one file, links included; a file that does not exist yet is compared by its name."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def files_below(what: str, *paths: str | Path) -> Iterator[tuple[str, Path]]:
    """These files, and every file below these folders, as :func:`refuse_files` takes them."""
    for path in map(Path, paths):
        yield from ((what, file) for file in (path, *path.rglob("*")) if file.is_file())


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn the system's error about a path that cannot be written into one for users."""
    try:
        yield
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be written ({error.strerror}); name another file.") from None


def write_table(output: str, frame: "pd.DataFrame") -> None:
    """Write a table as CSV to a file, whole or not at all, or to standard output."""
    text = frame.to_csv(index=False, lineterminator="\n")
    if output == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    with writing(output):
        write_text(output, text)


def stream_for_people(output: str | None) -> TextIO:
    """Where a command prints messages: to standard error if its table goes to standard output."""
    return sys.stderr if output == STANDARD_OUTPUT else sys.stdout
