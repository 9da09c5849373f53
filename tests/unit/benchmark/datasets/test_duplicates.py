"""Duplicate rows: which rows count as duplicates, and when they are left out."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterlets.benchmark import datasets
from clusterlets.benchmark.grid import datasets_list
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.steps.fetch_dataset import fetch_dataset
from clusterlets.benchmark.steps.prepare_dataset import prepare_dataset
from clusterlets.errors import ClusterletsError
from clusterlets.tables.table import Table, without_duplicates


def rows_of(table):
    """Each row as a tuple of its features and its group."""
    # Adding 0.0 turns -0.0 into 0.0.
    return [(*map(str, (row + 0.0).tolist()), int(group)) for row, group in zip(table.X, table.groups, strict=True)]


SMALL_TABLES = st.lists(
    st.tuples(st.sampled_from([-1.5, -0.0, 0.0, 2.0]), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30
)


@given(SMALL_TABLES)
def test_only_the_first_of_equal_rows_is_kept_and_the_order_of_rows_stays(rows):
    X, group = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    attribute = np.array([f"value {index}" for index in range(len(rows))], dtype=object)
    table = Table(X, group, ("a", "b"), (("no",), ("yes",)), {"c": attribute})
    first_rows = [index for index, row in enumerate(rows_of(table)) if row not in rows_of(table)[:index]]
    distinct = without_duplicates(table)
    assert np.array_equal(distinct.X, X[first_rows]) and np.array_equal(distinct.groups, group[first_rows])
    assert np.array_equal(distinct.sensitive["c"], attribute[first_rows])
    assert distinct.dropped_duplicates == len(rows) - len(first_rows)
    assert (distinct.feature_names, distinct.group_names) == (table.feature_names, table.group_names)


# For each dataset: the number of rows, and how many of them equal an earlier row.
COUNTS = {"breast": (683, 234), "compas": (4534, 416), "credit": (690, 0), "heloc": (10459, 587), "magic": (19020, 115)}


@pytest.mark.parametrize("name", COUNTS)
def test_every_dataset_can_be_prepared_with_and_without_duplicates(name, mirror):
    rows, duplicates = COUNTS[name]
    whole, distinct = (datasets.prepare(name, mirror, choice) for choice in ("keep", "drop"))
    assert len(whole.X) == rows and whole.dropped_duplicates == 0
    assert distinct.dropped_duplicates == duplicates
    assert rows_of(distinct) == list(dict.fromkeys(rows_of(whole)))


def test_only_breast_is_prepared_without_duplicates_by_default(mirror):
    table = datasets.prepare("breast", mirror)
    assert (table.group_counts.tolist(), table.dropped_duplicates) == ([213, 236], 234)
    assert datasets.prepare("breast", mirror, "keep").group_counts.tolist() == [444, 239]
    of_the_paper = [name for name in datasets.names() if "paper_name" in datasets.describe(name)]
    assert [name for name in of_the_paper if datasets.describe(name)["duplicates"] == "drop"] == ["breast"]


@pytest.mark.parametrize("choice", ["keep", "drop"])
def test_a_raw_file_with_a_wrong_value_is_refused_with_either_choice(choice, mirror, tmp_path):
    text = (mirror / "breast" / "breast-cancer-wisconsin.data").read_text()
    (tmp_path / "breast").mkdir()
    (tmp_path / "breast" / "breast-cancer-wisconsin.data").write_text(text.replace("1000025,5,", "1000025,6,", 1))
    with pytest.raises(ClusterletsError, match="breast: the prepared table is not the expected one"):
        datasets.prepare("breast", tmp_path, choice)


def test_an_unknown_choice_is_refused_before_any_file_is_read():
    with pytest.raises(ClusterletsError, match="duplicates: 'dropp' is unknown; it must be one of keep, drop"):
        datasets.prepare("iris", "nowhere", "dropp")


@pytest.mark.parametrize("choice, rows, dropped", [(None, 150, 0), ("keep", 150, 0), ("drop", 149, 1)])
def test_the_datasets_table_says_how_many_rows_were_dropped(choice, rows, dropped, tmp_path):
    receipt, path = tmp_path / "receipt.json", tmp_path / "iris.json"
    fetch_dataset("iris", raw_dir=tmp_path, receipt_path=receipt)
    prepare_dataset("iris", tmp_path, receipt, "none", tmp_path / "iris.npz", path, duplicates=choice)
    description = json.loads(path.read_text())
    assert (description["rows"], description["dropped_duplicates"]) == (rows, dropped)
    row = datasets_list.row("iris", description)
    assert (row["rows"], row["dropped"]) == (str(rows), str(dropped))
    note = "- iris: 1 of 150 rows equal an earlier one and were left out"
    assert (note in datasets_list.listing({"iris": description})) == (dropped == 1)


def configuration_of(tmp_path, *entries):
    (tmp_path / "mine.yaml").write_text(json.dumps({"datasets": entries}))
    return read_configuration(tmp_path / "mine.yaml")


def test_a_choice_other_than_the_default_is_part_of_the_id(tmp_path):
    entries = [
        "breast",
        {"name": "breast", "duplicates": "keep"},
        {"name": "heloc", "duplicates": "drop"},
        {"name": "iris", "duplicates": "keep"},
        {"name": "iris", "duplicates": "drop", "id": "irises"},
        {"name": "adult", "sensitive": "sex"},
    ]
    tables = configuration_of(tmp_path, *entries)["tables"]
    assert {name: table["duplicates"] for name, table in tables.items()} == {
        "breast": "drop",
        "breast.with_duplicates": "keep",
        "heloc.without_duplicates": "drop",
        "iris": "keep",
        "irises": "drop",
        "adult.sex": "keep",
    }


@pytest.mark.parametrize(
    "entry, message",
    [
        ({"name": "breast", "duplicates": "yes"}, "datasets.0.duplicates: 'yes' is not one of"),
        (
            {"name": "breast", "duplicates": "keep", "id": "breast"},
            "the id 'breast' belongs to a dataset with its default",
        ),
        ({"name": "people", "path": "x.csv", "sensitive": "a", "duplicates": "drop"}, "leave the rows out of x.csv yourself"),
        ({"name": "adult", "sensitive": "race", "duplicates": "drop"}, "adult: 'drop' compares rows by features and class"),
    ],
)
def test_an_impossible_choice_is_refused(entry, message, tmp_path):
    with pytest.raises(ClusterletsError) as error:
        configuration_of(tmp_path, entry)
    assert message in str(error.value)
