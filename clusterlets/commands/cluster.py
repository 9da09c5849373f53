"""``clusterlets cluster people.csv --sensitive sex``: a fair clustering of one's own table, and an account of it."""

import argparse
import sys
import warnings
from collections.abc import Mapping
from fractions import Fraction
from inspect import signature
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.commands.output import given, in_utf8, whole, write_memberships, writing
from clusterlets.datasets import user_table
from clusterlets.datasets.numerals import number
from clusterlets.datasets.table import Table, scaled
from clusterlets.errors import ClusterletsError
from clusterlets.extras import optional
from clusterlets.grid.cells import from_words
from clusterlets.metrics import additive_violation
from clusterlets.text import counted

if TYPE_CHECKING:
    from clusterlets.estimators import FairnessReport

#: Clusters and colours that the account lists one by one.
_LISTED, _COLOURS = 20, 6

_EPILOG = """
examples:
  clusterlets cluster people.csv --sensitive sex -o labels.csv
      ten clusterlets of each sex, joined by the greedy balance matcher
  clusterlets cluster people.csv --sensitive sex --sensitive race --matcher D -k 20 --hops 1 --scaling standard
      colours are the combinations of sex and race; clusters may overlap
  clusterlets cluster people.csv --sensitive sex --matcher C --omega 0.25 --features age,income --plot people.png
  clusterlets cluster people.csv --sensitive sex --method frac -k 5 --tau 0.1
      five clusters, each with at least a tenth of the women and a tenth of the men
  clusterlets cluster people.csv --sensitive sex --method frac-oe -k 5 --parameters tau=0.1
      any other method, or the Python file of one of your own (docs/extending.md)

matchers (--method clusterlets; --method G-B is short for --matcher G-B):
  G-B  greedy balance: each cluster's shares are brought near the table's; crisp
  G-D  greedy distance: near clusterlets of differing colours are joined; crisp
  D    distance pinball: hops to the nearest clusterlet of the next colour; clusters may overlap
  B    balance pinball: hops to the clusterlet that balances best; clusters may overlap
  C    the best of many random partitions, by silhouette and balance; crisp, mostly two or three clusters

The file that -o names has the columns row and cluster, both counted from 0 (row 0 is the first below the header). Where
clusters overlap, a row that is in several clusters has several lines.
"""


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status."""
    options = _parser().parse_args(arguments)
    _name_method(options)
    _refuse_what_has_no_use(options)
    table, rows, remarks = _read(options)
    if options.k > len(table.X):
        raise ClusterletsError(f"-k {options.k} is more than the {len(table.X)} rows of the table; ask for fewer.")
    X = scaled(table, options.scaling)
    from clusterlets.algorithms.compiled import before_compiling  # numba is slow to load

    with before_compiling(_say_that_it_takes_longer):
        fitted = _fitted(options, X, table.colour)
        report = _report(options, table, X, fitted)
        account = _account(options, table, report, fitted, remarks + _shortage(options, table, fitted))
    print(account)
    if options.output:
        members, clusters = fitted.memberships_.nonzero()
        write_memberships(options.output, rows[members], clusters)
        print(f"\nclusters of the rows: {options.output}")
    if options.plot:
        from clusterlets.commands.picture import draw  # matplotlib is slow to import

        with writing(options.plot):
            composition = pd.DataFrame(report.composition.counts, report.composition.clusters, report.composition.names)
            draw(options.plot, X, fitted.labels_, composition, table.colour_counts)
        print(f"picture: {options.plot}")
    return 0


def _say_that_it_takes_longer() -> None:
    print("clusterlets cluster: compiling for this machine, once; this may take half a minute.", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "clusterlets cluster",
        description="Cluster the rows of a table fairly: so that every cluster has about the table's share of each "
        "colour, a value of the sensitive column.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", type=Path, help="CSV or TSV file in UTF-8, with a header line")
    parser.add_argument(
        "--sensitive",
        action="append",
        type=in_utf8,
        required=True,
        metavar="COLUMN",
        help="column whose values are the colours; given several times, the combinations of values are the colours",
    )
    parser.add_argument(
        "--features",
        type=in_utf8,
        metavar="A,B,...",
        help="columns to cluster by (default: all numeric ones but the sensitive)",
    )
    parser.add_argument("--separator", type=in_utf8, metavar="S", help="what parts the cells (default: a comma, a tab in .tsv)")
    parser.add_argument(
        "--scaling",
        choices=("none", "standard"),
        default="none",
        help="standard: features to mean 0 and variance 1, which you want where their units differ (default: none)",
    )
    parser.add_argument(
        "--method",
        default="clusterlets",
        help="clusterlets joined by a matcher, or one of "
        f"{', '.join(methods.names())}, or a Python file with a method of your own (default: clusterlets)",
    )
    parser.add_argument(
        "-k", type=whole(1), default=10, help="clusterlets of each colour; other methods: clusters (default: 10)"
    )
    parser.add_argument("--matcher", help=f"{', '.join(methods.names('paper'))}, see below (default: G-B)")
    parser.add_argument(
        "--hops",
        type=whole(1),
        help="D, B: sweeps over the colours; G-D, G-B: most clusterlets that join another (default: 4)",
    )
    parser.add_argument("--omega", type=_share, help="C: weight, 0 to 1, of silhouette against balance (default: 0.5)")
    parser.add_argument(
        "--tau", type=_share, help="FRAC: least part of each colour in each cluster, 0 to 1/k (default: 1/k, all of it)"
    )
    parser.add_argument(
        "--parameters",
        action="append",
        metavar="A=1,B=2",
        help="of any other method, as docs/methods.md names them; may be repeated",
    )
    parser.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="the same one gives the same clusters (default: 0)")
    parser.add_argument("-o", "--output", type=given, metavar="FILE", help="CSV file for the clusters of the rows")
    parser.add_argument("--plot", type=given, metavar="FILE", help="picture (.png, .pdf, .svg) of composition and a projection")
    return parser


def _share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def _name_method(options: argparse.Namespace) -> None:
    """``options.method`` becomes clusterlets, with a matcher, or frac, or whatever else there is, by its own name."""
    if options.method.endswith(".py"):
        return
    if options.method == "clusterlets":
        options.matcher = options.matcher or "G-B"
        if methods.get(options.matcher).role != "paper":
            known = ", ".join(methods.names("paper"))
            raise ClusterletsError(f"{options.matcher} is no matcher. The matchers are {known}; --method takes other methods.")
        return
    known_names = {name.lower(): name for name in methods.names()}
    name = methods.get(known_names.get(options.method.lower(), options.method)).name
    if name in methods.names("paper"):
        if options.matcher not in (None, name):
            raise ClusterletsError(f"--method {name} and --matcher {options.matcher} name two matchers; leave one out.")
        options.method, options.matcher = "clusterlets", name
    else:
        options.method = "frac" if name == "FRAC" else name


def _refuse_what_has_no_use(options: argparse.Namespace) -> None:
    """An option that the method ignores was meant: say so rather than ignore it. And refuse before hours of work."""
    if options.method == "clusterlets":
        useless = ["tau", "parameters", "hops" if _parameter(options) == "omega" else "omega"]
    else:
        useless = ["matcher", "hops", "omega", "parameters" if options.method == "frac" else "tau"]
    given = [f"--{name}" for name in useless if getattr(options, name) is not None]
    if given:
        method = f"--matcher {options.matcher}" if options.method == "clusterlets" else f"--method {options.method}"
        raise ClusterletsError(f"{' and '.join(given)} has no use with {method}; leave it out or take another method.")
    if options.method == "clusterlets" and options.k < 2:
        raise ClusterletsError("-k 1: one clusterlet of each colour leaves nothing to choose; take 2 or more.")
    if (options.tau or 0) * options.k > 1 + 1e-9:  # of 1/k, as a person may round it, FRAC itself decides
        raise ClusterletsError(
            f"--tau {options.tau:g}: it must lie between 0 and 1/k = 1/{options.k}, since {options.k} clusters cannot each "
            "hold more than that part of a colour."
        )
    for written in filter(None, (options.output, options.plot)):
        if _is_same_file(written, options.table):
            raise ClusterletsError(f"{written} is the table itself, which would be lost; name another file to write.")
    if options.output and options.plot and _is_same_file(options.output, options.plot):
        raise ClusterletsError(
            f"-o {options.output} and --plot {options.plot} are one file, and the picture would replace the clusters; "
            "name two files."
        )
    if options.plot and Path(options.plot).suffix not in (".png", ".pdf", ".svg"):
        raise ClusterletsError(f"--plot {options.plot}: the name must end in .png, .pdf or .svg.")
    if options.plot:
        with optional("plots"):
            import matplotlib  # noqa: F401  # rather refuse now than after the fit


def _is_same_file(one: str | Path, other: str | Path) -> bool:
    """By whatever names and links; a file that is yet to be made is known by its name."""
    try:
        return Path(one).samefile(other)
    except OSError:
        return Path(one).resolve() == Path(other).resolve()


def _read(options: argparse.Namespace) -> tuple[Table, np.ndarray, list[str]]:
    """The table, the number in the file of each of its rows, and what a reader should know of it."""
    if options.table.suffix == user_table.PARQUET:
        raise ClusterletsError(f"{options.table}: this command reads CSV and TSV; save the table as one of them.")
    features = options.features.split(",") if options.features else user_table.NUMERIC
    for option, names in (("--sensitive", options.sensitive), ("--features", features if options.features else ())):
        twice = [name for name in names if list(names).count(name) > 1]
        if twice:
            raise ClusterletsError(f"{option} names {twice[0]!r} twice; once is enough.")
    both = [column for column in options.sensitive if column in features]
    if both:
        raise ClusterletsError(f"{both[0]!r} cannot be sensitive and a feature too; leave it out of --features.")
    table, remarks = user_table.read(options.table, options.sensitive, features, options.separator)
    separator = options.separator or user_table.SEPARATORS[options.table.suffix]
    # Rows without a sensitive value are no part of the table; their numbers must not go to others.
    sensitive = pd.read_csv(
        options.table,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        encoding="utf-8-sig",
        usecols=lambda column: column.strip() in options.sensitive,
    )
    has_colour = sensitive.apply(lambda column: column.str.strip() != "").all(axis=1)
    return table, np.flatnonzero(has_colour), remarks


def _fitted(options: argparse.Namespace, X: np.ndarray, colours: np.ndarray):
    from sklearn.exceptions import ConvergenceWarning  # scikit-learn is slow to import

    estimator = _estimator(options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # that clusters are missing, the account says itself
        return estimator.fit(X, sensitive_features=colours)


def _estimator(options: argparse.Namespace):
    from clusterlets.estimators import FRAC, ClusterletClustering, MethodClustering

    if options.method == "frac":
        return FRAC(options.k, tau=options.tau, random_state=options.seed)
    if options.method != "clusterlets":
        given = from_words(_words(options))
        return MethodClustering(options.method, options.k, parameters=given, random_state=options.seed)
    settings = {name: getattr(options, name) for name in ("hops", "omega") if getattr(options, name) is not None}
    return ClusterletClustering(options.k, matcher=options.matcher, random_state=options.seed, **settings)


def _words(options: argparse.Namespace) -> str:
    """The parameters of a method in one text."""
    return ",".join(options.parameters or [])


def _shortage(options: argparse.Namespace, table: Table, fitted) -> list[str]:
    """Which colours have fewer clusterlets than were asked for, or how many clusters are missing."""
    if options.method != "clusterlets":
        found = fitted.n_clusters_
        return [] if found >= options.k else [f"{counted(found, 'cluster')} in place of the {options.k} that were asked for"]
    found = np.bincount(fitted.clusterlets_.colour)
    return [
        f"{name} has only {counted(count, 'different row')}, and so {counted(count, 'clusterlet')}"
        for name, count in zip(table.colour_names, found, strict=True)
        if count < options.k
    ]


def _report(options: argparse.Namespace, table: Table, X: np.ndarray, fitted) -> "FairnessReport":
    from clusterlets.estimators import fairness_report

    colours = pd.Categorical.from_codes(table.colour, table.colour_names)  # in the order of the table
    return fairness_report(X, fitted.memberships_, colours, random_state=options.seed)


def _account(options: argparse.Namespace, table: Table, report: "FairnessReport", fitted, remarks: list[str]) -> str:
    """What came out, for a person to read."""
    (rows, features), sensitive = table.X.shape, " and ".join(options.sensitive)
    colours = ", ".join(f"{name} {share:.1%}" for name, share in report.shares.items())
    return "\n".join(
        [
            f"{options.table.name}: {rows:,} rows, {counted(features, 'feature')}; {sensitive}: {colours}",
            *(f"note: {remark}" for remark in remarks),
            f"{_described(options, fitted)}, seed {options.seed}: {counted(fitted.n_clusters_, 'cluster')}",
            "",
            _listing(report),
            "",
            *_kept(options, report.composition.counts, table.colour_counts),
            *_scores(report),
        ]
    )


def _kept(options: argparse.Namespace, composition: np.ndarray, colour_counts: np.ndarray) -> list[str]:
    """Which bound on the colours of a cluster was asked for, and by how much it is missed; nothing of methods without one."""
    method = _method(options)
    if not method.bound:
        return []
    given = {"tau": options.tau} if options.tau is not None else from_words(_words(options))
    bound = "balance" if given.get("balance") is not None else method.bound
    value = given.get(bound, signature(method.fit).parameters[bound].default)
    if bound == "balance":
        off = max(0, ceil((value / (1 + value) * composition.sum(axis=1) - composition.min(axis=1)).max() - 1e-9))
        meaning = "in every cluster at least so many rows of its rarer colour for each row of the other"
    elif bound == "delta":
        off = additive_violation(composition, colour_counts, value)
        meaning = "shares from r (1 - delta) to r / (1 - delta) in every cluster"
    else:
        value = Fraction(1, options.k) if value in ("balanced", None) else value
        off = max(0, ceil((float(value) * colour_counts - composition).max() - 1e-9))
        meaning = "at least tau of the rows of each colour in every cluster"
    verdict = ("kept", "kept up to whole rows, 1 row off")[off] if off < 2 else f"not kept, {off} rows off"
    return [f"asked for   {bound} {value}: {verdict}   ({meaning})"]


def _method(options: argparse.Namespace) -> type[methods.Method]:
    """The method that was asked for; of clusterlets the matcher."""
    if options.method.endswith(".py"):
        return methods.from_file(options.method)
    return methods.get({"clusterlets": options.matcher, "frac": "FRAC"}.get(options.method, options.method))


def _described(options: argparse.Namespace, fitted) -> str:
    if options.method == "frac":
        return f"FRAC, k = {options.k}, tau = {f'1/{options.k}' if options.tau is None else options.tau}"
    if options.method != "clusterlets":
        return f"{_method(options).name}, k = {options.k}{f', {_words(options)}' if options.parameters else ''}"
    parameter = _parameter(options)
    return f"Clusterlets, matcher {options.matcher}, k = {options.k}, {parameter} = {getattr(fitted, parameter)}"


def _parameter(options: argparse.Namespace) -> str:
    """The one parameter of the matcher that has an option of its own."""
    return "omega" if "omega" in (methods.parameters_of(_method(options)) or []) else "hops"


def _listing(report: "FairnessReport") -> str:
    """A line a cluster: size, deviation and the share of each colour; of many, those that deviate most."""
    clusters, titles = report.clusters, report.composition.names
    left_out = max(0, len(clusters) - _LISTED)
    if left_out:
        clusters = clusters.iloc[np.argsort(-report.deviations, kind="stable")[:_LISTED]]
    sizes, deviations = (clusters[name].map(form.format) for name, form in (("size", "{:,}"), ("deviation", "{:.3f}")))
    columns = [clusters.index, sizes.to_numpy(), deviations.to_numpy()]
    shares = clusters.iloc[:, -len(titles) :].to_numpy()
    if len(titles) <= _COLOURS:
        columns += [[f"{share:.1%}" for share in of_colour] for of_colour in shares.T]
    else:
        place = {name: at for at, name in enumerate(titles)}
        off = zip(clusters["furthest_off"], shares, clusters["excess"], strict=True)
        columns.append([f"{name} {share[place[name]]:.1%} ({excess:+.1%})" for name, share, excess in off])
        titles = ["furthest off"]
    lines = pd.DataFrame(dict(enumerate(columns)))  # titles come last, as a colour may be called "size" too
    text = lines.set_axis(["cluster", "size", "deviation", *titles], axis=1).to_string(index=False)
    return text + (f"\n... and {left_out} more, deviating less" if left_out else "")


def _scores(report: "FairnessReport") -> list[str]:
    deviation = ", ".join(f"{name} {report[f'deviation_{name}']:.3f}" for name in ("mean", "std", "max"))
    error = f" +- {report['cohesion_error']:.4f}, from samples" if report["cohesion_error"] else ""
    return [
        f"deviation   {deviation}   (0: every cluster has the table's shares)",
        f"cohesion    {report['cohesion']:.3f}{error}   (1 - mean distance in a cluster / largest distance)",
        f"overlap     {report['overlap']:.1%}   (rows in two or more clusters)",
        f"bounds      delta {report['delta_min']:.3f}, {counted(report['additive_violation'], 'row')} off   "
        "(least delta for which all shares are within r (1 - delta) and r / (1 - delta); rows off at delta = 0)",
        f"costs       social {report['social_cost']:.4g}, k-median {report['kmedian_cost']:.4g}, "
        f"k-center {report['kcenter_cost']:.4g}   (by the distance to the cluster's mean)",
        _price(report),
        _silhouette(report),
    ]


def _price(report: Mapping) -> str:
    """What fairness costs, against plain k-means with as many clusters."""
    name, price = "price of fairness  ", report["price_of_fairness"]
    if np.isnan(report["kmeans_cost"]):
        return f"{name}not defined where clusters overlap"
    if np.isnan(price):
        return f"{name}not defined: plain k-means costs nothing"
    clusters = counted(report["n_clusters"], "cluster")
    return f"{name}{price:.2f}   (k-means cost over that of plain k-means with {clusters})"


def _silhouette(report: Mapping) -> str:
    if np.isnan(report["silhouette"]):
        return "silhouette  not defined here: it needs two clusters or more"
    error = f" +- {report['silhouette_error']:.4f}, from samples" if report["silhouette_error"] else ""
    nearest = ", each in the nearest of its clusters" if report["overlap"] else ""
    return f"silhouette  {report['silhouette']:.3f}{error}   (over rows{nearest}; 1: well parted, below 0: mixed)"
