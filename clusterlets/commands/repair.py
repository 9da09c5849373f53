"""``clusterlets repair people.csv --labels segment --sensitive sex``: the fewest changes of clusters that limits need."""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from clusterlets.commands import cli, own_table, summary
from clusterlets.commands.audit import Asked, add_clustering, add_labels, add_limits, describe, labelled, write_page
from clusterlets.commands.own_table import OwnTable
from clusterlets.errors import ClusterletsError
from clusterlets.methods.fair_limit import FairLimit
from clusterlets.metrics.composition import deviation_per_cluster
from clusterlets.tables import user_table
from clusterlets.tables.table import moments
from clusterlets.text import counted, first_of

_MAX_LISTED = 40  # lines about moves
_DEFAULT_DEVIATION = 0.02

_EPILOG = """
examples:
  clusterlets repair people.csv --labels segment --sensitive sex --max-deviation 0.05 -o repaired.csv
      few rows change their segment, so that the shares in each are within .05 of the table's
  clusterlets repair people.csv --labels segment --sensitive sex --no-features -o repaired.csv
      by labels and groups alone

The file that -o names has the columns row (counted from 0), before, cluster and moved. With --id, that column comes after row.
By default, --max-deviation is 0.02. `clusterlets audit` shows the clusters as they are.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    outputs = {"-o": options.output, "--report": options.report, "--save": options.save}
    cli.check_output_files(outputs, [("the table itself", options.table)])
    if options.no_features and (options.report or options.save):
        raise ClusterletsError("--report and --save need the features; leave out --no-features.")
    if options.save and options.clustering:
        raise ClusterletsError(
            "--save keeps limits by the shares of the table that is repaired; leave out --clustering, and name the limit."
        )
    asked = Asked.of(options)
    bounds = asked.bounds or {"max_deviation": _DEFAULT_DEVIATION}
    asked = replace(asked, bounds=bounds)
    data = None
    if options.no_features:
        X, sensitive, labels, rows, ids, notes = _read_without_features(options)
    else:
        data, labels = labelled(own_table.read(options, 1), options)
        X, sensitive, rows, ids, notes = data.X, data.sensitive, data.rows, data.ids, data.notes
    from clusterlets.estimators import repair  # imported late: scikit-learn is slow to load

    repaired = repair(
        X,
        labels,
        sensitive_features=sensitive,
        min_cluster_size=options.min_cluster_size,
        max_cluster_size=options.max_cluster_size,
        reference=asked.reference,
        objective=options.objective,
        **bounds,
    )
    stream, n_moved = cli.stream_for_people(options.output), int(repaired.moved.sum())
    told = summary.names_that_tell(sensitive)
    moves = [
        f"    {counted(n, 'row')} of {told.get(group, group)} from {before} to {after}"
        for before, after, group, n in repaired.moves
    ]
    assert not asked.broken_by(repaired.labels, sensitive)
    lines = [
        f"{options.table.name}: {counted(len(labels), 'row')}, {counted(len(set(labels)), 'cluster')} of {options.labels}",
        f"limits      kept by every cluster now   ({asked})",
        *_before_and_now(X, (labels, repaired.labels), sensitive),
        *(f"note: {note}" for note in dict.fromkeys(notes)),
        f"moved       {counted(n_moved, 'row')} ({n_moved / len(labels):.1%})   (at least {repaired.least_moves:,} must move)",
        *first_of(moves, _MAX_LISTED),
    ]
    if X is not None:
        costs = f"{repaired.cost_before:.6g} before, {repaired.cost_after:.6g} after"
        lines.append(f"cost        {costs}   (squared distances to the means before)")
    print(*lines, sep="\n", file=stream)
    if options.output:
        columns = {"row": rows, **({} if ids is None else {options.id: ids}), "before": labels, "cluster": repaired.labels}
        cli.write_table(options.output, pd.DataFrame({**columns, "moved": repaired.moved}))
        if options.output != cli.STANDARD_OUTPUT:
            print(f"clusters of the rows: {options.output}", file=stream)
    if options.save and data:
        _save(options, data, repaired.labels, bounds)
        print(f"clustering: {options.save}", file=stream)
    if options.report and data:
        method, judgement = f"labels of {options.labels}, repaired", f"Limits kept by every cluster: {asked}."
        text = describe(options, data, repaired.labels, method, judgement, [])
        write_page(options, shlex.join(["clusterlets", "repair", *arguments]), text, data, repaired.labels)
        print(f"report: {options.report}", file=stream)
    return 0


def _before_and_now(X: np.ndarray | None, labels: Sequence[np.ndarray], sensitive: pd.DataFrame) -> list[str]:
    """Lines about the largest deviation over all sensitive columns and, with features (n, d), the price.

    ``labels`` are those (n,) before and those after the repair.
    """
    from clusterlets.estimators import fairness_report  # imported late: scikit-learn is slow to load
    from clusterlets.estimators.fairness import composition_of

    compositions = [[composition_of(assigned, column) for _, column in sensitive.items()] for assigned in labels]
    before, now = (max(deviation_per_cluster(c.counts, c.group_counts).max() for c in each) for each in compositions)
    lines = [f"deviation   {before:.3f} before, {now:.3f} now   (the largest from the shares of this table)"]
    if X is not None:
        options = {"cohesion": False, "silhouette": False}
        prices = [fairness_report(X, assigned, sensitive, **options)["price_of_fairness"] for assigned in labels]
        if not np.isnan(prices).any():
            lines.append(f"price       {prices[0]:.3f} before, {prices[1]:.3f} now   (cost over that of plain k-means)")
    return lines


def _save(options: argparse.Namespace, data: OwnTable, labels: np.ndarray, bounds: Mapping) -> None:
    """Write the repaired clusters with their names and limits, as `clusterlets assign` reads them."""
    from clusterlets.estimators import SavedClustering
    from clusterlets.estimators.groups import encode, values_of
    from clusterlets.estimators.memberships import cluster_means, encode_labels, memberships_of_labels

    codes, clusters = encode_labels(labels)
    groups, classes = encode(data.sensitive, len(codes))
    values = values_of(classes)
    counts = np.zeros((len(values), len(clusters)), dtype=np.int64)
    np.add.at(counts, (groups, codes), 1)
    sizes = {"min_cluster_size": options.min_cluster_size, "max_cluster_size": options.max_cluster_size}
    table, mean, scale = data.table, None, None
    if options.scaling == "standard":
        mean, scale = moments(table.X, table.one_hot)
    saved = SavedClustering(
        method=FairLimit.name,
        parameters={**bounds, **{name: size for name, size in sizes.items() if size is not None}},
        centres=cluster_means(data.X, memberships_of_labels(codes)),
        sensitive_names=list(data.sensitive),
        groups=values,
        counts=counts,
        fitted_counts=counts.sum(axis=1),
        feature_names=list(table.feature_names),
        mean=mean,
        scale=scale,
        fill=table.fill,
        text_columns=table.text_columns,
        cluster_names=clusters.tolist(),
    )
    with cli.writing(options.save):
        saved.save(options.save)


def _read_without_features(options: argparse.Namespace):
    own_table.check_options(options)
    keep = [options.labels, *filter(None, [options.id])]
    _, values, notes, rows, kept = user_table.read_rows(
        options.table, options.sensitive, [], own_table.reading(options), keep=keep
    )
    labels = np.char.strip(kept[options.labels].astype(str))
    ids, id_notes = own_table.ids(options, kept)
    has_label = labels != ""
    if not has_label.all():
        notes.append(f"{counted(int((~has_label).sum()), 'row')} of {len(labels):,} without a label left out")
    sensitive = pd.DataFrame(values)[has_label].reset_index(drop=True)
    ids = None if ids is None else ids[has_label]
    return None, sensitive, labels[has_label], rows[has_label], ids, notes + id_notes


def _parser() -> argparse.ArgumentParser:
    usage = "clusterlets repair TABLE --labels COLUMN --sensitive COLUMN [options]"
    purpose = "Change as few clusters of rows as limits on the groups in every cluster need."
    parser = cli.parser("repair", purpose, _EPILOG, usage=usage)
    own_table.add_options(parser)
    add_labels(parser)
    add_limits(parser)
    parser.add_argument(
        "--min-cluster-size", type=cli.whole_number(1), default=1, metavar="N", help="least rows in a cluster (default: 1)"
    )
    parser.add_argument(
        "--max-cluster-size", type=cli.whole_number(1), metavar="N", help="most rows in a cluster (default: any)"
    )
    parser.add_argument(
        "--objective",
        choices=("moves", "cost"),
        default="moves",
        help="moves: the fewest rows that change; cost: the cheapest labels at the present means (default: moves)",
    )
    parser.add_argument("--no-features", action="store_true", help="use only the labels and the groups")
    add_clustering(parser)
    parser.set_defaults(all_scores=False)
    cli.add_output_files(
        parser,
        output="CSV file for the clusters of the rows; - is standard output",
        report="page (.html) with the repaired clusters, scores and picture",
        save="JSON file for `clusterlets assign`",
    )
    return parser
