"""``clusterlets audit people.csv --labels segment --sensitive sex``: how fair clusters are that people already have."""

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clusterlets.commands import cli, cluster, own_table, summary
from clusterlets.commands.own_table import OwnTable
from clusterlets.commands.summary import Line, Summary
from clusterlets.errors import ClusterletsError, did_you_mean
from clusterlets.methods.fair_limit import FairLimit
from clusterlets.parameter_text import parse_value
from clusterlets.tables import user_table
from clusterlets.tables.table import scaled
from clusterlets.text import counted

STATUS_OF_BROKEN_LIMITS = 3
LIMITS = ("max_deviation", "min_ratio", "shares")

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
    inputs = [("the table itself", options.table), *([("the clustering", options.clustering)] if options.clustering else [])]
    cli.check_output_files({"--report": options.report}, inputs)
    asked = Asked.of(options)
    if options.strict and not asked.bounds:
        raise ClusterletsError("--strict needs a limit: give --max-deviation, --min-ratio, --shares or --clustering.")
    data, labels = labelled(own_table.read(options, 1), options)
    broken = asked.broken_by(labels, data.sensitive)
    text = describe(options, data, labels, f"labels of {options.labels}", *_judge(asked, broken))
    print(text)
    if options.report:
        write_page(options, shlex.join(["clusterlets", "audit", *arguments]), text, data, labels)
        print(f"report: {options.report}")
    return STATUS_OF_BROKEN_LIMITS if broken and options.strict else 0


@dataclass(frozen=True)
class Asked:
    """The limits that are asked for, and the table whose shares they mean.

    ``reference`` has the rows of each group, by its values as text, in the table that a saved clustering was fitted to.
    """

    bounds: Mapping[str, Any]
    reference: Mapping[tuple[str, ...], int] | None = None
    source: str = ""

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Asked":
        """What the options say; the limits of a saved clustering if they name it and no others."""
        bounds = limits(options)
        if not options.clustering:
            return cls(bounds)
        user_table.check_exists(Path(options.clustering))
        from clusterlets.estimators import SavedClustering  # imported late: scikit-learn is slow to load

        saved = SavedClustering.load(options.clustering)
        names = list(map(str, saved.sensitive_names))
        if sorted(names) != sorted(options.sensitive):
            hints = [did_you_mean(name, names) for name in options.sensitive if name not in names]
            raise ClusterletsError(
                f"{options.clustering} has the sensitive columns {', '.join(names)}, not {', '.join(options.sensitive)}"
                f"{''.join(hints[:1])}."
            )
        if saved.feature_names and not (options.features or options.exclude):  # else the price would be about other features
            n_encoded = sum(map(len, saved.text_columns.values()))
            options.features = [*saved.feature_names[: len(saved.feature_names) - n_encoded], *saved.text_columns]
            options.categorical = "onehot" if saved.text_columns else options.categorical
            options.scaling = "none" if saved.mean is None else "standard"
        if not bounds:
            if saved.method != FairLimit.name:
                raise ClusterletsError(
                    f"{options.clustering} is from {saved.method}, whose guarantee is another kind of limit; give "
                    "--max-deviation, --min-ratio or --shares, which are then judged by the shares of its table."
                )
            bounds = {name: saved.parameters[name] for name in LIMITS if saved.parameters.get(name) is not None}
            bounds = bounds or {"max_deviation": FairLimit.parameters["max_deviation"].bound.resolve(None, 1)}
        positions = [names.index(name) for name in options.sensitive]
        reference = {
            tuple(str(group[position]) for position in positions): int(count)
            for group, count in zip(saved.groups, saved.fitted_counts, strict=True)
            if count
        }
        return cls(bounds, reference, f", by the shares of the table of {options.clustering}")

    def __str__(self) -> str:
        return ", ".join(f"{name} {cli.as_typed(value)}" for name, value in self.bounds.items()) + self.source

    def broken_by(self, labels: np.ndarray, sensitive: pd.DataFrame) -> list[tuple]:
        """The limits that these labels break, as :func:`clusterlets.estimators.repair.broken_limits` lists them."""
        from clusterlets.estimators.repair import broken_limits

        if not self.bounds:
            return []
        return broken_limits(labels, sensitive_features=sensitive, reference=self.reference, **self.bounds)


def _judge(asked: Asked, broken: list[tuple]) -> tuple[str, list[Line]]:
    """A sentence that says whether all clusters keep the limits, and a line for each limit that a cluster breaks."""
    if not asked.bounds:
        return "No limit was asked for.", []
    clusters = list(dict.fromkeys(cluster for cluster, *_ in broken))
    verdict = f"broken by {counted(len(clusters), 'cluster')}" if clusters else "kept by every cluster"
    own_shares = " By the shares of the present table, which these limits do not mean:" if asked.reference else ""
    return f"Limits {verdict}: {asked}.{own_shares}", [Line("limits", f"{verdict}   ({asked})"), *summary.breaks(broken)]


def describe(options: argparse.Namespace, data: OwnTable, labels: np.ndarray, method: str, judgement: str, lines) -> Summary:
    """The summary of labels (n,): ``judgement`` begins the verdict, and ``lines`` come before the scores."""
    from clusterlets.estimators import fairness_report  # imported late: scikit-learn is slow to load
    from clusterlets.estimators.memberships import encode_labels, memberships_of_labels
    from clusterlets.estimators.profiles import Profiles

    report = fairness_report(data.X, labels, summary.named_groups(data.table, data.sensitive))
    codes, clusters = encode_labels(labels)
    columns = summary.columns(data.X, labels, data.sensitive)
    return Summary(
        table=cluster.table_line(options, data),
        verdict=summary.verdict(judgement, columns, report["price_of_fairness"]),
        features=data.features,
        notes=data.notes,
        warnings=data.warnings + summary.warnings(report, columns),
        method=f"{method}: {counted(len(clusters), 'cluster')}",
        report=report,
        profiles=Profiles.of(data.table.X, memberships_of_labels(codes), data.table.feature_names),
        scores=[*lines, *summary.scores(report, options.all_scores or len(columns) == 1, options.all_scores)],
        columns=columns,
        combinations=options.all_scores,
    )


def write_page(options: argparse.Namespace, command: str, text: Summary, data: OwnTable, labels: np.ndarray) -> None:
    """Write the page on labels (n,)."""
    from clusterlets.estimators.memberships import encode_labels, memberships_of_labels

    codes, _ = encode_labels(labels)
    cluster.write_page(options, command, text, data, codes, memberships_of_labels(codes))


def labelled(data: OwnTable, options: argparse.Namespace) -> tuple[OwnTable, np.ndarray]:
    """The rows with a label, and their labels (n,), as text. A note counts the others, which are left out."""
    assert data.labels is not None  # the option --labels is required
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
    texts = {name: getattr(options, name) for name in LIMITS}
    return {name: cli.json_mapping(text) if text.startswith("{") else parse_value(text) for name, text in texts.items() if text}


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the labels."""
    parser.add_argument(
        "--labels", type=cli.utf8_name, required=True, metavar="COLUMN", help="column with the cluster of each row"
    )


def add_clustering(parser: argparse._ActionsContainer) -> None:
    """Add the option that names a saved clustering."""
    parser.add_argument(
        "--clustering",
        type=cli.nonempty,
        metavar="FILE",
        help="JSON file of `clusterlets cluster --save`: its limits, unless others are given, by the shares of its table",
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


def _parser() -> argparse.ArgumentParser:
    usage = "clusterlets audit TABLE --labels COLUMN --sensitive COLUMN [options]"
    parser = cli.parser("audit", "Show how fair the clusters are that a column of your table names.", _EPILOG, usage=usage)
    own_table.add_options(parser, shows_groups=True)
    add_labels(parser)
    add_limits(parser)
    add_clustering(parser)
    parser.add_argument("--strict", action="store_true", help=f"end with status {STATUS_OF_BROKEN_LIMITS} if a limit is broken")
    cli.add_output_files(parser, report="page (.html) with the clusters, scores and picture")
    return parser
