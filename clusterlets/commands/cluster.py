"""``clusterlets cluster people.csv --sensitive sex``: a fair clustering of one's own table, and an account of it."""

import argparse
import importlib
import shlex
import sys
import warnings
from fractions import Fraction
from inspect import signature
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.commands import account, own_table
from clusterlets.commands.account import Account
from clusterlets.commands.output import given, whole, write_memberships, writing
from clusterlets.datasets.numerals import number
from clusterlets.datasets.suspects import MOST_GROUPS
from clusterlets.datasets.table import Table, scaled
from clusterlets.errors import ClusterletsError
from clusterlets.extras import optional
from clusterlets.grid.cells import from_words
from clusterlets.metrics import additive_violation
from clusterlets.storage import write_bytes
from clusterlets.text import counted

_NAMED = 5  # groups that have too few different rows, which are named one by one

_EPILOG = """
examples:
  clusterlets cluster people.csv --sensitive sex -o labels.csv
      ten clusterlets of each sex, joined by the greedy balance matcher
  clusterlets cluster people.csv --sensitive sex --clusters 5 --report people.html
      five clusters, or as near to five as the matcher comes; and a page about them
  clusterlets cluster people.csv --sensitive sex --sensitive race --matcher D -k 20 --hops 1 --scaling standard
      groups are the combinations of sex and race; clusters may overlap
  clusterlets cluster people.csv --sensitive sex --matcher C --omega 0.25 --features age,income --plot people.png
  clusterlets cluster people.csv --sensitive sex --method frac -k 5 --tau 0.1
      five clusters, each with at least a tenth of the women and a tenth of the men
  clusterlets cluster people.csv --sensitive sex --method frac-oe -k 5 --parameters tau=0.1
      any other method, or the Python file of one of your own (docs/extending.md)

matchers (--method clusterlets; --method G-B is short for --matcher G-B):
  G-B  greedy balance: each cluster's shares are brought near the table's; crisp
  G-D  greedy distance: near clusterlets of differing groups are joined; crisp
  D    distance pinball: hops to the nearest clusterlet of the next group; clusters may overlap
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
    table, rows, notes = own_table.read(options)
    if options.k > len(table.X):
        asked = "-k" if options.clusters is None else "--clusters"
        raise ClusterletsError(f"{asked} {options.k} is more than the {len(table.X)} rows of the table; ask for fewer.")
    X = scaled(table, options.scaling)
    from clusterlets.algorithms.compiled import before_compiling  # numba is slow to load

    with before_compiling(_say_that_it_takes_longer):
        fitted = _fitted(options, X, table.groups)
        told = _account(options, table, X, fitted, notes)
    print(told)
    if options.output:
        members, clusters = fitted.memberships_.nonzero()
        write_memberships(options.output, rows[members], clusters)
        print(f"\nclusters of the rows: {options.output}")
    if options.plot:
        from clusterlets.commands.picture import draw  # matplotlib is slow to import
        from clusterlets.report.drawing import saving

        with writing(options.plot):
            saving.write(draw(X, fitted.labels_, told.report.composition), options.plot)
        print(f"picture: {options.plot}")
    if options.report:
        with writing(options.report):
            _write_report(options.report, arguments, told, X, fitted.labels_)
        print(f"report: {options.report}")
    return 0


def _write_report(path: str, arguments: list[str], told: Account, X: np.ndarray, labels: np.ndarray) -> None:
    from clusterlets.commands.picture import draw
    from clusterlets.report import clustering_page
    from clusterlets.report.drawing.saving import as_bytes

    found = told.report.composition
    page = clustering_page.render(
        table=told.table,
        features=told.features,
        notes=told.notes,
        warnings=told.warnings,
        method=told.method,
        composition=pd.DataFrame(found.counts, found.clusters, found.names),
        group_counts=found.group_counts,
        deviations=told.report.deviations,
        scores=told.scores,
        command=shlex.join(["clusterlets", "cluster", *arguments]),
        picture=as_bytes(draw(X, labels, found), ".png"),
    )
    write_bytes(path, page.encode())


def _say_that_it_takes_longer() -> None:
    print("clusterlets cluster: compiling for this machine, once; this may take half a minute.", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "clusterlets cluster",
        description="Cluster the rows of a table fairly: so that every cluster has about the table's share of each "
        "group, a value of the sensitive column.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own_table.add_options(parser)
    parser.add_argument(
        "--method",
        default="clusterlets",
        help="clusterlets joined by a matcher, or one of "
        f"{', '.join(methods.names())}, or a Python file with a method of your own (default: clusterlets)",
    )
    parser.add_argument(
        "-k", type=whole(1), help="clusterlets of each group; other methods: clusters (default: 10, without --clusters)"
    )
    parser.add_argument(
        "--clusters",
        type=whole(1),
        metavar="N",
        help="clusters, with any method in place of -k; of clusterlets the -k and --hops whose result comes closest",
    )
    parser.add_argument("--matcher", help=f"{', '.join(methods.names('paper'))}, see below (default: G-B)")
    parser.add_argument(
        "--hops",
        type=whole(1),
        help="D, B: sweeps over the groups; G-D, G-B: most clusterlets that join another (default: 4)",
    )
    parser.add_argument("--omega", type=_share, help="C: weight, 0 to 1, of silhouette against balance (default: 0.5)")
    parser.add_argument(
        "--tau", type=_share, help="FRAC: least part of each group in each cluster, 0 to 1/k (default: 1/k, all of it)"
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
    parser.add_argument(
        "--report", type=given, metavar="FILE", help="page (.html) with all of it: clusters, scores and picture"
    )
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
    if options.clusters is not None and options.k is not None:
        raise ClusterletsError("-k and --clusters ask for two things; leave one out.")
    options.k = options.k or options.clusters or 10
    if options.method == "clusterlets":
        useless = ["tau", "parameters", "hops" if _parameter(options) == "omega" else "omega"]
    else:
        useless = ["matcher", "hops", "omega", "parameters" if options.method == "frac" else "tau"]
    given = [f"--{name}" for name in useless if getattr(options, name) is not None]
    if given:
        method = f"--matcher {options.matcher}" if options.method == "clusterlets" else f"--method {options.method}"
        raise ClusterletsError(f"{' and '.join(given)} has no use with {method}; leave it out or take another method.")
    if options.clusters is not None and options.method == "clusterlets" and options.hops is not None:
        raise ClusterletsError("--hops has no use with --clusters, which chooses it; leave one out.")
    if options.method == "clusterlets" and options.k < 2 and options.clusters is None:
        raise ClusterletsError("-k 1: one clusterlet of each group leaves nothing to choose; take 2 or more.")
    if (options.tau or 0) * options.k > 1 + 1e-9:  # of 1/k, as a person may round it, FRAC itself decides
        raise ClusterletsError(
            f"--tau {options.tau:g}: it must lie between 0 and 1/k = 1/{options.k}, since {options.k} clusters cannot each "
            "hold more than that part of a group."
        )
    written = {"-o": options.output, "--plot": options.plot, "--report": options.report}
    own_table.refuse_files(options.table, {option: file for option, file in written.items() if file})
    if options.report and Path(options.report).suffix != ".html":
        raise ClusterletsError(f"--report {options.report}: the name must end in .html.")
    if options.plot and Path(options.plot).suffix not in (".png", ".pdf", ".svg"):
        raise ClusterletsError(f"--plot {options.plot}: the name must end in .png, .pdf or .svg.")
    if options.plot or options.report:  # rather refuse now than after the fit
        with optional("workflow" if options.report else "plots"):
            importlib.import_module("clusterlets.report.clustering_page" if options.report else "matplotlib")


def _fitted(options: argparse.Namespace, X: np.ndarray, groups: np.ndarray):
    from sklearn.exceptions import ConvergenceWarning  # scikit-learn is slow to import

    estimator = _estimator(options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # that clusters are missing, the account says itself
        return estimator.fit(X, sensitive_features=groups)


def _estimator(options: argparse.Namespace):
    from clusterlets.estimators import FRAC, ClusterletClustering, MethodClustering

    if options.method == "frac":
        return FRAC(options.k, tau=options.tau, random_state=options.seed)
    if options.method != "clusterlets":
        given = from_words(_words(options))
        return MethodClustering(options.method, options.k, parameters=given, random_state=options.seed)
    settings = {name: getattr(options, name) for name in ("hops", "omega") if getattr(options, name) is not None}
    if options.clusters is not None:
        return ClusterletClustering(n_clusters=options.clusters, matcher=options.matcher, random_state=options.seed, **settings)
    return ClusterletClustering(options.k, matcher=options.matcher, random_state=options.seed, **settings)


def _words(options: argparse.Namespace) -> str:
    """The parameters of a method in one text."""
    return ",".join(options.parameters or [])


def _shortage(options: argparse.Namespace, table: Table, fitted) -> list[str]:
    """Which groups have fewer clusterlets than were asked for, or how many clusters are missing."""
    if options.method != "clusterlets":
        found = fitted.n_clusters_
        return [] if found >= options.k else [f"{counted(found, 'cluster')} in place of the {options.k} that were asked for"]
    found = np.bincount(fitted.clusterlets_.group)
    few = [
        f"{name} has only {counted(count, 'different row')}, and so {counted(count, 'clusterlet')}"
        for name, count in zip(table.group_names, found, strict=True)
        if count < fitted.n_clusterlets_
    ]
    if len(few) > _NAMED:
        few[_NAMED:] = [f"so have {counted(len(few) - _NAMED, 'further group')} too few different rows"]
    if options.clusters not in (None, fitted.n_clusters_):
        few.append(f"asked for {counted(options.clusters, 'cluster')}: no configuration comes closer than this one")
    return few


def _account(options: argparse.Namespace, table: Table, X: np.ndarray, fitted, notes: list[str]) -> Account:
    """What came out, for a person to read."""
    from clusterlets.estimators import fairness_report

    groups = pd.Categorical.from_codes(table.groups, table.group_names)  # in the order of the table
    report = fairness_report(X, fitted.memberships_, groups, random_state=options.seed)
    listed = [f"{name} {share:.1%}" for name, share in report.shares.items()]
    more = len(listed) - MOST_GROUPS
    shares = ", ".join(listed[:MOST_GROUPS]) + (f" and {counted(more, 'further group')}" if more > 0 else "")
    return Account(
        table=f"{options.table.name}: {len(X):,} rows, {counted(X.shape[1], 'feature')}; "
        f"{' and '.join(options.sensitive)}: {shares}",
        features=own_table.features_line(table),
        notes=notes + _shortage(options, table, fitted),
        warnings=own_table.warnings(table, options.scaling) + account.warnings(report),
        method=f"{_described(options, fitted)}, seed {options.seed}: {counted(fitted.n_clusters_, 'cluster')}",
        report=report,
        scores=[
            *_kept(options, report.composition.counts, table.group_counts),
            account.worst(report),
            *account.scores(report),
        ],
    )


def _kept(options: argparse.Namespace, composition: np.ndarray, group_counts: np.ndarray) -> list[str]:
    """Which bound on the groups of a cluster was asked for, and by how much it is missed; nothing of methods without one."""
    method = _method(options)
    if not method.bound:
        return []
    given = {"tau": options.tau} if options.tau is not None else from_words(_words(options))
    bound = "balance" if given.get("balance") is not None else method.bound
    value = given.get(bound, signature(method.fit).parameters[bound].default)
    if bound == "balance":
        off = max(0, ceil((value / (1 + value) * composition.sum(axis=1) - composition.min(axis=1)).max() - 1e-9))
        meaning = "in every cluster at least so many rows of its rarer group for each row of the other"
    elif bound == "delta":
        off = additive_violation(composition, group_counts, value)
        meaning = "shares from r (1 - delta) to r / (1 - delta) in every cluster"
    else:
        value = Fraction(1, options.k) if value in ("balanced", None) else value
        off = max(0, ceil((float(value) * group_counts - composition).max() - 1e-9))
        meaning = "at least tau of the rows of each group in every cluster"
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
    value = f"omega = {fitted.omega}" if _parameter(options) == "omega" else f"hops = {fitted.hops_}"
    return f"Clusterlets, matcher {options.matcher}, k = {fitted.n_clusterlets_}, {value}"


def _parameter(options: argparse.Namespace) -> str:
    """The one parameter of the matcher that has an option of its own."""
    return "omega" if "omega" in (methods.parameters_of(_method(options)) or []) else "hops"
