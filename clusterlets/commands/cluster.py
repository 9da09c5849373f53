"""``clusterlets cluster people.csv --sensitive sex``: cluster your own table fairly, and describe the result."""

import argparse
import functools
import importlib
import shlex
import sys
import textwrap
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.commands import account, cli, own_table
from clusterlets.commands.account import Summary
from clusterlets.commands.own_table import OwnTable
from clusterlets.datasets.suspects import MAX_GROUPS
from clusterlets.datasets.table import moments
from clusterlets.errors import ClusterletsError
from clusterlets.extras import optional
from clusterlets.grid.cells import format_nested, parse_parameters, parse_value
from clusterlets.methods import Method
from clusterlets.methods.check import parameters_of
from clusterlets.methods.registry import by_parameter, meaning
from clusterlets.methods.users_file import is_from_file
from clusterlets.metrics.composition import deviation_per_cluster
from clusterlets.parameters import SIZE
from clusterlets.storage import write_bytes
from clusterlets.text import counted, first_of

_MAX_NOTED_GROUPS = 5  # how many groups with too few distinct rows are named
_DEFAULT_K = 10

_EPILOG = """
examples:
  clusterlets cluster people.csv --sensitive sex -o labels.csv
      ten clusterlets of each sex, joined by the greedy balance matcher
  clusterlets cluster people.csv --sensitive sex --clusters 5 --report people.html
      five clusters, or as close to five as the matcher gets, and a page about them
  clusterlets cluster people.csv --sensitive sex --sensitive race --matcher D -k 20 --hops 1 --scaling standard
      groups are the combinations of sex and race; clusters may overlap
  clusterlets cluster people.csv --sensitive sex --matcher C --omega 0.25 --features age,income --plot people.png
  clusterlets cluster people.csv --sensitive sex --method FRAC -k 5 --tau 0.1
      five clusters, each with at least a tenth of the women and a tenth of the men
  clusterlets cluster people.csv --sensitive sex --method fair-limit -k 5 --parameters max_deviation=0.02,n_init=2
      --parameters sets any parameters, including those of a method of your own (--method mine.py, docs/extending.md)

matchers (--matcher):
{matchers}

methods (--method; docs/methods.md says what each of them guarantees):
{methods}

The file that -o names has the columns row and cluster. Both are counted from 0, and row 0 is the first below the header. If
clusters overlap, a row that is in several clusters has several lines.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    options.method_class = _requested_method(options)
    # A matcher in a file of the user's runs like any other method: its fit extracts the clusterlets.
    options.is_matcher = options.method_class.is_matcher and not is_from_file(options.method_class)
    options.method_parameters = _requested_parameters(options)
    options.k = _requested_k(options)
    _refuse_ignored_options(options)
    _refuse_late_failures(options)
    data = own_table.read(options, options.method_class.min_groups)
    if options.k > len(data.X):
        option = "-k" if options.clusters is None else "--clusters"
        raise ClusterletsError(f"{option} {options.k} is more than the {len(data.X)} rows of the table; ask for fewer.")
    clustering, summary = _fit(options, data)
    print(summary, file=cli.stream_for_people(options.output))
    _write_files(options, data, clustering, summary, shlex.join(["clusterlets", "cluster", *arguments]))
    return 0


def _fit(options: argparse.Namespace, data: OwnTable) -> tuple[Any, Summary]:
    """The fitted estimator, and the summary of its clustering."""
    from sklearn.exceptions import ConvergenceWarning  # imported late: scikit-learn and Numba are slow to load

    from clusterlets.algorithms.compiled import before_compiling

    message = "clusterlets cluster: compiling once for this machine; this may take half a minute."
    with before_compiling(functools.partial(print, message, file=sys.stderr, flush=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the summary reports missing clusters anyway
            clustering = _estimator(options).fit(data.X, sensitive_features=data.sensitive)
        return clustering, _summarize(options, data, clustering)


def _write_files(options: argparse.Namespace, data: OwnTable, clustering, summary: Summary, command: str) -> None:
    """Write the files that the options name. ``command`` is the command line, which the page shows."""
    stream = cli.stream_for_people(options.output)
    if options.output:
        positions, clusters = clustering.memberships_.nonzero()
        own_table.write_clusters(options, data.rows[positions], None if data.ids is None else data.ids[positions], clusters)
    if options.save:
        from clusterlets.estimators import SavedClustering

        scaling = dict(zip(("mean", "scale"), moments(data.table.X), strict=True)) if options.scaling == "standard" else {}
        with cli.writing(options.save):
            SavedClustering.of(clustering, feature_names=data.table.feature_names, **scaling).save(options.save)
        print(f"clustering: {options.save}", file=stream)
    if options.plot:
        from clusterlets.commands.picture import draw  # imported late: Matplotlib is slow to load
        from clusterlets.report.drawing import saving

        with cli.writing(options.plot):
            saving.write(draw(data.X, clustering.labels_, summary.report.composition), options.plot)
        print(f"picture: {options.plot}", file=stream)
    if options.report:
        with cli.writing(options.report):
            write_bytes(options.report, _page(options, command, summary, data, clustering).encode())
        print(f"report: {options.report}", file=stream)


def _page(options: argparse.Namespace, command: str, summary: Summary, data: OwnTable, clustering) -> str:
    from clusterlets.commands.picture import draw, draw_profile
    from clusterlets.estimators.profiles import typical_rows
    from clusterlets.report import clustering_page
    from clusterlets.report.drawing.saving import as_bytes

    composition = summary.report.composition
    id_meaning, ids = ("counted from 0", data.rows) if data.ids is None else (options.id, data.ids)
    typical = typical_rows(data.X, clustering.memberships_)
    profiles = [
        clustering_page.Profile(
            name=str(cluster),
            description=summary.profiles.describe(index),
            typical_rows=f"{', '.join(map(str, ids[typical[index]]))} ({id_meaning})",
            picture=as_bytes(draw_profile(summary.profiles, index), ".png"),
        )
        for index, cluster in enumerate(composition.clusters[: clustering_page.MAX_PROFILES])
    ]
    return clustering_page.render(
        table=summary.table,
        features=summary.features,
        notes=summary.notes,
        warnings=summary.warnings,
        method=summary.method,
        composition=pd.DataFrame(composition.counts, composition.clusters, composition.names),
        group_counts=composition.group_counts,
        deviations=summary.report.deviations,
        profiles=profiles,
        scores=summary.scores,
        command=command,
        picture=as_bytes(draw(data.X, clustering.labels_, composition), ".png"),
    )


def _parser() -> argparse.ArgumentParser:
    matchers = methods.matchers()
    other_methods = [name for name in methods.names() if name not in matchers]
    parser = cli.parser(
        "cluster",
        "Cluster the rows of a table fairly: each group makes up about the same share of every cluster as of the table. The "
        "groups are the values of the sensitive column.",
        _EPILOG.format(matchers=_method_list(matchers), methods=_method_list(other_methods)),
        usage="clusterlets cluster TABLE --sensitive COLUMN [options]",
    )
    own_table.add_options(parser)
    parser.add_argument(
        "--method",
        default="clusterlets",
        help="clusterlets, joined by a matcher; one of the methods below; or a Python file with a method of your own (default: "
        "clusterlets)",
    )
    parser.add_argument(
        "-k",
        type=cli.whole_number(1),
        help="number of clusterlets per group, or of clusters for other methods (default: 10, without --clusters)",
    )
    parser.add_argument(
        "--clusters",
        type=cli.whole_number(1),
        metavar="N",
        help="number of clusters, in place of -k; a matcher uses the -k and --hops that come closest",
    )
    parser.add_argument("--matcher", help=f"{', '.join(matchers)}, see below (default: G-B)")
    parser.add_argument(
        "--seed", type=cli.whole_number(0, 2**32 - 1), default=0, help="the same seed gives the same clusters (default: 0)"
    )
    cli.add_output_files(
        parser,
        output="CSV file for the clusters of the rows; - is standard output",
        plot="picture (.png, .pdf, .svg) of the clusters' composition and a projection of the rows",
        report="page (.html) with the clusters, scores and picture",
        save="JSON file for the clustering, to which `clusterlets assign` adds new rows",
    )
    group = parser.add_argument_group("parameters of the methods", "docs/methods.md lists the allowed values")
    for name, owners in _parameters().items():
        description = meaning(name, owners).replace("%", "%%")
        group.add_argument(flag(name), type=cli.nonempty, metavar="VALUE", help=description)
    group.add_argument(
        "--parameters", action="append", metavar="A=1,B=2", help="parameters of any method, including your own; may be repeated"
    )
    return parser


def _parameters() -> dict[str, list[type[Method]]]:
    """The parameters with their own option, each with the methods that accept it."""
    return by_parameter(map(methods.get, methods.names()))


def flag(parameter: str) -> str:
    """The option that sets a parameter, such as ``--max-deviation`` for ``max_deviation``."""
    return f"--{parameter.replace('_', '-')}"


def _method_list(names: Iterable[str]) -> str:
    lines = [f"  {name:<14}{methods.get(name).summary()}" for name in names]
    return "\n".join(textwrap.fill(line, 118, subsequent_indent=" " * 16) for line in lines)


def _requested_method(options: argparse.Namespace) -> type[Method]:
    """The class of the requested method. Either --method or --matcher may name a matcher."""
    if options.method.endswith(".py"):
        return methods.from_file(options.method)
    if options.method == "clusterlets":
        method = methods.get(options.matcher or "G-B")
        if not method.is_matcher:
            raise ClusterletsError(
                f"{options.matcher} is not a matcher. The matchers are {', '.join(methods.matchers())}; --method accepts other "
                "methods."
            )
        return method
    names_by_lower_case = {name.lower(): name for name in methods.names()}
    method = methods.get(names_by_lower_case.get(options.method.lower(), options.method))
    if method.is_matcher and options.matcher not in (None, method.name):
        raise ClusterletsError(f"--method {method.name} and --matcher {options.matcher} name two matchers; leave one out.")
    return method


def _requested_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """The parameters that are set by options such as --tau or by --parameters, with their values."""
    values: dict[str, Any] = dict(parse_parameters(",".join(options.parameters or [])))
    for name in values:
        if not name.isidentifier():
            raise ClusterletsError(f"--parameters: {name!r} cannot be the name of a parameter; write A=1,B=2.")
    for name in _parameters():
        text = getattr(options, name)
        if text is not None and name in values:
            raise ClusterletsError(f"{flag(name)} and --parameters both set {name}; leave one out.")
        if text is not None:
            values[name] = cli.json_mapping(text) if text.startswith("{") else parse_value(text)
    return values


def _requested_k(options: argparse.Namespace) -> int:
    if options.clusters is not None and options.k is not None:
        raise ClusterletsError("-k and --clusters cannot be combined; leave one out.")
    return options.k or options.clusters or _DEFAULT_K


def _refuse_ignored_options(options: argparse.Namespace) -> None:
    unused_options = ["--matcher"] if options.matcher and not options.is_matcher else []
    accepted_names = parameters_of(options.method_class)  # None: any
    unused_options += [
        flag(name) for name in options.method_parameters if accepted_names is not None and name not in accepted_names
    ]
    if unused_options:
        hint = f" (its parameters: {', '.join(accepted_names)})" if accepted_names else ""
        verb, pronoun = ("has", "it") if len(unused_options) == 1 else ("have", "them")
        raise ClusterletsError(
            f"{' and '.join(unused_options)} {verb} no effect with {_method_option(options)}{hint}; leave {pronoun} out, or "
            "use another method."
        )
    if options.clusters is not None and options.is_matcher and "hops" in options.method_parameters:
        raise ClusterletsError("--hops has no effect with --clusters, which chooses the hops; leave one out.")


def _refuse_late_failures(options: argparse.Namespace) -> None:
    """Raise now the errors that would otherwise come only in the fit or after it."""
    if options.is_matcher and options.k < 2 and options.clusters is None:
        raise ClusterletsError("-k 1: one clusterlet of each group leaves nothing to choose; use 2 or more.")
    problems = options.method_class().faults(options.k, **options.method_parameters)
    if problems:
        raise ClusterletsError(f"{options.method_class.name} does not accept these parameters: {'; '.join(problems)}.")
    outputs = {"-o": options.output, "--plot": options.plot, "--report": options.report, "--save": options.save}
    inputs = [
        ("the table itself", options.table),
        *([("the method's own file", options.method)] if options.method.endswith(".py") else []),
    ]
    cli.check_output_files(outputs, inputs)
    can_assign = options.method_class.assignment_limits is not Method.assignment_limits
    if options.save and (options.is_matcher or not can_assign or options.method.endswith(".py")):
        raise ClusterletsError(
            f"--save cannot be used with {_method_option(options)}, which guarantees nothing for new rows; use fair-limit, for "
            "example."
        )
    with optional("tune" if options.report else "plots"):  # the extra "tune" contains what pages need
        if options.plot or options.report:
            importlib.import_module("matplotlib")
        if options.report:
            importlib.import_module("clusterlets.report.clustering_page")


def _method_option(options: argparse.Namespace) -> str:
    return f"--matcher {options.method_class.name}" if options.is_matcher else f"--method {options.method}"


def _estimator(options: argparse.Namespace):
    from clusterlets.estimators import ClusterletClustering, MethodClustering

    if not options.is_matcher:
        method = options.method if options.method.endswith(".py") else options.method_class.name
        return MethodClustering(method, options.k, parameters=options.method_parameters, random_state=options.seed)
    size = {"n_clusterlets": options.k} if options.clusters is None else {"n_clusters": options.clusters}
    return ClusterletClustering(
        **size, matcher=options.method_class.name, random_state=options.seed, **options.method_parameters
    )


def _notes_on_unmet_requests(options: argparse.Namespace, group_names: Iterable[str], clustering) -> list[str]:
    """Notes about groups with fewer clusterlets than requested, and about too few or too many clusters."""
    if not options.is_matcher:
        count = clustering.n_clusters_
        return [] if count >= options.k else [f"{counted(count, 'cluster')} instead of the requested {options.k}"]
    clusterlet_counts = np.bincount(clustering.clusterlets_.group)
    notes = [
        f"{name} has only {counted(count, 'distinct row')}, so only {counted(count, 'clusterlet')}"
        for name, count in zip(group_names, clusterlet_counts, strict=True)
        if count < clustering.n_clusterlets_
    ]
    n_other_groups = len(notes) - _MAX_NOTED_GROUPS
    if n_other_groups > 0:
        subject = counted(n_other_groups, "other group has", "other groups have")
        notes[_MAX_NOTED_GROUPS:] = [f"{subject} too few distinct rows"]
    if options.clusters not in (None, clustering.n_clusters_):
        notes.append(f"asked for {counted(options.clusters, 'cluster')}: no configuration comes closer than this one")
    return notes


def _summarize(options: argparse.Namespace, data: OwnTable, clustering) -> Summary:
    from clusterlets.estimators import fairness_report
    from clusterlets.estimators.profiles import Profiles

    table = data.table
    groups = pd.Categorical.from_codes(table.groups, table.group_names)  # keeps the table's order of groups
    report = fairness_report(data.X, clustering.memberships_, groups, random_state=options.seed)
    group_shares = [f"{name} {share:.1%}" for name, share in report.shares.items()]
    return Summary(
        table=f"{options.table.name}: {len(data.X):,} rows, {counted(data.X.shape[1], 'feature')}; "
        f"{' and '.join(options.sensitive)}: {', '.join(first_of(group_shares, MAX_GROUPS))}",
        features=data.features,
        notes=data.notes + _notes_on_unmet_requests(options, table.group_names, clustering),
        warnings=data.warnings + account.warnings(report),
        method=f"{_describe_method(options, clustering)}, seed {options.seed}: {counted(clustering.n_clusters_, 'cluster')}",
        report=report,
        profiles=Profiles.of(table.X, clustering.memberships_, table.feature_names),
        scores=[
            *_describe_bounds(options, report.composition.counts, table.group_counts),
            *_deviations_of_columns(clustering.memberships_, data.sensitive),
            account.worst_cluster(report),
            *account.scores(report),
        ],
    )


def _describe_bounds(options: argparse.Namespace, counts: np.ndarray, group_counts: np.ndarray) -> list[str]:
    """One line per bound: whether every cluster keeps it, and if not, by how many rows. No lines for methods without bounds."""
    group_bounds, size_bounds = [], []
    for name, parameter in options.method_class.parameters.items():
        bound = parameter.bound
        value = bound.resolve(options.method_parameters.get(name, parameter.default), options.k) if bound else None
        if value is None:
            continue
        if bound is not SIZE:
            group_bounds.append((name, bound, value))
        elif value > 1:  # every cluster has at least one row
            size_bounds.append((name, bound, value))
    lines = []
    for name, bound, value in [*group_bounds[-1:], *size_bounds]:  # a later bound on groups replaces an earlier one
        n_off = bound.missed_rows(value, counts, group_counts)
        if n_off == 0:
            verdict = "kept"
        elif n_off == 1:
            verdict = "kept up to whole rows, 1 row off"
        else:
            verdict = f"not kept, {n_off} rows off"
        lines.append(f"asked for   {name} {value}: {verdict}   ({bound.meaning})")
    return lines


def _deviations_of_columns(memberships, sensitive: pd.DataFrame) -> list[str]:
    """A line with the largest deviation in each of several sensitive columns. No line for a single column."""
    from clusterlets.estimators.report import composition_of

    if sensitive.shape[1] == 1:
        return []
    maxima = {}
    for name, column in sensitive.loc[:, sensitive.nunique() > 1].items():  # a constant column cannot deviate
        composition = composition_of(memberships, column)
        maxima[name] = deviation_per_cluster(composition.counts, composition.group_counts).max()
    return [f"columns     {', '.join(f'{name} max {value:.3f}' for name, value in maxima.items())}   (each by itself)"]


def _describe_method(options: argparse.Namespace, clustering) -> str:
    name = options.method_class.name
    if not options.is_matcher:
        return ", ".join(filter(None, (name, f"k = {options.k}", format_nested(options.method_parameters))))
    fitted_attributes = {"hops": "hops_"}  # --clusters may have chosen other hops than the parameter
    settings = [
        f"{parameter} = {getattr(clustering, fitted_attributes.get(parameter, parameter))}"
        for parameter in options.method_class.grid()
    ]
    return f"Clusterlets, matcher {name}, k = {clustering.n_clusterlets_}, {', '.join(settings)}"
