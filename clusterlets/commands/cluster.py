"""``clusterlets cluster people.csv --sensitive sex``: cluster your own table fairly, and describe the result."""

import argparse
import importlib
import re
import shlex
import textwrap
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.commands import cli, own_table, summary
from clusterlets.commands.own_table import OwnTable
from clusterlets.commands.summary import Line, Summary
from clusterlets.errors import ClusterletsError
from clusterlets.methods import Method
from clusterlets.methods.interface.check import check_parameters
from clusterlets.methods.interface.users_file import is_from_file
from clusterlets.metrics.composition import deviation_per_cluster
from clusterlets.parameter_text import format_nested, parse_parameters, parse_value
from clusterlets.parameters import SIZE
from clusterlets.storage import write_bytes
from clusterlets.supervision.processes import ending_descendants
from clusterlets.tables.table import moments
from clusterlets.text import counted

_MAX_NOTED_GROUPS = 5  # how many groups with too few distinct rows are named
_DEFAULT_METHOD, _PLAIN_METHOD = "fair-limit", "k-means"
_USAGE = "clusterlets cluster TABLE --sensitive COLUMN [options]"

_EPILOG = """
examples:
  clusterlets cluster people.csv --sensitive sex -k 5 -o labels.csv
      in each of five clusters, women and men are within .02 of their shares
  clusterlets cluster people.csv --sensitive sex --sensitive race --plot p.png
      fair-limit limits each column; other methods, combinations of the columns
  clusterlets cluster people.csv --sensitive sex --method FRAC -k 5 --tau 0.1
      five clusters, each with at least a tenth of the women and of the men
  clusterlets cluster people.csv --sensitive sex --method D --clusterlets 20
      the paper's matcher D on 20 clusterlets of each sex; clusters may overlap

{methods}
docs/methods.md says what each of them guarantees, and --method NAME --help lists
its parameters, which are options. The file that -o names has the columns row and
cluster, counted from 0; row 0 is the first below the header.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = parse(arguments)
    data = own_table.read(options, options.method_class.min_groups)
    number = options.clusterlets or options.k
    if number > len(data.X):
        option = "--clusterlets" if options.clusterlets else "-k"
        raise ClusterletsError(f"{option} {number} is more than the {len(data.X)} rows of the table; ask for fewer.")
    clustering, summary = _fit(options, data)
    print(summary, file=cli.stream_for_people(options.output))
    _write_files(options, data, clustering, summary, shlex.join(["clusterlets", "cluster", *arguments]))
    return 0


def _fit(options: argparse.Namespace, data: OwnTable) -> tuple[Any, Summary]:
    """The fitted estimator, and the summary of its clustering."""
    from sklearn.exceptions import ConvergenceWarning  # imported late: scikit-learn is slow to load

    with cli.compiling_announced("cluster"):
        with warnings.catch_warnings(), ending_descendants():  # a program that a method leaves would hold pipes open
            warnings.simplefilter("ignore", ConvergenceWarning)  # the summary reports missing clusters anyway
            clustering = _estimator(options, len(data.X)).fit(data.X, sensitive_features=data.sensitive)
            if _starts_from_plain_k_means(options, data):
                options.method_parameters["start_deviation"] = 1
                clustering = _estimator(options, len(data.X)).fit(data.X, sensitive_features=data.sensitive)
        return clustering, summarize(options, data, clustering)


def _starts_from_plain_k_means(options: argparse.Namespace, data: OwnTable) -> bool:
    """Whether plain k-means keeps the limits of fair-limit, so that its clusters are worth a start. A note says so."""
    from clusterlets.algorithms.plain_costs import least_plain_labels
    from clusterlets.estimators.repair import broken_limits

    values = options.method_parameters
    if options.method_class.name != _DEFAULT_METHOD or options.k == 1 or {"start_deviation", "max_seconds"} & values.keys():
        return False
    labels = least_plain_labels(data.X, options.k)
    bounds = {name: values.get(name) for name in ("max_deviation", "min_ratio", "shares")}
    sizes = np.bincount(labels, minlength=options.k)
    if sizes.min() < values.get("min_cluster_size", 1) or sizes.max() > (values.get("max_cluster_size") or len(labels)):
        return False
    if broken_limits(labels, sensitive_features=data.sensitive, **bounds):
        return False
    data.notes.append("plain k-means, which does not know the groups, keeps the limit too: the search started there as well")
    return True


def _write_files(options: argparse.Namespace, data: OwnTable, clustering, summary: Summary, command: str) -> None:
    """Write the files that the options name. ``command`` is the command line, which the page shows."""
    stream = cli.stream_for_people(options.output)
    if options.output:
        positions, clusters = clustering.memberships_.nonzero()
        own_table.write_clusters(options, data.rows[positions], None if data.ids is None else data.ids[positions], clusters)
    if options.save:
        save(options, data, clustering)
    if options.plot:
        from clusterlets.commands.picture import draw  # imported late: Matplotlib is slow to load
        from clusterlets.pages import saving

        with cli.writing(options.plot):
            composition = next(iter(summary.listings.values())).composition
            saving.write(draw(data.X, clustering.labels_, composition), options.plot)
        print(f"picture: {options.plot}", file=stream)
    if options.report:
        write_page(options, command, summary, data, clustering.labels_, clustering.memberships_)
        print(f"report: {options.report}", file=stream)


def save(options: argparse.Namespace, data: OwnTable, clustering) -> None:
    """Write a fitted estimator with the parameters of the options, as `clusterlets assign` reads it, and print its name."""
    from clusterlets.estimators import SavedClustering

    table, preparation = data.table, {"fill": data.table.fill, "text_columns": data.table.text_columns}
    if options.scaling == "standard":
        preparation["mean"], preparation["scale"] = moments(table.X, table.one_hot)
    saved = SavedClustering.of(clustering, feature_names=table.feature_names, **preparation)
    saved.parameters = options.method_parameters  # an estimator may have those with their default values too
    with cli.writing(options.save):
        saved.save(options.save)
    print(f"clustering: {options.save}", file=cli.stream_for_people(options.output))


def write_page(
    options: argparse.Namespace, command: str, summary: Summary, data: OwnTable, labels, memberships, path=None
) -> None:
    """Write the page on labels (n,) and memberships (n, C).

    ``path`` is the recommendation of ``tune`` and its picture, a PNG, if the clustering comes from there.
    """
    from clusterlets.commands.picture import draw, draw_profile
    from clusterlets.estimators.profiles import typical_rows
    from clusterlets.pages import clustering_page
    from clusterlets.pages.saving import as_bytes

    composition = next(iter(summary.listings.values())).composition
    id_meaning, ids = ("counted from 0", data.rows) if data.ids is None else (options.id, data.ids)
    typical = typical_rows(data.X, memberships)
    profiles = [
        clustering_page.Profile(
            name=str(cluster),
            description=summary.profiles.describe(index),
            typical_rows=f"{', '.join(map(str, ids[typical[index]]))} ({id_meaning})",
            picture=as_bytes(draw_profile(summary.profiles, index), ".png"),
        )
        for index, cluster in enumerate(composition.clusters[: clustering_page.MAX_PROFILES])
    ]
    page = clustering_page.render(
        table=summary.table,
        verdict=summary.verdict,
        features=summary.features,
        notes=summary.notes,
        warnings=summary.warnings,
        method=summary.method,
        reports=summary.listings,
        profiles=profiles,
        scores=[(line.name, line.text) for line in summary.scores],
        command=command,
        picture=as_bytes(draw(data.X, labels, composition, stacked=True), ".png"),
        path=path,
    )
    with cli.writing(options.report):
        write_bytes(options.report, page.encode())


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options, with the class of the method and the values of its parameters. Raises ClusterletsError if one is wrong."""
    method_parser = cli.parser("cluster", None, usage=_USAGE, add_help=False, allow_abbrev=False)
    method_parser.add_argument("--method")
    # The method comes first, because its parameters are options.
    name = method_parser.parse_known_args([word for word in arguments if word != "--"])[0].method
    method = _method(_DEFAULT_METHOD if name is None else name)
    parser = _parser(method, lists_parameters=name is not None)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        names = ", ".join(map(flag, method.parameters))
        if is_from_file(method):  # its parameters are no options
            names = "--parameters " + ",".join(f"{name}=VALUE" for name in method.parameters)
        own = f"; the parameters of {method.name}: {names}" if method.parameters else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{own}")
    options.method_class = method
    # A matcher in a file of the user's runs like any other method: its fit extracts the clusterlets.
    options.is_matcher = method.is_matcher and not is_from_file(method)
    options.method_parameters = _requested_parameters(options)
    _refuse_late_failures(options)
    return options


def table_line(options: argparse.Namespace, data: OwnTable) -> str:
    """The first line of a summary: the file, its size, how its features are scaled, and the shares of the groups."""
    scaling = (
        "mean 0 and variance 1; --scaling none leaves them as they are" if options.scaling == "standard" else "as they are"
    )
    features = f"{counted(data.X.shape[1], 'feature')} ({scaling})"
    return f"{options.table.name}: {len(data.X):,} rows, {features}; {summary.shares_of_columns(data.sensitive)}"


def _method(name: str) -> type[Method]:
    if name.endswith(".py"):
        return methods.from_file(name)
    names_by_lower_case = {name.lower(): name for name in methods.names()}
    return methods.get(names_by_lower_case.get(name.lower(), name))


def _parser(method: type[Method], lists_parameters: bool) -> argparse.ArgumentParser:
    """The parser for a method. Its help has the parameters that are no limits only if ``lists_parameters``."""
    matchers = methods.matchers()
    others = [name for name in methods.names() if name not in matchers]
    lists = (f"{title}: {', '.join(names)}" for title, names in (("methods", others), ("matchers of the paper", matchers)))
    parser = cli.parser(
        "cluster",
        "Cluster the rows of a table, so that each group, a value of the sensitive column, makes up about the same share of "
        "every cluster as of the table.",
        "`clusterlets cluster --help` lists the methods and has examples."
        if lists_parameters
        else _EPILOG.format(methods="\n".join(textwrap.fill(text, 80) for text in lists)),
        usage=_USAGE,
        allow_abbrev=False,
    )
    own_table.add_options(parser, shows_groups=True)
    clusters = parser.add_argument_group("clusters")
    clusters.add_argument(
        *("-k", "--clusters"),
        dest="k",
        type=cli.whole_number(1),
        default=5,
        metavar="N",
        help="number of clusters (default: 5)",
    )
    clusters.add_argument(
        "--method",
        default=_DEFAULT_METHOD,
        help="see below, or a Python file with your own (default: fair-limit)",
    )
    clusters.add_argument("--parameters", action="append", metavar="A=1,B=2", help="parameters of any method; may be repeated")
    parser.set_defaults(which=None)
    if method.outputs:
        text = f"which of its clusterings to show (default: {method.outputs[0]})"
        clusters.add_argument("--which", choices=method.outputs, help=text)
    if method.is_matcher and not is_from_file(method):
        clusters.add_argument(
            "--clusterlets",
            type=cli.whole_number(2),
            metavar="N",
            help="number of clusterlets of each group, instead of -k; the matcher then decides how many clusters they form",
        )
    else:
        parser.set_defaults(clusterlets=None)
    clusters.add_argument(
        "--seed", type=cli.whole_number(0, 2**32 - 1), default=0, help="the same seed gives the same clusters (default: 0)"
    )
    limits, output = parser.add_argument_group("limits"), parser.add_argument_group("output")
    if is_from_file(method):
        lines = (f"{name}: {own.meaning} ({own.allowed}; default: {own.default})" for name, own in method.parameters.items())
        text = "\n".join(lines).replace(":  (", ": (") or "none"
        parser.add_argument_group(f"parameters of {method.name}, set by --parameters", text)
    parameters = parser.add_argument_group(f"other parameters of {method.name} (allowed values)")
    cli.add_output_files(
        output,
        output="CSV file for the clusters; - is standard output",
        plot="picture (.png, .pdf, .svg) of groups and rows",
        report="page (.html) with the clusters, scores and picture",
        save="JSON file for `clusterlets assign`",
    )
    if not is_from_file(method):  # an option of this command could have the same name as a parameter of a user's method
        for name, parameter in method.parameters.items():
            text = f"{parameter.meaning} ({parameter.allowed})"
            if not lists_parameters:
                text = re.split("[.;] ", parameter.meaning)[0] if parameter.bound else argparse.SUPPRESS
            group = limits if parameter.bound else parameters
            group.add_argument(flag(name), type=cli.nonempty, metavar="VALUE", help=text.replace("%", "%%"))
    return parser


def flag(parameter: str) -> str:
    """The option that sets a parameter, such as ``--max-deviation`` for ``max_deviation``."""
    return f"--{parameter.replace('_', '-')}"


def _requested_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """The parameters that are set by options such as --tau or by --parameters, with their values."""
    method = options.method_class
    values: dict[str, Any] = dict(parse_parameters(",".join(options.parameters or [])))
    for name in values:
        if not name.isidentifier():
            raise ClusterletsError(f"--parameters: {name!r} cannot be the name of a parameter; write A=1,B=2.")
    check_parameters(method, values, "--parameters")
    for name in [] if is_from_file(method) else method.parameters:
        text = getattr(options, name)
        if text is not None and name in values:
            raise ClusterletsError(f"{flag(name)} and --parameters both set {name}; leave one out.")
        if text is not None:
            values[name] = cli.json_mapping(text) if text.startswith("{") else parse_value(text)
    if options.is_matcher and not options.clusterlets and "hops" in values:
        raise ClusterletsError("--hops needs --clusterlets: with -k alone, the search chooses the hops.")
    return values


def _refuse_late_failures(options: argparse.Namespace) -> None:
    """Raise now the errors that would otherwise come only in the fit or after it."""
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
            f"--save cannot be used with --method {options.method}, which guarantees nothing for new rows; use fair-limit, for "
            "example."
        )
    if options.plot or options.report:
        importlib.import_module("matplotlib")
    if options.report:
        importlib.import_module("clusterlets.pages.clustering_page")


def _estimator(options: argparse.Namespace, n_rows: int):
    from clusterlets.algorithms.plain_costs import number_of_starts
    from clusterlets.estimators import ClusterletClustering, MethodClustering

    if not options.is_matcher:
        if options.method_class.name == _PLAIN_METHOD:  # as many starts as those that it is compared with
            options.method_parameters.setdefault("n_init", number_of_starts(n_rows))
        method = options.method if options.method.endswith(".py") else options.method_class.name
        return MethodClustering(
            method, options.k, parameters=options.method_parameters, output=options.which, random_state=options.seed
        )
    size = {"n_clusterlets": options.clusterlets} if options.clusterlets else {"n_clusters": options.k}
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
    if not options.clusterlets and clustering.n_clusters_ != options.k:
        notes.append(f"asked for {counted(options.k, 'cluster')}: no configuration comes closer than this one")
    return notes


def summarize(options: argparse.Namespace, data: OwnTable, clustering, reference_cost: float | None = None) -> Summary:
    """What the command prints about a fitted estimator. ``reference_cost`` is that of plain k-means, if it is known."""
    from clusterlets.estimators import fairness_report
    from clusterlets.estimators.profiles import Profiles

    table = data.table
    groups = summary.named_groups(table, data.sensitive)
    report = fairness_report(data.X, clustering.memberships_, groups, random_state=options.seed, reference_cost=reference_cost)
    columns = summary.columns(data.X, clustering.memberships_, data.sensitive)
    bounds = _bounds(options, report.composition.counts, table.group_counts)
    return Summary(
        table=table_line(options, data),
        verdict=summary.verdict(_judgement(bounds), columns, report["price_of_fairness"]),
        features=data.features,
        notes=data.notes + _notes_on_unmet_requests(options, table.group_names, clustering),
        warnings=[*data.warnings, *_vacuous_limits(options, data.sensitive), *summary.warnings(report, columns)],
        method=f"{_describe_method(options, clustering)}, seed {options.seed}: {counted(clustering.n_clusters_, 'cluster')}",
        report=report,
        profiles=Profiles.of(table.X, clustering.memberships_, table.feature_names),
        scores=[
            *(Line("asked for", f"{asked}: {outcome}   ({meaning})") for asked, outcome, meaning in bounds),
            *_deviations_of_columns(options, clustering.memberships_, data.sensitive),
            *summary.scores(report, options.all_scores or data.sensitive.shape[1] == 1, options.all_scores),
        ],
        columns=columns,
        combinations=options.all_scores,
    )


def _bounds(options: argparse.Namespace, counts: np.ndarray, group_counts: np.ndarray) -> list[tuple[str, str, str]]:
    """Each bound of the method, whether every cluster keeps it, and if not, by how many rows, and what the bound means."""
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
    bounds = []
    for name, bound, value in [*group_bounds[-1:], *size_bounds]:  # a later bound on groups replaces an earlier one
        n_off = bound.missed_rows(value, counts, group_counts)
        if n_off == 0:
            verdict = "kept"
        elif n_off == 1:
            verdict = "kept up to whole rows, 1 row off"
        else:
            verdict = f"not kept, {n_off} rows off"
        bounds.append((f"{name} {cli.as_typed(value)}", verdict, bound.meaning))
    return bounds


def _judgement(bounds: list[tuple[str, str, str]]) -> str:
    """A sentence on the bounds of the method."""
    if not bounds:
        return "No limit was asked for."
    return f"Limits: {'; '.join(f'{asked} {outcome}' for asked, outcome, _ in bounds)}."


def _vacuous_limits(options: argparse.Namespace, sensitive: pd.DataFrame) -> list[str]:
    """A warning about groups that the largest deviation of fair-limit does not limit from below."""
    limit = _largest_deviation(options)
    return [] if limit is None else summary.groups_within(sensitive, limit)


def _largest_deviation(options: argparse.Namespace) -> Any:
    """The limit on the deviation, for all columns or for each; None if there is no such limit."""
    values, parameter = options.method_parameters, options.method_class.parameters.get("max_deviation")
    if parameter is None or parameter.bound is None or {"shares", "min_ratio"} & values.keys():
        return None
    return parameter.bound.resolve(values.get("max_deviation"), options.k)


def _deviations_of_columns(options: argparse.Namespace, memberships, sensitive: pd.DataFrame) -> list[Line]:
    """For each of several sensitive columns, a line with its largest deviation and its limit. No line for a single column."""
    from clusterlets.estimators.fairness import composition_of

    if sensitive.shape[1] == 1:
        return []
    value = _largest_deviation(options)
    limits = value if isinstance(value, dict) else dict.fromkeys(sensitive, value)
    lines = []
    for name, column in sensitive.loc[:, sensitive.nunique() > 1].items():  # a constant column cannot deviate
        composition = composition_of(memberships, column)
        deviation = deviation_per_cluster(composition.counts, composition.group_counts).max()
        limit = limits.get(name)
        verdict = "" if limit is None else f", asked for {limit}: {'kept' if deviation <= limit + 1e-12 else 'not kept'}"
        lines.append(Line("column", f"{name}: max deviation {deviation:.3f}{verdict}   ({column.nunique()} values)"))
    if options.all_scores:
        lines.append(Line("", "the lines below are about combinations of these columns"))
    return lines


def _describe_method(options: argparse.Namespace, clustering) -> str:
    name = options.method_class.name
    if options.method_class.outputs:
        name = f"{name} ({options.which or options.method_class.outputs[0]})"
    if not options.is_matcher:
        return ", ".join(filter(None, (name, f"k = {options.k}", format_nested(options.method_parameters))))
    fitted_attributes = {"hops": "hops_"}  # -k may have chosen other hops than the parameter
    settings = [
        f"{parameter} = {getattr(clustering, fitted_attributes.get(parameter, parameter))}"
        for parameter in options.method_class.grid()
    ]
    return f"Clusterlets, matcher {name}, k = {clustering.n_clusterlets_}, {', '.join(settings)}"
