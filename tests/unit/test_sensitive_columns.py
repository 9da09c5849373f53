"""Arrays and lists, which need no pandas, give the same groups as pandas."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from clusterlets.estimators import InvalidInput
from clusterlets.estimators.groups import encode

RNG = np.random.default_rng(0)
WORDS = np.array(["b", "a", "ab", "", "é"])

ARRAYS = {
    "bool": RNG.random(40) < 0.5,
    "int": RNG.integers(-3, 3, 40),
    "uint8": RNG.integers(0, 250, 40).astype(np.uint8),
    "float": RNG.integers(-2, 2, 40) * 1.0,
    "complex": RNG.integers(0, 3, 40) + 1j * RNG.integers(0, 2, 40),
    "text": WORDS[RNG.integers(0, 5, 40)],
    "bytes": np.char.encode(WORDS[RNG.integers(0, 5, 40)], "utf-8"),
    "objects": WORDS.astype(object)[RNG.integers(0, 5, 40)],
    "dates": np.array(["2020-01-01", "1999-12-31", "2038-02-01"], dtype="datetime64[s]")[RNG.integers(0, 3, 40)],
    "spans": np.array([3, 1, 2], dtype="timedelta64[s]")[RNG.integers(0, 3, 40)],
}


def by_pandas(array):
    return pd.factorize(pd.Series(array), sort=True)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_has_the_same_groups_as_in_pandas(name):
    codes, values = encode(ARRAYS[name], 40)
    expected, uniques = by_pandas(ARRAYS[name])
    assert np.array_equal(codes, expected) and codes.dtype == np.int64
    assert values.tolist() == np.asarray(uniques).tolist() and values.dtype == np.asarray(uniques).dtype


def test_several_columns_give_their_combinations_in_order():
    columns = np.column_stack([RNG.integers(0, 3, 40), RNG.integers(0, 2, 40)])
    codes, values = encode(columns, 40)
    combinations = sorted({tuple(row) for row in columns.tolist()})
    assert [tuple(row) for row in values.tolist()] == combinations
    assert codes.tolist() == [combinations.index(tuple(row)) for row in columns.tolist()]


def test_fields_of_a_structured_array_are_columns():
    people = np.array([("f", 1), ("m", 0), ("f", 0), ("m", 0)], dtype=[("sex", "U1"), ("land", int)])
    assert encode(people, 4)[1].tolist() == [["f", 0], ["f", 1], ["m", 0]]


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([1, "1", 1, "1"], [1, "1"]),
        (["a", "a\0", "b", "a"], ["a", "a\0", "b"]),
        ([[1, "x"], [2, "x"], [1, "x"], [10, "y"]], [[1, "x"], [2, "x"], [10, "y"]]),
        ((("f", 1), ("m", 2), ("f", 1), ("m", 2)), [["f", 1], ["m", 2]]),
        ([True, False, True, False], [False, True]),
        (range(4), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_lists_keep_their_values(rows, values):
    assert encode(rows, 4)[1].tolist() == values


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", None, "b", "b"], "column 0: row 1 (counting from 0) has no value; such rows: 1"),
        ([[1.0, "a"], [1.0, "b"], [float("nan"), "a"], [1.0, None]], "column 0: row 2"),
        ([["a", 0.5], ["a", 1.0], ["b", 2.0], ["b", 1.0]], "column 1: it holds fractions such as 0.5"),
        (np.array(["2020-01-01", "NaT", "NaT", "2020-01-02"], dtype="datetime64[D]"), "row 1 (counting from 0) has no value"),
        (np.array([1, pd.NA, 2, pd.NaT], dtype=object), "row 1 (counting from 0) has no value; such rows: 2"),
        (np.array([1.0, 0.5, 2.0, 2.0]), "fractions such as 0.5"),
        (np.zeros((4, 0)), "has no column"),
    ],
    ids=str,
)
def test_missing_values_and_measurements_are_refused_with_their_position(column, words):
    with pytest.raises(InvalidInput) as refused:
        encode(column, 4)
    assert words in str(refused.value)


def test_arrays_and_lists_are_clustered_and_reported_without_pandas():
    code = """
import sys

class WithoutPandas:
    def find_spec(name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, WithoutPandas)
from clusterlets import FRAC, ClusterletClustering, FairFlow, fairness_report
X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
for estimator in (FRAC(2, random_state=0), ClusterletClustering(2, random_state=0), FairFlow(2, random_state=0)):
    fitted = estimator.fit(X, sensitive_features=sex)
    print(fairness_report(X, fitted.memberships_, sex)["deviation_max"])
"""
    process = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert process.stdout.split() == ["0.0"] * 3, process.stderr
