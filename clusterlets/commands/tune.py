"""``clusterlets tune people.csv --sensitive sex``: find out what each limit costs, for each number of clusters."""

import argparse
import functools
import json
import math
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clusterlets import methods
from clusterlets.commands import audit, cli, cluster, own_table
from clusterlets.commands.summary import groups_within
from clusterlets.errors import ClusterletsError
from clusterlets.methods.fair_limit import FairLimit
from clusterlets.parameter_text import as_text

if TYPE_CHECKING:
    from clusterlets.commands.own_table import OwnTable
    from clusterlets.tuning import Tuned
    from clusterlets.tuning.path import Run

_MAX_CLUSTERS = 30  # numbers of clusters in one call
_MAX_DESCRIPTION = 80  # characters

_EPILOG = """
examples:
  clusterlets tune people.csv --sensitive sex
      what 2 to 10 clusters cost within .005, .01, .02, .05, .1 or .2 of the shares
  clusterlets tune people.csv --sensitive sex --max-deviation 0.05 -k 5

fair-limit runs with the requested limit first (by default, --max-deviation is
0.02), then with the others. Plain k-means is the unit of the prices. After
Ctrl-C, the fits that have finished count. docs/choosing.md describes the files.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    stem = options.table.name.removesuffix(options.table.suffix)
    options.output = options.output or f"{stem}-front.csv"
    options.plot = options.plot or f"{stem}-front.png"
    outputs = {"-o": options.output, "--plot": options.plot, "--report": options.report, "--save": options.save}
    cli.check_output_files(outputs, [("the table itself", options.table)])
    data = own_table.read(options, min_groups=1)
    say = functools.partial(print, file=cli.stream_for_people(options.output), flush=True)
    say(f"{cluster.table_line(options, data)}\n{data.features}")
    for note in data.notes:
        say(f"note: {note}")
    bounds = audit.limits(options)
    vacuous = [] if bounds.keys() - {"max_deviation"} else groups_within(data.sensitive, bounds.get("max_deviation", 0.02))
    for warning in [*data.warnings, *vacuous]:
        say(f"warning: {warning}")
    from clusterlets.tuning import picture, tune  # noqa: F401  # slow to load; a missing plotting library fails here, not after the fits

    try:
        with cli.compiling_announced("tune"):
            tuned = tune(
                data.X,
                sensitive_features=data.sensitive,
                n_clusters=options.k,
                min_cluster_size=options.min_cluster_size,
                **bounds,
                minutes=options.minutes,
                other_methods=options.methods,
                random_state=options.seed,
                progress=_show_progress,
            )
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # clears the line about the last fit, also before an error
    cli.write_table(options.output, tuned.path)
    with cli.writing(options.plot):
        tuned.plot(options.plot)
    run = _to_repeat(tuned)
    cluster_command = shlex.join(command(options, run))
    say(f"\n{tuned.recommendation()}\n\nevery limit: {options.output}\npicture: {options.plot}\n")
    say(f"This command repeats the run; add -o labels.csv to write its clusters:\n  {cluster_command}")
    cluster_options = _options_of_cluster(options, run)
    if options.report:
        _write_page(cluster_options, data, tuned, cluster_command)
        say(f"report: {options.report}")
    if options.save and not tuned.best.is_asked(tuned.task):
        raise ClusterletsError(
            f"{options.save} was not written, because no fit with the requested limit has a result; the printed command writes "
            "the nearest clustering, with its own limit, if it gets --save."
        )
    if options.save:
        cluster.save(cluster_options, data, tuned.best.fitted)
    if tuned.interrupted:
        print("clusterlets tune: interrupted; only the finished fits are compared.", file=sys.stderr)
        return 130
    return 0


def _options_of_cluster(options: argparse.Namespace, run: "Run") -> argparse.Namespace:
    """The options of ``clusterlets cluster`` that repeat a run, as :func:`command` writes them."""
    method = methods.get(run.method)
    own = {"method": run.method, "method_class": method, "is_matcher": method.is_matcher, "k": run.n_clusters}
    own |= {"method_parameters": dict(run.parameters), "clusterlets": None, "which": None, "all_scores": False}
    return argparse.Namespace(**{**vars(options), **own})


def _write_page(options: argparse.Namespace, data: "OwnTable", tuned: "Tuned", cluster_command: str) -> None:
    """The page of ``clusterlets cluster`` about the recommended clustering, with the path."""
    from clusterlets.pages.saving import as_bytes

    reference = tuned.reference(tuned.best.n_clusters)  # without counts, it was not reached
    reference_cost = None if reference.counts is None else reference.sse
    summary = cluster.summarize(options, data, tuned.best.fitted, reference_cost)
    path = tuned.recommendation(), as_bytes(tuned.plot(), ".png", dpi=200)
    labels, memberships = tuned.best.fitted.labels_, tuned.best.fitted.memberships_
    cluster.write_page(options, cluster_command, summary, data, labels, memberships, path)


def _to_repeat(tuned: "Tuned") -> "Run":
    """The recommended run, as `clusterlets cluster` repeats it: without a start from plain k-means that it did not have."""
    from clusterlets.tuning.path import START  # imported late: slow to load

    best = tuned.best
    if best.method != FairLimit.name or {START, "max_seconds"} & best.parameters.keys():
        return best
    is_added = tuned.reference(best.n_clusters).keeps(tuned.task, tuned.task.asked)
    return replace(best, parameters={**best.parameters, START: None}) if is_added else best


def _show_progress(done: int, total: int, description: str) -> None:
    """On a terminal, write a line about each fit in the place of the last one."""
    if sys.stderr.isatty():
        line = f"{done} of {total} done; next: {description[:_MAX_DESCRIPTION]}"
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser(
        "tune",
        "Find out what each limit on the groups costs, for each number of clusters, and which clustering to take.",
        _EPILOG,
        usage="clusterlets tune TABLE --sensitive COLUMN [options]",
    )
    own_table.add_options(parser)
    clusters = parser.add_argument_group("clusters")
    clusters.add_argument(
        *("-k", "--clusters"), dest="k", type=_numbers_of_clusters, metavar="N", help="5, or 4-12 (default: 2-10)"
    )
    clusters.add_argument(
        "--min-cluster-size",
        type=cli.whole_number(1),
        default=1,
        metavar="N",
        help="smallest number of rows in a cluster (default: 1)",
    )
    clusters.add_argument("--seed", type=cli.whole_number(0, 2**32 - 1), default=0, help="seed of all fits (default: 0)")
    audit.add_limits(parser.add_argument_group("limits"))
    search = parser.add_argument_group("search")
    search.add_argument(
        "--minutes",
        type=cli.decimal_number(lambda value: 0 < value < math.inf, "a number above 0"),
        default=2.0,
        metavar="M",
        help="time for all fits (default: 2)",
    )
    search.add_argument(
        "--methods",
        type=lambda text: cli.nonempty(text).split(","),
        default=[],
        metavar="A,B,...",
        help="other methods to compare with, such as FRAC,fair-flow (default: none)",
    )
    cli.add_output_files(
        parser.add_argument_group("output"),
        output="CSV file, one row per limit and number of clusters; - is standard output (default: TABLE-front.csv)",
        plot="picture (.png, .pdf, .svg) of price and limit (default: TABLE-front.png)",
        report="page (.html) on the recommended clustering",
        save="JSON file for `clusterlets assign`",
    )
    return parser


def _numbers_of_clusters(text: str) -> list[int]:
    first, _, last = text.partition("-")
    number = cli.whole_number(2)
    least, most = number(first), number(last or first)
    if not least <= most < least + _MAX_CLUSTERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of 1 to {_MAX_CLUSTERS} numbers, such as 2-10")
    return list(range(least, most + 1))


def command(options: argparse.Namespace, run: "Run") -> list[str]:
    """The ``clusterlets cluster`` command, as a list of arguments, that repeats a run."""
    words = ["clusterlets", "cluster", *own_table.arguments(options), *cli.option("method", run.method)]
    for name, value in run.parameters.items():
        words += [cluster.flag(name), json.dumps(value) if isinstance(value, Mapping) else as_text(value)]
    return [*words, "-k", str(run.n_clusters), *cli.option("seed", str(options.seed))]
