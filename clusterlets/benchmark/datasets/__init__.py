"""The benchmark's datasets.

``sources.yaml`` describes each dataset. :mod:`~clusterlets.benchmark.datasets.fetch` fetches the raw files. One module per
dataset makes a table from them, and :mod:`~clusterlets.tables.table` checks it.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from clusterlets.benchmark.datasets.catalogue import describe, how_to_leave_out, names
from clusterlets.errors import ClusterletsError, did_you_mean
from clusterlets.tables.table import CLASS, BadData, Table, check, describe_differences, table_of_groups, without_duplicates

__all__ = ["CLASS", "Table", "check_sensitive", "describe", "names", "prepare", "sensitive_attributes", "with_sensitive"]


# The treatments of rows that equal an earlier one.
_DUPLICATES: dict[str, Callable[[Table], Table]] = {"keep": lambda table: table, "drop": without_duplicates}


def prepare(name: str, raw_dir: str | PathLike, duplicates: str | None = None) -> Table:
    """Read the raw files ``<raw_dir>/<name>/<file>`` and return the checked table.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    raw_dir : path
        Folder of the raw files of all datasets, as :func:`clusterlets.benchmark.datasets.fetch.fetch` fills it.
    duplicates : {"keep", "drop"}, optional
        What happens to rows that equal an earlier one in all features and the class; ``sources.yaml`` has the default.

    Returns
    -------
    Table
        Unscaled. The table that the default ``duplicates`` gives is checked against ``sources.yaml``: rows, features, positives
        and fingerprint. Only a dataset with ``strict: false`` may differ.

    Raises
    ------
    ClusterletsError
        If an argument is unknown, a raw file is missing or cannot be read, or the table is not the expected one.
    """
    dataset = describe(name)
    treatment = dataset["duplicates"] if duplicates is None else duplicates
    if treatment not in _DUPLICATES:
        raise ClusterletsError(f"duplicates: {treatment!r} is unknown; it must be one of {', '.join(_DUPLICATES)}.")
    folder = Path(raw_dir) / name
    paths = {file["name"]: folder / file["name"] for file in dataset["files"]}
    missing = [str(path) for path in paths.values() if not path.is_file()]
    if missing:
        raise ClusterletsError(
            f"{name}: the raw file {' and '.join(missing)} does not exist. Put it there by hand, or let the workflow "
            "fetch it (`make reproduce`)."
        )
    try:
        table = _module(name).prepare(paths)
        check(table)
    except BadData as problem:
        raise ClusterletsError(f"{name}: {problem}\n{_remedy(dataset, folder)}") from None
    differences = describe_differences(_DUPLICATES[dataset["duplicates"]](table), dataset)
    if differences and dataset["strict"]:
        raise ClusterletsError(
            f"{name}: the prepared table is not the expected one: {'; '.join(differences)}.\n{_remedy(dataset, folder)}"
        )
    return _DUPLICATES[treatment](table)


def sensitive_attributes(name: str) -> Mapping[str, Sequence[str]]:
    """The sensitive attributes of a dataset besides the class. Each has the features that reveal it."""
    return getattr(_module(name), "SENSITIVE", {})


def check_sensitive(name: str, attributes: Sequence[str]) -> None:
    """Raise ClusterletsError unless a dataset has all of the sensitive attributes. All datasets have ``class``."""
    available = [CLASS, *sensitive_attributes(name)]
    for attribute in attributes:
        if attribute not in available:
            hint = did_you_mean(attribute, available)
            raise ClusterletsError(f"{name} has no sensitive column {attribute!r}{hint}; it has: {', '.join(available)}.")


def with_sensitive(name: str, table: Table, attributes: Sequence[str]) -> Table:
    """Define a dataset's groups by sensitive attributes: the values of one, or the combinations of values of several.

    Features that reveal an attribute and rows that lack a value are left out. The class is not a feature.

    Raises
    ------
    ClusterletsError
        If the dataset does not declare an attribute, or all rows have the same group.
    """
    check_sensitive(name, attributes)
    revealing_features = sensitive_attributes(name)
    excluded = {feature for attribute in attributes for feature in revealing_features.get(attribute, ())}
    columns = [column for column, feature in enumerate(table.feature_names) if feature not in excluded]
    features = tuple(table.feature_names[column] for column in columns)
    (classes,) = zip(*table.group_values, strict=True)
    labels = {CLASS: np.array(classes, dtype=object)[table.groups], **table.sensitive}
    try:
        return table_of_groups(table.X[:, columns], features, [labels[attribute] for attribute in attributes])
    except BadData as problem:
        raise ClusterletsError(f"{name}: {problem} Choose another sensitive column for {name} in the configuration.") from None


def _module(name: str):
    return importlib.import_module(f"clusterlets.benchmark.datasets.{describe(name)['module']}")


def _remedy(dataset: dict, folder: Path) -> str:
    files = " and ".join(file["name"] for file in dataset["files"])
    return (
        f"A raw file is damaged, incomplete or of another edition. Delete {files} in {folder} and run again, which fetches "
        "new copies; if the publisher's copy is bad, name a mirror with a good one in the environment variable "
        f"CLUSTERLETS_MIRROR. Or leave the dataset out: {how_to_leave_out(dataset['name'])}."
    )
