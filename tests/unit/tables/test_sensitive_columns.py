"""Any kind of column may hold the groups. Arrays and lists do not need pandas, and give the same groups as it does."""

import datetime
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from clusterlets.estimators import FRAC, ClusterletClustering, InvalidInput, MethodClustering, fairness_report
from clusterlets.estimators.groups import column_names, encode, values_of

RNG = np.random.default_rng(0)
STRINGS = np.array(["b", "a", "ab", "", "é"])

ARRAYS = {
    "bool": RNG.random(40) < 0.5,
    "int": RNG.integers(-3, 3, 40),
    "uint8": RNG.integers(0, 20, 40).astype(np.uint8) * 12,
    "float": RNG.integers(-2, 2, 40) * 1.0,
    "text": STRINGS[RNG.integers(0, 5, 40)],
    "bytes": np.char.encode(STRINGS[RNG.integers(0, 5, 40)], "utf-8"),
    "objects": STRINGS.astype(object)[RNG.integers(0, 5, 40)],
    "dates": np.array(["2020-01-01", "1999-12-31", "2038-02-01"], dtype="datetime64[s]")[RNG.integers(0, 3, 40)],
    "durations": np.array([3, 1, 2], dtype="timedelta64[s]")[RNG.integers(0, 3, 40)],
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_an_array_gives_the_same_groups_as_pandas(array):
    codes, values = encode(array, 40)
    expected_codes, expected_values = pd.factorize(pd.Series(array), sort=True)
    assert np.array_equal(codes, expected_codes)
    assert codes.dtype == np.int64
    assert values.tolist() == expected_values.tolist()
    is_text = array.dtype.kind in "UO"  # for which pandas 3 has a type of its own
    assert values.dtype == (object if is_text else expected_values.dtype)


@pytest.mark.parametrize("beside", [{}, {"sex": ["f", "f"]}], ids=["alone", "beside another column"])
def test_times_of_pandas_stay_times_in_the_values_of_groups(beside):
    _, values = encode(pd.DataFrame({"born": pd.to_datetime(["2021-01-01", "2020-01-01"]), **beside}), 2)
    assert [row[0] for row in values_of(values)] == [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]


def test_a_column_of_tuples_is_one_column():
    # Each cluster has half of each sex and of each place, as the table has, but only two of the four pairs.
    pairs = [("f", "x"), ("m", "y"), ("f", "x"), ("m", "y"), ("f", "y"), ("m", "x"), ("f", "y"), ("m", "x")]
    X, labels = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    reports = [fairness_report(X, labels, groups) for groups in (pairs, pd.Series(pairs))]
    assert [report["column_deviation"] for report in reports] == [0, 0.25]
    assert [report["deviation_max"] for report in reports] == [0.25, 0.25]


SEX = ["f", "m", "f", "f"]


class PolarsSeries(list):
    """What we use of a Series of polars, which is not a requirement of the tests."""

    name = "sex"
    to_list = list.copy
    __arrow_c_stream__ = None


class PolarsFrame(dict):
    columns = property(list)
    __arrow_c_stream__ = None

    def __len__(self):
        return len(SEX)


PEOPLE = {"sex": SEX, "born": [1990, 1991, 1990, 1991]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(PEOPLE),
        pa.table(PEOPLE),
        pa.record_batch(PEOPLE),
        PolarsFrame({name: PolarsSeries(values) for name, values in PEOPLE.items()}),
        np.rec.fromarrays(list(PEOPLE.values()), names=list(PEOPLE)),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_the_columns_of_any_table_keep_their_names_and_are_matched_by_them(frame):
    assert column_names(frame) == ["sex", "born"]
    codes, values = encode(frame, 4, names=["born", "sex"])
    assert codes.tolist() == [0, 2, 0, 1]
    assert values.tolist() == [[1990, "f"], [1991, "f"], [1991, "m"]]
    assert encode(frame, 4, names=["born"])[0].tolist() == [0, 1, 0, 1]
    with pytest.raises(InvalidInput, match="sensitive_features has no column 'race'; the clustering has race, sex"):
        encode(frame, 4, names=["race", "sex"])


def test_a_series_keeps_its_name_and_columns_without_names_stay_in_order():
    for column in (pd.Series(SEX, name="sex"), PolarsSeries(SEX)):
        assert column_names(column) == ["sex"]
        with pytest.raises(InvalidInput, match="no column 'race'"):
            encode(column, 4, names=["race"])
    assert encode(np.array(SEX), 4, names=["race"])[0].tolist() == [0, 1, 0, 0]
    with pytest.raises(InvalidInput, match="has 1 columns, and had 2 in fit"):
        encode(np.array(SEX), 4, names=["sex", "born"])


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([1, "x", 1, "x"], [1, "x"]),
        (["a", "a\0", "b", "a"], ["a", "a\0", "b"]),
        ([[2, "x"], [1, "x"], [1, "x"], [10, "y"]], [[1, "x"], [2, "x"], [10, "y"]]),
        (
            np.array([("f", 1), ("m", 0), ("f", 0), ("m", 0)], dtype=[("sex", "U1"), ("country", int)]),
            [["f", 0], ["f", 1], ["m", 0]],
        ),
        (
            pd.DataFrame([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]], columns=["c", "d"]),
            [list(pair) for pair in ("ax", "ay", "bx", "by")],
        ),
        (pd.Series([int, str, float, int], dtype=object), [float, int, str]),
        ([True, False, True, False], [False, True]),
        (pd.Categorical(["m", "s", "l", "s"], categories=["s", "m", "l", "xl"]), ["s", "m", "l"]),
        (pd.array([7, -2, 7, -2], dtype="Int64"), [-2, 7]),
        (pd.Series(["b", 1, "a", 2.0], dtype=object), [1, 2.0, "a", "b"]),
        (pd.Series([b"a", "a", (1, 2), True], dtype=object), [True, b"a", "a", (1, 2)]),
        (csr_array(np.array([[0, 2, 5, 0]]).T), [0, 2, 5]),
    ],
    ids=str,
)
def test_groups_are_the_values_in_a_fixed_order(rows, values):
    """Values that cannot be compared are sorted by type first."""
    assert encode(rows, 4)[1].tolist() == values
    assert encode(rows[::-1], 4)[1].tolist() == values


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (None, "sensitive_features is missing"),
        (["a", "b"], "2 rows, and there are 4 instances"),
        (["a", "a", "a", "a"], "only one group; fairness needs two"),
        ("sex", "sensitive_features is 'sex', a single value"),
        ([[1.0, "a"], [1.0, "b"], [float("nan"), "a"], [1.0, None]], "column 0: row 2"),
        (np.array(["2020-01-01", "NaT", "NaT", "2020-01-02"], dtype="datetime64[D]"), "row 1 (counting from 0) has no value"),
        ([["a", 0.5], ["a", 1.0], ["b", 2.0], ["b", 1.0]], "column 1: it holds fractions such as 0.5"),
        ([["a"], ["b", "c"], ["a"], ["b"]], "sensitive_features has rows of different lengths"),
        (np.zeros((4, 1, 1)), "sensitive_features has 3 dimensions"),
        (np.zeros((4, 0)), "sensitive_features has no column"),
        (pd.DataFrame([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]], columns=["c", "c"]), "has two columns of the name 'c'"),
        (pd.Series([{1}, {2}, {1}, {2}]), "column 0: it holds values such as {1}, which cannot be compared"),
    ],
    ids=str,
)
def test_bad_sensitive_features_are_refused_with_the_reason(column, message):
    for estimator in (ClusterletClustering(2), FRAC(2), MethodClustering("fair-flow", 2)):
        with pytest.raises(InvalidInput) as refused:
            estimator.fit([[0.0], [1.0], [2.0], [3.0]], sensitive_features=column)
        assert message in str(refused.value)


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
