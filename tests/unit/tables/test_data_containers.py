"""Every container at every entry point: a row for each case, with the value or the message that is expected."""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from clusterlets import FRAC, FairLimit, cluster_composition, fairness_report, repair, tune
from clusterlets.algorithms.checks import look_alikes
from clusterlets.errors import InvalidInput, LookAlikeGroups
from clusterlets.estimators import SavedClustering, deviation_scorer
from clusterlets.estimators.plots import plot_composition, plot_projection

N = 60
X = np.random.default_rng(0).normal(size=(N, 2))
LABELS = np.arange(N) % 3
SEX = ["f", "m"] * (N // 2)
FITTED = FairLimit(3, random_state=0).fit(X, sensitive_features=SEX)


def report(X, clustering, groups):
    return fairness_report(X, clustering, groups, cohesion=False, silhouette=False, reference_cost=1.0)


# What takes groups, as functions of the groups.
GROUPS_AT = {
    "fit": lambda groups: FRAC(3, random_state=0).fit(X, sensitive_features=groups),
    "fit with limits": lambda groups: FairLimit(3, random_state=0).fit(X, sensitive_features=groups),
    "report": lambda groups: report(X, LABELS, groups),
    "composition": lambda groups: cluster_composition(LABELS, groups),
    "plot": lambda groups: plot_composition(LABELS, groups),
    "scorer": lambda groups: deviation_scorer(FRAC(3, random_state=0), X, sensitive_features=groups),
    "tune": lambda groups: tune(X, sensitive_features=groups, n_clusters=3, minutes=0.001),
    "assign": lambda groups: SavedClustering.of(FITTED).assign(X, groups),
}
# What takes features, as functions of X.
FEATURES_AT = {
    "fit": lambda X: FRAC(3, random_state=0).fit(X, sensitive_features=SEX),
    "report": lambda X: report(X, LABELS, SEX),
    "plot": lambda X: plot_projection(X, LABELS),
    "tune": lambda X: tune(X, sensitive_features=SEX, n_clusters=3, minutes=0.001),
    "predict": FITTED.transform,
    "assign": lambda X: SavedClustering.of(FITTED).assign(X, SEX),
}

PAY = np.arange(N) + 0.5
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(day) for day in range(N)]
FRACTIONS, TOO_MANY, GAP = "holds fractions such as", "too many to be groups; bin", "has no value"
BAD_GROUPS = {
    "floats": (PAY, FRACTIONS),
    "Decimal": ([Decimal(str(pay)) for pay in PAY], FRACTIONS),
    "float categories": (pd.Categorical(PAY), FRACTIONS),
    "numbers as text": (PAY.astype(str), FRACTIONS),
    "Arrow in pandas": (pd.Series(PAY, dtype="float64[pyarrow]"), FRACTIONS),
    "Arrow": (pa.table({"pay": PAY}), FRACTIONS),
    "an Arrow dictionary": (pa.array(PAY).dictionary_encode(), FRACTIONS),
    "identifiers": (np.arange(N), TOO_MANY),
    "names": ([f"person {row}" for row in range(N)], TOO_MANY),
    "dates": (DAYS, TOO_MANY),
    "Arrow dates": (pa.array(DAYS), TOO_MANY),
    "NaN among text in NumPy": (np.array([*SEX[1:], np.nan]), GAP),
    "NaN as text in pandas": (pd.Series([*SEX[1:], np.nan]).astype(str), GAP),
    "NaN as a category": (pd.Categorical([*SEX[1:], "nan"]), GAP),
    "null in Arrow": (pa.array([*SEX[1:], None]), GAP),
    "NA in pandas": (pd.Series([*([0, 1] * 29), 1, pd.NA], dtype="Int64"), GAP),
    "a mask": (np.ma.array([0, 1] * 30, mask=[True] + [False] * 59), "masked values"),
    "complex numbers": (np.arange(N) % 2 * 1j, "complex numbers, which cannot be groups"),
}
GOOD_GROUPS = {
    "text": (SEX, ["f", "m"]),
    "one column of a matrix": (np.array(SEX)[:, None], ["f", "m"]),
    "a frame": (pd.DataFrame({"sex": SEX}), ["f", "m"]),
    "an Arrow table": (pa.table({"sex": SEX}), ["f", "m"]),
    "whole numbers as floats": ([1.0, 2.0] * 30, [1.0, 2.0]),
    "whole Decimals": ([Decimal(1), Decimal(2)] * 30, [1, 2]),
    "categories": (pd.Categorical(SEX, ["m", "f"]), ["m", "f"]),
    "Arrow": (pa.array(SEX), ["f", "m"]),
    "an Arrow dictionary": (pa.chunked_array([SEX]).dictionary_encode(), ["f", "m"]),
    "Booleans of pandas": (pd.Series([True, False] * 30, dtype="boolean"), [False, True]),
    "twenty groups in 60 rows": (np.arange(N) % 20, list(range(20))),
}

FRAME = {"age": X[:, 0], "pay": X[:, 1]}
NAMED_TEXT = r"column 'pay' holds the text 'a'\. Leave the column out"
TIME = "holds dates or times, such as"
MISSING = r"column 'pay' contains NaN: 1 row has no value, the first is row 1 \(counting from 0\)"
INFINITE = r"column 'pay' contains inf: 2 rows have an infinite number, the first is row 1 \(counting from 0\)\. Correct"
WITH_INFINITY = [1.0, np.inf, -np.inf] + [2.0] * 57
WITH_TEXT, WITH_GAP = FRAME | {"pay": ["a"] * N}, FRAME | {"pay": [1.0, None] + [2.0] * 58}
BAD_FEATURES = {
    "text in pandas": (pd.DataFrame(WITH_TEXT), NAMED_TEXT),
    "text in Arrow": (pa.table(WITH_TEXT), NAMED_TEXT),
    "categories in pandas": (pd.DataFrame(WITH_TEXT).astype({"pay": "category"}), NAMED_TEXT),
    "a dictionary in Arrow": (pa.table(FRAME | {"pay": pa.array(["a"] * N).dictionary_encode()}), NAMED_TEXT),
    "lists in Arrow": (pa.table(FRAME | {"pay": [[1]] * N}), r"column 'pay' holds \[1\], which is not a number"),
    "periods": (pd.DataFrame(FRAME | {"pay": pd.period_range("2020", periods=N)}), "column 'pay' holds 2020-01-01"),
    "dates alone": (pd.DataFrame({"a": pd.to_datetime(DAYS), "b": pd.to_datetime(DAYS)}), f"column 'a' {TIME} 2020-01-01"),
    "dates beside numbers": (pd.DataFrame(FRAME | {"pay": pd.to_datetime(DAYS)}), f"column 'pay' {TIME} 2020"),
    "dates with a zone": (pd.DataFrame(FRAME | {"pay": pd.to_datetime(DAYS).tz_localize("UTC")}), f"column 'pay' {TIME} 2020"),
    "durations": (pd.DataFrame(FRAME | {"pay": pd.to_timedelta(np.arange(N), "D")}), f"column 'pay' {TIME}"),
    "dates in Arrow": (pa.table(FRAME | {"pay": DAYS}), f"column 'pay' {TIME} 2020-01-01"),
    "dates in NumPy": (np.array([DAYS, DAYS], dtype="datetime64[D]").T, f"column 0 {TIME} 2020-01-01"),
    "a gap in pandas": (pd.DataFrame(WITH_GAP), MISSING),
    "NA in pandas": (pd.DataFrame(WITH_GAP).convert_dtypes(), MISSING),
    "null in Arrow": (pa.table(WITH_GAP), MISSING),
    "gaps in two columns": (pd.DataFrame(WITH_GAP | {"age": [None] * N}), f"column 'age' contains NaN: {N} rows .*; .* 'pay'"),
    "a gap in NumPy": (np.where(np.arange(2 * N).reshape(N, 2) == 3, np.nan, X), MISSING.replace("'pay'", "1")),
    "a gap among objects": (np.where(np.arange(2 * N).reshape(N, 2) == 3, None, X), MISSING.replace("'pay'", "1")),
    "infinity in pandas": (pd.DataFrame(FRAME | {"pay": WITH_INFINITY}), INFINITE),
    "infinity as an object": (pd.DataFrame(FRAME | {"pay": WITH_INFINITY}, dtype=object), INFINITE),
    "infinity in Arrow": (pa.table(FRAME | {"pay": WITH_INFINITY}), INFINITE),
    "infinity in NumPy": (np.column_stack([PAY, WITH_INFINITY]), INFINITE.replace("'pay'", "1")),
    "a mask": (np.ma.array(X, mask=X > 2), "X has masked values"),
}
GOOD_FEATURES = {
    "pandas": pd.DataFrame(FRAME),
    "Arrow in pandas": pd.DataFrame(FRAME).convert_dtypes(dtype_backend="pyarrow"),
    "Arrow": pa.table(FRAME),
    "Decimals": X.astype(object),
    "an empty mask": np.ma.array(X),
    "a list": X.tolist(),
}


def cases(bad, entries, first):
    """Every case at the first entry, and two at each other entry, because all entries call the same function."""
    two = [next(case for case in bad if "Arrow" in case), next(case for case in bad if "pandas" in case)]
    return [*((case, first) for case in bad), *((case, entry) for entry in entries if entry != first for case in two)]


@pytest.mark.parametrize(("case", "entry"), cases(BAD_GROUPS, GROUPS_AT, "composition"))
def test_values_that_cannot_be_groups_are_refused(case, entry):
    groups, message = BAD_GROUPS[case]
    with pytest.raises(InvalidInput, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # assign mentions groups that are new
        GROUPS_AT[entry](groups)


@pytest.mark.parametrize("case", GOOD_GROUPS)
def test_groups_are_the_values_in_any_container(case):
    groups, values = GOOD_GROUPS[case]
    assert report(X, LABELS, groups).composition.groups == values
    assert FRAC(3, random_state=0).fit(X, sensitive_features=groups).sensitive_classes_.tolist() == values


@pytest.mark.parametrize(("case", "entry"), cases(BAD_FEATURES, FEATURES_AT, "predict"))
def test_columns_that_are_no_features_are_refused_by_name(case, entry):
    features, message = BAD_FEATURES[case]
    with pytest.raises(InvalidInput, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that the fit did not have
        FEATURES_AT[entry](features)


@pytest.mark.parametrize("entry", ["fit", "predict", "repair"])
def test_a_column_of_numbers_that_are_too_large_is_named(entry):
    entries = FEATURES_AT | {"repair": lambda X: repair(X, LABELS, sensitive_features=SEX)}
    with pytest.raises(InvalidInput, match="feature 'pay' holds 1e[+]101"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that the fit did not have
        entries[entry](pd.DataFrame(FRAME | {"pay": [1e101] * N}))


@pytest.mark.parametrize("case", GOOD_FEATURES)
def test_features_are_the_same_in_any_container(case):
    features = GOOD_FEATURES[case]
    fitted = FRAC(3, random_state=0).fit(features, sensitive_features=SEX)
    expected = FRAC(3, random_state=0).fit(X, sensitive_features=SEX)
    assert fitted.labels_.tolist() == expected.labels_.tolist()
    has_names = not isinstance(features, (np.ndarray, list))
    assert report(features, LABELS, SEX).profiles.names == (["age", "pay"] if has_names else ["feature 0", "feature 1"])
    assert hasattr(fitted, "feature_names_in_") or not isinstance(features, pd.DataFrame | pa.Table)
    assert fitted.transform(features).tolist() == expected.transform(X).tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["F", "f", "m"], "'F' and 'f'"),
        (["Zoe\u0301", "Zo\u00e9"], r"'Zoe\u0301' and 'Zo\xe9'"),
        ([1, "1"], "1 and '1'"),
        (["01", "1", "1.0", "2"], "'01' and '1' and '1.0'"),
        (["f", "f ", "m"], "'f' and 'f '"),
        (["A b", "X", "a  b", "x"], "'A b' and 'a  b'; 'X' and 'x'"),
        (["f", "m", 1, 2, "1_0", "10"], ""),
    ],
)
def test_groups_that_look_alike_are_named_in_one_warning(values, expected):
    assert expected in look_alikes(values) and bool(look_alikes(values)) == bool(expected)
    groups = (values * N)[:N]
    for entry in ("fit", "report", "composition"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            GROUPS_AT[entry](groups)
        alike = [str(warning.message) for warning in caught if warning.category is LookAlikeGroups]
        assert len(alike) == bool(expected) and all(expected in message for message in alike)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(N, np.nan), "sample_weight contains NaN"),
        (np.ones(N - 1), r"sample_weight has the shape \(59,\)"),
        (np.ones((N, 2)), r"sample_weight has the shape \(60, 2\)"),
        (np.zeros(N), "cannot weight instances"),
        (-np.ones(N), "Negative values in data passed to sample_weight"),
        (np.arange(N), "cannot weight instances"),
        (["a"] * N, "could not convert string to float"),
        (np.ma.array(np.ones(N), mask=np.arange(N) < 3), "sample_weight has masked values"),
    ],
)
def test_sample_weights_are_checked_and_must_be_equal(weights, message):
    with pytest.raises(ValueError, match=message):
        FRAC(3).fit(X, sensitive_features=SEX, sample_weight=weights)
    FRAC(3).fit(X, sensitive_features=SEX, sample_weight=np.full(N, 2))


@pytest.mark.parametrize(
    "labels",
    [
        LABELS.astype(float),
        LABELS.astype(object),
        pd.Series(LABELS, dtype="Int64"),
        pd.Categorical(LABELS),
        pa.array(LABELS),
        LABELS.tolist(),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_labels_are_whole_numbers_of_any_type(labels):
    assert str(report(X, labels, SEX)) == str(report(X, LABELS, SEX))
