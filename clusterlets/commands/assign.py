"""``clusterlets assign model.json new.csv``: assign new rows to the clusters of a saved clustering, within its limits."""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.algorithms.checks import MAX_GROUPS
from clusterlets.commands import cli, own_table, summary
from clusterlets.errors import ClusterletsError, LimitsMissed
from clusterlets.tables import user_table
from clusterlets.text import counted, first_of

_MAX_LISTED = 40  # lines about limits that are missed

_EPILOG = """
examples:
  clusterlets cluster people.csv --sensitive sex -k 5 --save people.json
  clusterlets assign people.json new.csv -o labels.csv
  clusterlets assign people.json new.csv -o labels.csv --save people.json
      the file then counts these rows too

New rows are assigned to near clusters so that old and new rows together keep what the method guarantees. The centres do not
move, and the reference is the shares of the table that was clustered, however many rows are added. If the guarantee
cannot be kept, the largest miss is made as small as possible. The command then says where it is and what would mend it.
The new table needs the same columns, in any order. The file that -o names has the columns row (counted from 0) and cluster. The
column that --id names comes between them.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    own_table.check_options(options)
    cli.check_output_files({"-o": options.output, "--save": options.save}, [("the table itself", options.table)])
    cli.check_output_files({"-o": options.output}, [("the clustering", options.model)])  # --save may overwrite the clustering
    user_table.check_exists(Path(options.model))
    from clusterlets.estimators import SavedClustering  # imported late: scikit-learn is slow to load

    clustering = SavedClustering.load(options.model)
    if clustering.feature_names is None:
        raise ClusterletsError(f"{options.model} does not name its features; assign the new rows in Python.")
    for name, values in zip(clustering.sensitive_names, map(set, zip(*clustering.groups, strict=True)), strict=True):
        if len(set(map(str, values))) < len(values):
            raise ClusterletsError(
                f"{options.model}: groups of {name} have the same text, but not the same type, so that the table cannot tell "
                "them apart; assign the new rows in Python."
            )
    n_encoded = sum(map(len, clustering.text_columns.values()))
    columns, sensitive_values, notes, rows, kept = user_table.read_rows(
        options.table,
        [str(name) for name in clustering.sensitive_names],
        clustering.feature_names[: len(clustering.feature_names) - n_encoded],
        own_table.reading(options),
        keep=list(filter(None, [options.id])),
        text=list(clustering.text_columns),
        keeps_gaps=clustering.fill is not None and options.missing == "error",
    )
    ids, id_notes = own_table.ids(options, kept)
    notes += id_notes
    sizes_before = clustering.counts.sum(axis=0)
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always", UserWarning)
        labels = clustering.assign(
            pd.DataFrame(columns), pd.DataFrame(sensitive_values), remember=True, reference=options.reference
        )
    miss = clustering.miss
    notes += [str(warning.message) for warning in caught_warnings if warning.category is not LimitsMissed]
    stream = cli.stream_for_people(options.output)
    n_rows, n_clusters = counted(len(rows), "new row"), counted(len(sizes_before), "cluster")
    verdict = f"not kept: {miss}" if miss else "kept by old and new rows together"
    lines = [
        f"{options.table.name}: {n_rows}, {n_clusters} of {clustering.method}",
        f"limits      {verdict}",
        f"reference   {_reference(clustering, options.reference)}",
        *(f"note: {note}" for note in notes),
        "",
        _cluster_table(clustering, sizes_before),
        *first_of([str(line) for line in summary.breaks(miss.broken if miss else [])], _MAX_LISTED),
    ]
    print(*lines, sep="\n", file=stream)
    if miss and options.strict:
        return 1
    if options.output:
        own_table.write_clusters(options, rows, ids, labels)
    if options.save:
        with cli.writing(options.save):
            clustering.save(options.save)
        print(f"clustering with these rows: {options.save}", file=stream)
    return 0


def _reference(clustering, reference: str) -> str:
    counts, whose = clustering.fitted_counts, "of the table that was clustered"
    if reference == "union":
        counts, whose = clustering.counts.sum(axis=1), "of old and new rows"
    shares = {name: f"{counts[members].sum() / counts.sum():.1%}" for name, members in _limited_groups(clustering).items()}
    return f"shares {whose}: {', '.join(first_of([f'{name} {share}' for name, share in shares.items()], MAX_GROUPS))}"


def _limited_groups(clustering) -> dict[str, list[int]]:
    """The positions of the groups with each value of a sensitive column, by its name: limits are about these."""
    limited: dict[str, list[int]] = {}
    names = clustering.sensitive_names
    for column, name in enumerate(names):
        for position, group in enumerate(clustering.groups):
            title = str(group[column]) if len(names) == 1 else f"{name} = {group[column]}"
            limited.setdefault(title, []).append(position)
    return limited


def _cluster_table(clustering, sizes_before: np.ndarray) -> str:
    sizes = clustering.counts.sum(axis=0)
    columns = {
        "cluster": clustering.clusters,
        "before": sizes_before,
        "new": sizes - sizes_before,
        "size": sizes,
    }
    shares = [
        (name, [f"{share:.1%}" for share in clustering.counts[members].sum(axis=0) / sizes])
        for name, members in _limited_groups(clustering).items()
    ]
    lines = pd.DataFrame(dict(enumerate([*columns.values(), *(values for _, values in shares)])))
    return lines.set_axis([*columns, *(name for name, _ in shares)], axis=1).to_string(index=False)


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser(
        "assign",
        "Assign new rows to the clusters of a saved clustering, so that old and new rows together keep its limits.",
        _EPILOG,
    )
    parser.add_argument("model", type=cli.nonempty, help="JSON file that `clusterlets cluster --save` wrote")
    parser.add_argument("table", type=Path, help="file with the new rows, as for cluster")
    own_table.add_reading_options(parser, ("error", "drop"))
    parser.add_argument(
        "--reference",
        choices=("fit", "union"),
        default="fit",
        help="whose shares the limits mean: those of the table that was clustered (default), or of old and new rows",
    )
    parser.add_argument(
        "--strict", action="store_true", help="if the limits cannot be kept, write no file and end with status 1"
    )
    cli.add_output_files(
        parser,
        output="CSV file for the clusters of the rows; - is standard output",
        save="JSON file for the clustering with these rows counted",
    )
    return parser
