"""A user's own table on the command line: its options, how it is read, and warnings about its columns."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.commands.output import utf8_name
from clusterlets.datasets import user_table
from clusterlets.datasets.suspects import MAX_GROUPS, identifiers, unlike_scales
from clusterlets.datasets.table import Table, columns_of_names, sort_key
from clusterlets.errors import ClusterletsError

_LISTED = 60  # columns that are named one by one


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the table and the options that say how to read it."""
    parser.add_argument("table", type=Path, help="CSV or TSV file in UTF-8, with a header line")
    parser.add_argument(
        "--sensitive",
        action="append",
        type=utf8_name,
        required=True,
        metavar="COLUMN",
        help="column whose values are the groups; given several times, the combinations of values are the groups",
    )
    parser.add_argument(
        "--features",
        type=utf8_name,
        metavar="A,B,...",
        help="columns to cluster by (default: all numeric ones but the sensitive)",
    )
    parser.add_argument(
        "--separator", type=utf8_name, metavar="S", help="what separates the cells (default: a comma, a tab in .tsv)"
    )
    parser.add_argument(
        "--scaling",
        choices=("none", "standard"),
        default="none",
        help="standard: features to mean 0 and variance 1, useful if their units differ (default: none)",
    )


def read(options: argparse.Namespace) -> tuple[Table, np.ndarray, list[str]]:
    """The table, the row number in the file of each of its rows, and notes for the user.

    Raises
    ------
    ClusterletsError
        As :func:`clusterlets.datasets.user_table.read`, and for options that contradict each other.
    """
    if options.table.suffix == user_table.PARQUET:
        raise ClusterletsError(f"{options.table}: this command reads CSV and TSV; save the table as one of them.")
    features = options.features.split(",") if options.features else user_table.NUMERIC
    for option, names in (("--sensitive", options.sensitive), ("--features", features if options.features else ())):
        repeated = [name for name in names if list(names).count(name) > 1]
        if repeated:
            raise ClusterletsError(f"{option} names {repeated[0]!r} twice; once is enough.")
    overlap = [column for column in options.sensitive if column in features]
    if overlap:
        raise ClusterletsError(f"{overlap[0]!r} cannot be sensitive and a feature too; leave it out of --features.")
    table, remarks = user_table.read(options.table, options.sensitive, features, options.separator)
    separator = options.separator or user_table.SEPARATORS[options.table.suffix]
    # Rows without a sensitive value are left out; the others keep their row numbers.
    sensitive = pd.read_csv(
        options.table,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        encoding="utf-8-sig",
        usecols=lambda column: column.strip() in options.sensitive,
    )
    has_group = sensitive.apply(lambda column: column.str.strip() != "").all(axis=1)
    header = pd.read_csv(options.table, sep=separator, nrows=0, encoding="utf-8-sig").columns.str.strip()
    unnamed = [column for column in header if options.features and column not in (*features, *options.sensitive)]
    notes = [f"ignored (not named by --features): {_format_columns(unnamed)}"] if unnamed else []
    return table, np.flatnonzero(has_group), remarks + notes


def sensitive_columns(names: Sequence[str], table: Table) -> pd.DataFrame:
    """The sensitive columns, whose values are in the order of the table's groups."""
    columns = columns_of_names(table.group_names)
    return pd.DataFrame(
        {
            name: pd.Categorical(np.array(values, dtype=object)[table.groups], sorted(set(values), key=sort_key))
            for name, values in zip(names if len(columns) > 1 else names[:1], columns, strict=True)
        }
    )


def features_line(table: Table) -> str:
    """The columns that the rows are clustered by."""
    return f"features: {_format_columns(table.feature_names)}"


def warnings(table: Table, scaling: str) -> list[str]:
    """What is probably wrong with the features and the groups, and what to do about it."""
    messages = []
    if len(table.group_names) > MAX_GROUPS:
        messages.append(
            f"every value of the sensitive columns is a group, {len(table.group_names)} in all; bin a measure such as age, "
            "since hardly any method can keep the shares of so many"
        )
    messages += [
        f"{name} looks like an identifier ({reason}), and the rows are clustered by it; use --features to name the others"
        for name, reason in identifiers(table).items()
    ]
    spreads = unlike_scales(table) if scaling == "none" else None
    if spreads:
        largest, least, ratio = spreads
        messages.append(
            f"{largest} spreads {ratio:,.0f} times as far as {least}, so distances hardly show {least}; "
            "use --scaling standard unless their units are the same"
        )
    return messages


def _format_columns(columns: Sequence[str]) -> str:
    more = len(columns) - _LISTED
    return ", ".join(columns[:_LISTED]) + (f" and {more} more" if more > 0 else "")
