"""A user's own table: the options that describe it, the code that reads it, and warnings about its columns."""

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.algorithms.checks import MAX_GROUPS, look_alikes
from clusterlets.commands import cli
from clusterlets.datasets import user_table
from clusterlets.datasets.suspects import reason_not_a_feature, unlike_scales
from clusterlets.datasets.table import Table, columns_of_names, scaled, sort_key
from clusterlets.errors import ClusterletsError, LookAlikeGroups, did_you_mean
from clusterlets.text import first_of

_MAX_LISTED = 60  # columns that a message names one by one
_LABEL_COLUMNS = ("row", "cluster")  # columns of the file with the clusters; --id adds one more


@dataclass(frozen=True)
class OwnTable:
    """A table, read as the options say, with messages for its user."""

    table: Table  # with the features as they are in the file
    X: np.ndarray  # (n, d), the features that are clustered: scaled, if requested
    sensitive: pd.DataFrame  # (n, S), the sensitive columns
    rows: np.ndarray  # (n,), row numbers in the file, counted from 0
    ids: np.ndarray | None  # (n,), values of the column that --id names, as text
    features: str  # one line with the names of the features
    notes: list[str]
    warnings: list[str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the table, and the options that say how to read it."""
    table = parser.add_argument_group("table")
    table.add_argument("table", type=Path, help="CSV or TSV file in UTF-8, with a header line")
    table.add_argument(
        "--sensitive",
        action="append",
        type=cli.utf8_name,
        required=True,
        metavar="COLUMN",
        help="column whose values are the groups; may be repeated: fair-limit limits each column separately, and for other "
        "methods the combinations of values are the groups",
    )
    table.add_argument(
        "--features",
        type=cli.utf8_name,
        metavar="A,B,...",
        help="columns to cluster by (default: all numeric ones except sensitive columns, identifiers and postcodes)",
    )
    add_reading_options(table)
    table.add_argument(
        "--scaling",
        choices=("none", "standard"),
        default="none",
        help="standard: features to mean 0 and variance 1, useful if their units differ (default: none)",
    )


def add_reading_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that ``assign`` needs too."""
    parser.add_argument("--id", type=cli.utf8_name, metavar="COLUMN", help="column that identifies the rows; never a feature")
    parser.add_argument("--drop-missing", action="store_true", help="leave out rows that lack a feature (default: an error)")
    parser.add_argument(
        "--separator", type=cli.utf8_name, metavar="S", help="separator of the cells (default: a comma, a tab in .tsv)"
    )


def read(options: argparse.Namespace, min_groups: int) -> OwnTable:
    """Read the table that the options name. It must have at least ``min_groups`` groups.

    Raises
    ------
    ClusterletsError
        If options contradict each other, if the sensitive columns have too many different values, or if
        :func:`clusterlets.datasets.user_table.read` refuses the table, for example because it has too few groups.
    """
    check_options(options)
    warnings.simplefilter("ignore", LookAlikeGroups)  # the table's own warnings name them
    features = options.features.split(",") if options.features else []
    for option, names in (("--sensitive", options.sensitive), ("--features", features)):
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise ClusterletsError(f"{option} names {repeated[0]!r} twice; once is enough.")
    conflicts = [column for column in options.sensitive if column in features]
    if conflicts:
        raise ClusterletsError(f"{conflicts[0]!r} cannot be both sensitive and a feature; leave it out of --features.")
    if options.id in (*options.sensitive, *features):
        raise ClusterletsError(f"--id {options.id} is also a sensitive column or a feature; leave one out.")

    def reason_to_skip(name: str, values: np.ndarray) -> str | None:
        return "named by --id" if name == options.id else reason_not_a_feature(name, values)

    table, notes, rows = user_table.read(
        options.table,
        options.sensitive,
        features or user_table.NUMERIC,
        options.separator,
        drop_missing=options.drop_missing,
        reason_to_skip=reason_to_skip,
        min_groups=min_groups,
        advice=f"--features names the columns to cluster by. {advice(options)}",
    )
    n_groups, n_rows = len(table.group_names), len(table.X)
    if n_groups > MAX_GROUPS and 2 * n_groups > n_rows:
        raise ClusterletsError(
            f"--sensitive {', '.join(options.sensitive)}: {n_rows} rows have {n_groups} different values, too many to be "
            "groups; bin a measure or a date first."
        )
    unused_columns = [name for name in _header(options) if features and name not in (*features, *options.sensitive, options.id)]
    if unused_columns:
        notes.append(f"ignored (not named by --features): {', '.join(first_of(unused_columns, _MAX_LISTED))}")
    return OwnTable(
        table=table,
        X=scaled(table, options.scaling),
        sensitive=_sensitive_columns(options.sensitive, table),
        rows=rows,
        ids=ids(options, rows),
        features=f"features: {', '.join(first_of(table.feature_names, _MAX_LISTED))}",
        notes=notes,
        warnings=_warnings(table, options.scaling),
    )


def check_options(options: argparse.Namespace) -> None:
    """Refuse a Parquet table, and an --id that would give the file with the clusters two columns of the same name."""
    if options.table.suffix == user_table.PARQUET:
        raise ClusterletsError(f"{options.table}: this command reads CSV and TSV; save the table as one of them.")
    if options.id in _LABEL_COLUMNS:
        raise ClusterletsError(
            f"--id {options.id}: the file with the clusters has a column of this name; rename the one in the table."
        )


def advice(options: argparse.Namespace) -> str:
    """Advice for a table with empty cells; "" if --drop-missing is given already."""
    return "" if options.drop_missing else "--drop-missing leaves out rows with empty cells."


def ids(options: argparse.Namespace, rows: np.ndarray) -> np.ndarray | None:
    """The identifiers (n,) of these rows of the file, as text; None if ``--id`` is not given."""
    if options.id is None:
        return None
    header = _header(options)
    if options.id not in header:
        hint = did_you_mean(options.id, header)
        raise ClusterletsError(f"{options.table} has no column {options.id!r}, which --id names{hint}.")
    column = _read_csv(options, dtype=str, keep_default_na=False, usecols=lambda column: column.strip() == options.id)
    return column.iloc[:, 0].to_numpy()[rows]


def write_clusters(options: argparse.Namespace, rows: np.ndarray, ids: np.ndarray | None, clusters: np.ndarray) -> None:
    """Write row numbers, ids and clusters to the output, and print its name."""
    columns = {"row": rows, **({} if ids is None else {options.id: ids}), "cluster": clusters}
    cli.write_table(options.output, pd.DataFrame(columns))
    destination = "standard output" if options.output == cli.STANDARD_OUTPUT else options.output
    print(f"\nclusters of the rows: {destination}", file=cli.stream_for_people(options.output))


def _header(options: argparse.Namespace) -> list[str]:
    return _read_csv(options, nrows=0).columns.str.strip().tolist()


def _read_csv(options: argparse.Namespace, **settings) -> pd.DataFrame:
    separator = options.separator or user_table.SEPARATORS[options.table.suffix]
    return pd.read_csv(options.table, sep=separator, encoding="utf-8-sig", **settings)


def _sensitive_columns(names: Sequence[str], table: Table) -> pd.DataFrame:
    """The sensitive columns (n, S), as categories that are sorted like the groups of the table."""
    # A single column if the names of the groups cannot be split, because a value contains the sign that joins values.
    columns = columns_of_names(table.group_names)
    return pd.DataFrame(
        {
            name: pd.Categorical(np.array(values, dtype=object)[table.groups], sorted(set(values), key=sort_key))
            for name, values in zip(names if len(columns) > 1 else names[:1], columns, strict=True)
        }
    )


def _warnings(table: Table, scaling: str) -> list[str]:
    """Warnings about likely mistakes in the groups and the features, each with advice."""
    messages = []
    if len(table.group_names) > MAX_GROUPS:
        messages.append(
            f"every value of the sensitive columns is a group, {len(table.group_names)} in all; bin a measure such as age, "
            "since hardly any method can keep so many shares"
        )
    for names in columns_of_names(table.group_names):
        alike = look_alikes(dict.fromkeys(names))
        if alike:
            messages.append(alike)
    unlike_features = unlike_scales(table) if scaling == "none" else None
    if unlike_features:
        largest, smallest, ratio = unlike_features
        messages.append(
            f"{largest} spreads {ratio:,.0f} times as far as {smallest}, so distances hardly show {smallest}; "
            "use --scaling standard unless their units are the same"
        )
    return messages
