"""``clusterlets repair people.csv --labels segment --sensitive sex``: the fewest changes of clusters that limits need."""

import argparse

import numpy as np
import pandas as pd

from clusterlets.commands import cli, own_table
from clusterlets.commands.audit import add_labels, add_limits, labelled, limits
from clusterlets.tables import user_table
from clusterlets.text import counted, first_of

_MAX_LISTED = 40  # lines about moves

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
    cli.check_output_files({"-o": options.output}, [("the table itself", options.table)])
    X, sensitive, labels, rows, ids, notes = _read_without_features(options) if options.no_features else _read(options)
    from clusterlets.estimators import repair  # imported late: scikit-learn is slow to load

    repaired = repair(
        X,
        labels,
        sensitive_features=sensitive,
        min_cluster_size=options.min_cluster_size,
        objective=options.objective,
        **limits(options),
    )
    stream, n_moved = cli.stream_for_people(options.output), int(repaired.moved.sum())
    moves = [f"    {counted(n, 'row')} of {group} from {before} to {after}" for before, after, group, n in repaired.moves]
    lines = [
        f"{options.table.name}: {counted(len(labels), 'row')}, {counted(len(set(labels)), 'cluster')} of {options.labels}",
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
    return 0


def _read(options: argparse.Namespace):
    """Features (n, d), sensitive columns, labels (n,), numbers of the rows in the file, their ids, and notes."""
    data, labels = labelled(own_table.read(options, 1), options)
    return data.X, data.sensitive, labels, data.rows, data.ids, data.notes


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
        "--objective",
        choices=("moves", "cost"),
        default="moves",
        help="moves: the fewest rows that change; cost: the cheapest labels at the present means (default: moves)",
    )
    parser.add_argument("--no-features", action="store_true", help="use only the labels and the groups")
    cli.add_output_files(parser, output="CSV file for the clusters of the rows; - is standard output")
    return parser
