"""``clusterlets audit people.csv --labels segment --sensitive sex``: how fair clusters are that people already have."""

import argparse
import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

from clusterlets.commands import cli, own_table, summary
from clusterlets.commands.own_table import OwnTable
from clusterlets.parameter_text import parse_value
from clusterlets.tables.table import scaled
from clusterlets.text import counted

_EPILOG = """
examples:
  clusterlets audit people.csv --labels segment --sensitive sex --max-deviation 0.05
  clusterlets audit people.csv --labels segment --sensitive sex --sensitive race --report segments.html

The command prints what `clusterlets cluster` prints about a clustering: sizes, shares, deviations, scores, who is in each
cluster, and the price against plain k-means with as many clusters. With a limit, it also lists the clusters that break it, and
how many rows would have to be exchanged for rows of other groups. `clusterlets repair` moves few rows to mend them.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    cli.check_output_files({"--report": options.report}, [("the table itself", options.table)])
    data, labels = labelled(own_table.read(options, 1), options)
    from clusterlets.estimators import fairness_report  # imported late: scikit-learn is slow to load
    from clusterlets.estimators.memberships import encode_labels, memberships_of_labels
    from clusterlets.estimators.profiles import Profiles

    groups = pd.Categorical.from_codes(data.table.groups, data.table.group_names)
    report = fairness_report(data.X, labels, groups)
    codes, clusters = encode_labels(labels)
    memberships = memberships_of_labels(codes)
    columns = summary.columns(data.X, labels, data.sensitive)
    text = summary.Summary(
        table=f"{options.table.name}: {len(data.X):,} rows; {summary.shares_of_columns(data.sensitive)}",
        features=data.features,
        notes=data.notes,
        warnings=data.warnings + summary.warnings(report, columns),
        method=f"labels of {options.labels}: {counted(len(clusters), 'cluster')}",
        report=report,
        profiles=Profiles.of(data.table.X, memberships, data.table.feature_names),
        scores=[
            *_describe_limits(options, labels, data.sensitive),
            *summary.scores(report, options.combinations or data.sensitive.shape[1] == 1),
        ],
        columns=columns,
        combinations=options.combinations,
    )
    print(text)
    if options.report:
        from clusterlets.commands.cluster import write_page

        clustering = SimpleNamespace(labels_=codes, memberships_=memberships)
        write_page(options, shlex.join(["clusterlets", "audit", *arguments]), text, data, clustering)
        print(f"report: {options.report}")
    return 0


def labelled(data: OwnTable, options: argparse.Namespace) -> tuple[OwnTable, np.ndarray]:
    """The rows with a label, and their labels (n,), as text. A note counts the others, which are left out."""
    labels = np.char.strip(data.labels.astype(str))
    has_label = labels != ""
    if has_label.all():
        return data, labels
    n_lacking = int((~has_label).sum())
    notes = [*data.notes, f"{counted(n_lacking, 'row')} of {len(labels):,} without a label left out"]
    table = replace(data.table, X=data.table.X[has_label], groups=data.table.groups[has_label])
    X = scaled(table, options.scaling)  # by the rows that are judged
    ids = None if data.ids is None else data.ids[has_label]
    sensitive = data.sensitive[has_label].reset_index(drop=True)
    kept = replace(data, table=table, X=X, sensitive=sensitive, rows=data.rows[has_label], ids=ids, notes=notes)
    return kept, labels[has_label]


def limits(options: argparse.Namespace) -> dict:
    """The limits that options set, by name."""
    texts = {name: getattr(options, name) for name in ("max_deviation", "min_ratio", "shares")}
    return {name: cli.json_mapping(text) if text.startswith("{") else parse_value(text) for name, text in texts.items() if text}


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the labels."""
    parser.add_argument(
        "--labels", type=cli.utf8_name, required=True, metavar="COLUMN", help="column with the cluster of each row"
    )


def add_limits(parser: argparse._ActionsContainer) -> None:
    """Add the options that set limits."""
    parser.add_argument(
        "--max-deviation",
        type=cli.nonempty,
        metavar="D",
        help="largest difference between a group's share in a cluster and in the table, or one for each sensitive column, "
        'such as \'{"sex": 0.02, "race": 0.05}\'',
    )
    parser.add_argument(
        "--min-ratio",
        type=cli.nonempty,
        metavar="R",
        help="in its place: least ratio of two groups, such as 0.8 of the table's",
    )
    parser.add_argument(
        "--shares", type=cli.nonempty, metavar="JSON", help='in its place: bounds on shares, such as {"f": [0.3, 0.6]}'
    )


def _describe_limits(options: argparse.Namespace, labels: np.ndarray, sensitive: pd.DataFrame) -> list[str]:
    """A line that says whether all clusters keep the limits, and a line for each limit that a cluster breaks."""
    from clusterlets.estimators.repair import broken_limits

    bounds = limits(options)
    if not bounds:
        return []
    broken = broken_limits(labels, sensitive_features=sensitive, **bounds)
    clusters = list(dict.fromkeys(cluster for cluster, *_ in broken))
    verdict = f"broken by {counted(len(clusters), 'cluster')}" if clusters else "kept by every cluster"
    lines = [
        f"breaks      cluster {cluster}: {counted(n, 'row')} of {group} too {'many' if is_too_many else 'few'}"
        for cluster, group, n, is_too_many in broken
    ]
    return [f"limits      {verdict}   ({', '.join(f'{name} {cli.as_typed(value)}' for name, value in bounds.items())})", *lines]


def _parser() -> argparse.ArgumentParser:
    usage = "clusterlets audit TABLE --labels COLUMN --sensitive COLUMN [options]"
    parser = cli.parser("audit", "Show how fair the clusters are that a column of your table names.", _EPILOG, usage=usage)
    own_table.add_options(parser, shows_groups=True)
    add_labels(parser)
    add_limits(parser)
    cli.add_output_files(parser, report="page (.html) with the clusters, scores and picture")
    return parser
