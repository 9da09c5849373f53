"""Groups by sensitive attributes: the rows stay the same, and features that reveal the groups are removed."""

import numpy as np
import pytest

from clusterlets.benchmark import datasets
from clusterlets.errors import ClusterletsError
from clusterlets.tables.table import BadData, Table, table_of_groups

# For each dataset and attribute: counts of its values, taken from the raw file, and the features that reveal it.
REAL_GROUPS = {
    ("adult", "sex"): ({"Female": 16192, "Male": 32650}, {"is_male"}),
    ("adult", "race"): (
        {"Amer-Indian-Eskimo": 470, "Asian-Pac-Islander": 1519, "Black": 4685, "Other": 406, "White": 41762},
        set(),
    ),
    ("adult", "age_group"): ({"24 or less": 8432, "25 to 59": 36355, "60 or more": 4055}, {"age"}),
    ("bank", "marital"): ({"divorced": 5207, "married": 27214, "single": 12790}, set()),
    ("bank", "age_group"): ({"24 or less": 809, "25 to 59": 42618, "60 or more": 1784}, {"age"}),
    ("compas", "sex"): ({"Female": 944, "Male": 3590}, {"is_male"}),
    ("compas", "race"): (
        {"African-American": 2169, "Asian": 27, "Caucasian": 1638, "Hispanic": 424, "Native American": 10, "Other": 266},
        set(),
    ),
    ("compas", "age_cat"): ({"25 - 45": 2577, "Greater than 45": 1108, "Less than 25": 849}, {"age"}),
    ("credit", "A1"): ({"0": 222, "1": 468}, {"A1"}),
    ("heart_failure", "sex"): ({"man": 194, "woman": 105}, {"sex"}),
    ("heart_failure", "age_group"): ({"25 to 59": 129, "60 or more": 170}, {"age"}),
    ("pima", "age_group"): ({"24 or less": 219, "25 to 59": 517, "60 or more": 32}, {"Age"}),
    ("speeddating", "gender"): ({"female": 531, "male": 517}, {"is_male"}),
    ("speeddating", "race"): (
        {
            "Asian/Pacific Islander/Asian-American": 205,
            "Black/African American": 39,
            "European/Caucasian-American": 636,
            "Latino/Hispanic American": 84,
            "Other": 84,
        },
        {"samerace"},
    ),
}


@pytest.mark.parametrize("name, attribute", REAL_GROUPS)
def test_a_sensitive_attribute_can_define_the_groups(name, attribute, prepared):
    table = prepared(name)
    regrouped = datasets.with_sensitive(name, table, [attribute])
    groups, removed = REAL_GROUPS[name, attribute]
    assert dict(zip(regrouped.group_names, regrouped.group_counts.tolist(), strict=True)) == groups
    assert set(table.feature_names) - set(regrouped.feature_names) == removed
    is_kept = [feature in regrouped.feature_names for feature in table.feature_names]
    assert np.array_equal(regrouped.X, table.X[:, is_kept])


def test_every_declared_attribute_is_tested_or_at_least_prepared(prepared):
    attributes = {name: list(datasets.sensitive_attributes(name)) for name in datasets.names()}
    assert attributes.pop("nbfi") == ["Client_Gender", "Client_Marital_Status"]
    for name in {name for name, _ in REAL_GROUPS}:
        assert attributes[name] == [attribute for tested, attribute in REAL_GROUPS if tested == name]
    for name in filter(attributes.get, attributes):
        assert list(prepared(name).sensitive) == attributes[name]


def test_a_combination_drops_the_features_that_reveal_any_of_its_parts(prepared):
    table = prepared("heart_failure")
    regrouped = datasets.with_sensitive("heart_failure", table, ["sex", "age_group"])
    sex, age = table.X[:, table.feature_names.index("sex")], table.X[:, table.feature_names.index("age")]
    names = ("man + 25 to 59", "man + 60 or more", "woman + 25 to 59", "woman + 60 or more")
    assert regrouped.group_names == names and {"sex", "age"}.isdisjoint(regrouped.feature_names)
    assert np.array_equal(regrouped.groups, 2 * (sex == 0) + (age >= 60))


def test_the_class_may_be_part_of_a_combination(prepared):
    regrouped = datasets.with_sensitive("heart_failure", prepared("heart_failure"), ["class", "sex"])
    assert regrouped.group_names == ("0 + man", "0 + woman", "1 + man", "1 + woman")
    assert regrouped.group_counts.tolist() == [132, 71, 62, 34]


def test_rows_without_a_sensitive_value_are_left_out(monkeypatch):
    table = Table(
        np.arange(8.0).reshape(4, 2),
        np.array([0, 1, 0, 1]),
        ("a", "is_b"),
        (("no",), ("yes",)),
        {"b": np.array(["x", "", "y", "x"], dtype=object)},
    )
    monkeypatch.setattr(datasets, "sensitive_attributes", lambda name: {"b": ("is_b",)})
    regrouped = datasets.with_sensitive("toy", table, ["b"])
    assert regrouped.X.tolist() == [[0], [4], [6]] and regrouped.groups.tolist() == [0, 1, 0]
    assert regrouped.feature_names == ("a",) and regrouped.group_names == ("x", "y")


def test_groups_are_sorted_with_numbers_first_and_in_numeric_order():
    labels = np.array(["10", "9", "nan", "9", "ä", "Z"], dtype=object)
    regrouped = table_of_groups(np.zeros((6, 1)), ("a",), [labels])
    assert regrouped.group_names == ("9", "10", "Z", "nan", "ä")
    assert np.array(regrouped.group_names)[regrouped.groups].tolist() == labels.tolist()


def test_a_value_may_hold_the_sign_between_values_in_names():
    skills = np.array(["R + SQL", "R + Java", "C + SQL", "C + Java"] * 2, dtype=object)
    assert table_of_groups(np.zeros((8, 1)), ("a",), [skills]).group_values == (
        ("C + Java",),
        ("C + SQL",),
        ("R + Java",),
        ("R + SQL",),
    )
    columns = [np.array(["a + b", "a", "a"], dtype=object), np.array(["c", "b + c", "b + c"], dtype=object)]
    table = table_of_groups(np.zeros((3, 1)), ("a",), columns)
    assert table.group_values == (("a", "b + c"), ("a + b", "c")) and table.groups.tolist() == [1, 0, 0]
    assert table.group_names == ("'a' + 'b + c'", "'a + b' + 'c'")  # the plain names would be the same


@pytest.mark.parametrize(
    "labels, message",
    [
        ([["x", "x", "x"]], "every row has the same group, 'x'"),
        ([["", "", ""]], "every row has the same group; fairness"),
        ([["x", "y", "z"]], "every row has a different group"),
    ],
)
def test_impossible_groups_are_refused(labels, message):
    with pytest.raises(BadData, match=message):
        table_of_groups(np.zeros((len(labels[0]), 1)), ("a",), [np.array(column, dtype=object) for column in labels])


def test_an_unknown_sensitive_column_is_refused_and_the_known_ones_are_listed():
    with pytest.raises(ClusterletsError, match=r"adult has no sensitive column 'sexx' \(did you mean 'sex'\?\); it has: class"):
        datasets.check_sensitive("adult", ["race", "sexx"])
    with pytest.raises(ClusterletsError, match="iris has no sensitive column 'sex'; it has: class"):
        datasets.check_sensitive("iris", ["sex"])
