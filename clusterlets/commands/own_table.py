"""A user's own table: the options that describe it, the code that reads it, and warnings about its columns."""

import argparse
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clusterlets.algorithms.checks import MAX_GROUPS, look_alikes
from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError, LookAlikeGroups
from clusterlets.tables import user_table
from clusterlets.tables.suspects import amounts_or_identifiers, giveaways, reason_not_a_feature, twins, unlike_scales
from clusterlets.tables.table import Table, scaled, sort_key
from clusterlets.text import counted, first_of

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
    labels: np.ndarray | None  # (n,), those of the column that --labels names
    features: str  # one line with the names of the features
    notes: list[str]
    warnings: list[str]


def add_options(parser: argparse.ArgumentParser, *, shows_groups: bool = False) -> None:
    """Add the table, the options that say how to read it and, if ``shows_groups``, which groups to show."""
    table = parser.add_argument_group("table")
    table.add_argument("table", type=Path, help="CSV, TSV, .xlsx or .parquet (pyarrow) with a header")
    for option, purpose in (
        ("sensitive", "column with the groups; may be repeated"),
        ("features", "columns to cluster by (default: numeric ones)"),
        ("exclude", "columns that are no features; may be repeated"),
    ):
        settings: dict[str, Any] = {"required": True} if option == "sensitive" else {"default": []}
        table.add_argument(f"--{option}", action="extend", type=cli.columns, metavar="A,B,...", help=purpose, **settings)
    if shows_groups:
        table.add_argument("--all-scores", action="store_true", help="show all scores, and combinations of groups too")
    _add_choice(table, "categorical", "text columns as features", ("ignore", "onehot"))
    add_reading_options(table, ("error", "drop", "median"))
    _add_choice(table, "scaling", "mean 0 and variance 1", ("standard", "none"))


def add_reading_options(parser: argparse._ActionsContainer, missing: Sequence[str]) -> None:
    """Add the options that ``assign`` needs too. ``missing`` are the choices for features without a value."""
    parser.add_argument("--id", type=cli.utf8_name, metavar="COLUMN", help="column that identifies the rows; never a feature")
    _add_choice(parser, "missing", "missing features", missing)
    _add_choice(parser, "missing-group", "rows without a group", ("drop", "group"))
    for option, purpose in (
        ("separator", "sign between cells (default: a comma, a tab in .tsv)"),
        ("decimal", "decimal sign (default: a point)"),
        ("thousands", "sign between thousands (default: none)"),
        ("encoding", "of the file (default: utf-8)"),
        ("sheet", "of an Excel file (default: the first with cells)"),
    ):
        default = getattr(user_table.Reading(), option)
        parser.add_argument(f"--{option}", type=cli.utf8_name, default=default, metavar="S", help=purpose)


def _add_choice(parser: argparse._ActionsContainer, name: str, purpose: str, choices: Sequence[str]) -> None:
    """Add an option whose first choice is the default, with a help text of one line."""
    default, *others = choices
    text = f"{purpose}: {default} (default){', '.join(['', *others])}"
    parser.add_argument(f"--{name}", choices=choices, default=default, metavar="HOW", help=text)


def arguments(options: argparse.Namespace) -> list[str]:
    """The arguments that give these options for the table again."""
    words = [str(options.table)]
    words += [word for column in options.sensitive for word in cli.option("sensitive", cli.as_columns([column]))]
    for name in ("features", "exclude"):
        words += cli.option(name, cli.as_columns(getattr(options, name))) if getattr(options, name) else []
    defaults = {"categorical": "ignore", "id": None, "scaling": "standard", **vars(user_table.Reading())}
    for name, default in defaults.items():
        if getattr(options, name) != default:
            words += cli.option(name.replace("_", "-"), getattr(options, name))
    return words


def reading(options: argparse.Namespace) -> user_table.Reading:
    """How the options say that the file is read."""
    return user_table.Reading(**{name: getattr(options, name) for name in user_table.READING})


def read(options: argparse.Namespace, min_groups: int) -> OwnTable:
    """Read the table that the options name. It must have at least ``min_groups`` groups.

    Raises
    ------
    ClusterletsError
        If options contradict each other, or if :func:`clusterlets.tables.user_table.read` refuses the table, for example
        because it has too few groups.
    """
    check_options(options)
    warnings.simplefilter("ignore", LookAlikeGroups)  # the table's own warnings name them
    features, exclude = options.features, options.exclude
    for option, names in (("--sensitive", options.sensitive), ("--features", features)):
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise ClusterletsError(f"{option} names {repeated[0]!r} twice; once is enough.")
    conflicts = [column for column in options.sensitive if column in features]
    if conflicts:
        raise ClusterletsError(f"{conflicts[0]!r} cannot be both sensitive and a feature; leave it out of --features.")
    conflicts = [column for column in exclude if column in (*options.sensitive, *features)]
    if conflicts:
        raise ClusterletsError(f"--exclude {conflicts[0]} is also a sensitive column or a feature; leave one out.")
    named = {"--id": options.id, "--labels": getattr(options, "labels", None)}
    for option, column in named.items():
        if column in (*options.sensitive, *features):
            raise ClusterletsError(f"{option} {column} is also a sensitive column or a feature; leave one out.")
    table, notes, rows, kept = user_table.read(
        options.table,
        options.sensitive,
        features or user_table.NUMERIC,
        reading(options),
        exclude=exclude,
        keep=list(filter(None, named.values())),
        one_hot=options.categorical == "onehot",
        reason_to_skip=reason_not_a_feature,
        min_groups=min_groups,
        advice="--features names the columns to cluster by, and --exclude others.",
    )
    hint = "; --categorical onehot makes them features"
    notes = [note + hint * note.startswith(user_table.IGNORED_TEXT) for note in notes]
    row_ids, id_notes = ids(options, kept)
    sensitive = _sensitive_columns(options.sensitive, table)
    return OwnTable(
        table=table,
        X=scaled(table, options.scaling),
        sensitive=sensitive,
        rows=rows,
        ids=row_ids,
        labels=kept.get(named["--labels"]),
        features=f"features: {', '.join(first_of(table.feature_names, _MAX_LISTED))}",
        notes=[*notes, *id_notes, *([] if features else _notes_on_amounts(table)), *_notes_on_twins(table)],
        warnings=[*_warnings_on_groups(table, sensitive), *_warnings_on_scales(table, options.scaling)],
    )


def check_options(options: argparse.Namespace) -> None:
    """Refuse an --id that would give the file with the clusters two columns of the same name."""
    if options.id in _LABEL_COLUMNS:
        raise ClusterletsError(
            f"--id {options.id}: the file with the clusters has a column of this name; rename the one in the table."
        )


def ids(options: argparse.Namespace, kept: Mapping[str, np.ndarray]) -> tuple[np.ndarray | None, list[str]]:
    """The identifiers (n,) among the kept columns, None if ``--id`` is not given; and a note if some are repeated."""
    if options.id is None:
        return None, []
    values = kept[options.id]
    n_repeated = len(values) - len(set(values.tolist()))
    return values, [
        f"--id {options.id}: {counted(n_repeated, 'row repeats', 'rows repeat')} an identifier"
    ] if n_repeated else []


def write_clusters(options: argparse.Namespace, rows: np.ndarray, ids: np.ndarray | None, clusters: np.ndarray) -> None:
    """Write row numbers, ids and clusters to the output, and print its name."""
    columns = {"row": rows, **({} if ids is None else {options.id: ids}), "cluster": clusters}
    cli.write_table(options.output, pd.DataFrame(columns))
    destination = "standard output" if options.output == cli.STANDARD_OUTPUT else options.output
    print(f"\nclusters of the rows: {destination}", file=cli.stream_for_people(options.output))


def _sensitive_columns(names: Sequence[str], table: Table) -> pd.DataFrame:
    """The sensitive columns (n, S), as categories that are sorted like the groups of the table."""
    return pd.DataFrame(
        {
            name: pd.Categorical(np.array(values, dtype=object)[table.groups], sorted(set(values), key=sort_key))
            for name, values in zip(names, zip(*table.group_values, strict=True), strict=True)
        }
    )


def _warnings_on_groups(table: Table, sensitive: pd.DataFrame) -> Iterable[str]:
    """Warnings about likely mistakes in each sensitive column, with advice."""
    for name, column in sensitive.items():
        values = column.cat.categories.tolist()
        if len(values) > MAX_GROUPS:
            yield (
                f"each of the {len(values)} values of {name} is a group; bin a measure such as age, since hardly any method "
                "can keep so many shares"
            )
        if len(values) == 1:
            yield f"every row has the same value of {name}, so no clustering of these rows can be unfair"
        alike = look_alikes(values)
        if alike:
            yield alike
        revealing = giveaways(table, column)
        if revealing:
            yield (
                f"features that give {name} away, so that the clusters are pulled apart by group: "
                f"{', '.join(first_of(revealing, _MAX_LISTED))}; --exclude leaves them out"
            )


def _notes_on_amounts(table: Table) -> Iterable[str]:
    names = first_of(amounts_or_identifiers(table), _MAX_LISTED)
    if names:
        yield f"features of whole numbers that hardly repeat: {', '.join(names)}; --exclude those that are identifiers"


def _notes_on_twins(table: Table) -> Iterable[str]:
    pairs = first_of(twins(table), _MAX_LISTED)
    if pairs:
        yield f"features that follow from each other, so that what they say counts twice: {', '.join(pairs)}; --exclude one"


def _warnings_on_scales(table: Table, scaling: str) -> Iterable[str]:
    unlike_features = unlike_scales(table) if scaling == "none" else None
    if unlike_features:
        largest, smallest, ratio = unlike_features
        yield (
            f"{largest} spreads {ratio:,.0f} times as far as {smallest}, so distances hardly show {smallest}; "
            "leave out --scaling none unless their units are the same"
        )
