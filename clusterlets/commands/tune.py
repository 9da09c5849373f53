"""``clusterlets tune people.csv --sensitive sex``: find the cheapest clustering within a limit."""

import argparse
import functools
import io
import json
import math
import os
import re
import shlex
import signal
import sys
import time
import zlib
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout, suppress
from typing import TYPE_CHECKING, Self, TextIO
from urllib.parse import quote

from clusterlets import methods
from clusterlets.commands import cli, cluster, own_table
from clusterlets.errors import ClusterletsError
from clusterlets.grid.artifacts import OK
from clusterlets.grid.cells import as_text
from clusterlets.text import counted

if TYPE_CHECKING:
    from clusterlets.tuning.trials import Candidate, Progress

_MAX_STEM = 150  # characters: a file name may have 255
_BAR_WIDTH = 24  # characters
_MAX_DESCRIPTION = 80  # characters
_SECONDS_BETWEEN_LINES = 10.0  # of progress in a file or a pipe

_EPILOG = """
examples:
  clusterlets tune people.csv --sensitive sex
      five clusters, none of which is more than .02 off the table's shares, within five minutes
  clusterlets tune people.csv --sensitive sex --scaling standard --clusters 8 --max-deviation .05 --report people.html

fair-limit is tried first, then one seed of every other method, and then more seeds of those that come close.
The features are not scaled by default: use --scaling standard if their units differ.
The names of the output files include every option that differs from its default, and the table's folder if it is not
the current one.
After Ctrl-C, the recommendation is based on the fits that have finished.
For details, and for the columns of the CSV file, see docs/choosing.md.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    options.output = options.output or f"{_stem(options)}-front.csv"
    options.plot = options.plot or f"{_stem(options)}-front.png"
    outputs = {"-o": options.output, "--plot": options.plot, "--report": options.report}
    cli.check_output_files(outputs, [("the table itself", options.table)])
    data = own_table.read(options, min_groups=1)
    say = functools.partial(print, file=cli.stream_for_people(options.output), flush=True)
    say(f"{options.table.name}: {len(data.X):,} rows; {data.features}")
    for note in data.notes:
        say(f"note: {note}")
    for warning in data.warnings:
        say(f"warning: {warning}")
    from clusterlets.tuning import front, tune  # noqa: F401  # slow to load; a missing plotting library fails here, not after the fits

    tuned = best = None
    with _Interruptions() as interruptions:
        with _Progress(sys.stderr) as progress, suppress(KeyboardInterrupt):
            tuned = tune(
                data.X,
                sensitive_features=data.sensitive,
                n_clusters=options.clusters,
                max_deviation=options.max_deviation,
                min_cluster_size=options.min_cluster_size,
                shares=options.shares,
                min_ratio=options.min_ratio,
                minutes=options.minutes,
                n_seeds=options.seeds,
                random_state=options.seed,
                progress=interruptions.interruptible(progress),
            )
        interruptions.is_finishing = True
        if tuned is not None:
            with suppress(ClusterletsError) if tuned.interrupted else nullcontext():
                best = tuned.best()
        if tuned is None or best is None:
            finished = 0 if tuned is None else (tuned.runs["status"] == OK).sum()
            fits = counted(finished, "fit") if finished else "no fit"
            print(f"clusterlets tune: interrupted when {fits} had finished; there is nothing to recommend.", file=sys.stderr)
            return interruptions.status
        cli.write_table(options.output, tuned)
        with cli.writing(options.plot):
            tuned.plot(options.plot)
        cluster_command = command(options, tuned.candidate(best), best["seed"])
        say(f"\n{tuned.recommendation()}\n\nevery configuration: {options.output}\npicture: {options.plot}\n")
        say(f"This command repeats the run; add -o labels.csv to write its clusters:\n  {shlex.join(cluster_command)}")
    if interruptions.received and not tuned.interrupted:  # the signal came while the files were written
        print("clusterlets tune: interrupted; the files above are complete.", file=sys.stderr)
        return interruptions.status
    if options.report:
        with redirect_stdout(io.StringIO()):  # the page shows all that this would print
            cluster.main([*cluster_command[2:], "--report", options.report])
        say(f"report: {options.report}")
    if not tuned.interrupted:
        return 0
    print("clusterlets tune: interrupted; only the finished fits are compared.", file=sys.stderr)
    return interruptions.status


class _Interruptions:
    """Handlers of SIGINT and SIGTERM. The first signal ends the fits; the finished fits are then ranked and written."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.is_finishing = False  # if true, a signal raises nothing, so that the files are written first

    def __enter__(self) -> Self:
        signals = [signum for signum in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(signum) != signal.SIG_IGN]
        self._previous_handlers = {signum: signal.signal(signum, self._receive) for signum in signals}
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._previous_handlers.items():
            signal.signal(signum, handler)

    @property
    def status(self) -> int:
        """The exit status of a command that a signal ended."""
        return 128 + self.received[0]

    def interruptible(self, progress: "Progress") -> "Progress":
        """A function like ``progress`` that raises KeyboardInterrupt once a signal was received.

        The handler raises it too, but Python ignores exceptions that are raised in a destructor.
        """

        def report(done: int, total: int, description: str) -> None:
            if self.received:
                raise KeyboardInterrupt
            progress(done, total, description)

        return report

    def _receive(self, signum: int, _: object) -> None:
        self.received.append(signum)
        if not self.is_finishing:
            self.is_finishing = True
            raise KeyboardInterrupt


class _Progress:
    """A line that is redrawn on a terminal and cleared at the end. A file or a pipe gets a new line every few seconds."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._last_print_time = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int, description: str) -> None:
        if self._is_terminal:
            bar = ("#" * (_BAR_WIDTH * done // max(total, 1))).ljust(_BAR_WIDTH, ".")
            self._redraw(f"[{bar}] {done}/{total} {description[:_MAX_DESCRIPTION]}")
        elif time.monotonic() >= self._last_print_time + _SECONDS_BETWEEN_LINES:
            self._last_print_time = time.monotonic()
            print(f"{done} of {total} done; next: {description}", file=self._stream, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._redraw("")

    def _redraw(self, line: str) -> None:
        print(f"\r\x1b[K{line}", end="", file=self._stream, flush=True)


def _stem(options: argparse.Namespace) -> str:
    """The start of the output files' names. It has all options that change the results, so that no run overwrites another's."""
    parser, parts = _parser(), [options.table.name.removesuffix(".csv"), "+".join(options.sensitive)]
    folder = os.path.relpath(options.table.parent)
    if folder != os.curdir:
        parts.append(f"in={folder}")
    for name, value in vars(options).items():
        if name not in ("table", "sensitive", "output", "plot", "report") and value != parser.get_default(name):
            if isinstance(value, Mapping):
                value = re.sub(r'["{}\[\]]', "", json.dumps(value, separators=(",", "=")))
            parts.append(f"{name}={value}")
    stem = quote("-".join(parts), safe=" +=,")
    return stem if len(stem) <= _MAX_STEM else f"{stem[: _MAX_STEM - 9]}-{zlib.crc32(stem.encode()):08x}"


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser(
        "tune", "Find the cheapest clustering in which every cluster has nearly the table's share of each group.", _EPILOG
    )
    own_table.add_options(parser)
    parser.add_argument("--clusters", type=cli.whole_number(2), default=5, metavar="N", help="number of clusters (default: 5)")
    parser.add_argument(
        "--max-deviation",
        type=_largest_deviation,
        metavar="D",
        help="largest allowed difference between a group's share in any cluster and in the table, 0 to 1 (default: 0.02); with "
        'several sensitive columns, one number for each is allowed, such as \'{"sex": 0.02, "race": 0.05}\'',
    )
    parser.add_argument(
        "--shares",
        type=cli.json_mapping,
        metavar="JSON",
        help="in place of --max-deviation: smallest and largest share of groups in any cluster, such as '{\"f\": [0.3, 0.6]}'",
    )
    parser.add_argument(
        "--min-ratio",
        type=_fraction,
        metavar="R",
        help="in place of --max-deviation: in every cluster, the ratio of any two groups' counts must be at least this "
        "fraction of their ratio in the table",
    )
    parser.add_argument(
        "--min-cluster-size",
        type=cli.whole_number(1),
        default=1,
        metavar="N",
        help="smallest number of rows in a cluster (default: 1)",
    )
    parser.add_argument(
        "--minutes",
        type=cli.decimal_number(lambda value: 0 < value < math.inf, "a number above 0"),
        default=5.0,
        metavar="M",
        help="time for all fits (default: 5)",
    )
    parser.add_argument(
        "--seeds",
        type=cli.whole_number(1, 1000),
        default=6,
        metavar="N",
        help="largest number of fits per configuration (default: 6)",
    )
    parser.add_argument("--seed", type=cli.whole_number(0, 2**32 - 1001), default=0, help="the first of the seeds (default: 0)")
    cli.add_output_files(
        parser,
        output="CSV file, one row per configuration; - is standard output (default: TABLE-COLUMN-front.csv)",
        plot="picture (.png, .pdf, .svg) of price and deviation (default: TABLE-COLUMN-front.png)",
        report="page (.html) about the recommended clustering",
    )
    return parser


_fraction = cli.decimal_number(lambda value: 0 <= value <= 1, "a number from 0 to 1")


def _largest_deviation(text: str) -> float | Mapping[str, float]:
    return cli.json_mapping(text) if text.startswith("{") else _fraction(text)


def command(options: argparse.Namespace, candidate: "Candidate", seed: int) -> list[str]:
    """The ``clusterlets cluster`` command, as a list of arguments, that repeats one seed of a candidate."""
    arguments = ["clusterlets", "cluster", str(options.table)]
    for column in options.sensitive:
        arguments += _option("sensitive", column)
    for name in ("features", "separator", "id"):
        if getattr(options, name):
            arguments += _option(name, getattr(options, name))
    arguments += ["--drop-missing"] * options.drop_missing
    if options.scaling != "none":
        arguments += _option("scaling", options.scaling)
    if methods.get(candidate.method).is_matcher:
        arguments += _option("matcher", candidate.method)
    else:
        arguments += _option("method", candidate.method.lower())
    for name, value in candidate.parameters.items():
        arguments += [cluster.flag(name), json.dumps(value) if isinstance(value, Mapping) else as_text(value)]
    return [*arguments, *_option("clusters", str(options.clusters)), *_option("seed", str(seed))]


def _option(name: str, value: str) -> list[str]:
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
