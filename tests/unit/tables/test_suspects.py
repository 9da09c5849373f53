"""Features are suspect if they look like identifiers or postcodes, or if their scale is far larger than that of others."""

import numpy as np
import pytest

from clusterlets.tables.suspects import amounts_or_identifiers, giveaways, reason_not_a_feature, unlike_scales
from clusterlets.tables.table import Table


def table(**columns):
    X = np.column_stack([np.asarray(values, dtype=float) for values in columns.values()])
    return Table(X, np.arange(len(X)) % 2, tuple(columns), (("a",), ("b",)))


REPEATED = np.array([1.0, 1, 2, 2])  # values that are not suspect


@pytest.mark.parametrize("name", ["id", "ID", "person_id", "id-number", "personId", "personID", "index", "uuid", "row"])
def test_names_of_identifiers_are_recognised(name):
    assert reason_not_a_feature(name, REPEATED) == "an identifier, by its name"


@pytest.mark.parametrize("name", ["zip", "ZIP", "zip_code", "home_zip", "Postcode", "postal_code", "PLZ"])
def test_names_of_postcodes_are_recognised(name):
    assert reason_not_a_feature(name, REPEATED) == "a postcode, by its name"


@pytest.mark.parametrize("name", ["paid", "humid", "idle", "body_mass_index", "video", "PAID", "width", "zipper", "unzip"])
def test_a_name_that_merely_contains_id_index_or_zip_is_not_suspect(name):
    assert reason_not_a_feature(name, REPEATED) is None


@pytest.mark.parametrize("name", ["cluster", "Cluster", "clusters", "label", "labels", "km_cluster", "cluster 2", "cluster_1"])
def test_labels_of_another_clustering_are_recognised(name):
    assert reason_not_a_feature(name, REPEATED) == "labels of another clustering, by its name"


@pytest.mark.parametrize("name", ["cluster_size", "label_fee", "clustering", "labelled", "mislabel", "supercluster"])
def test_a_name_that_merely_begins_or_ends_like_a_label_is_not_suspect(name):
    assert reason_not_a_feature(name, REPEATED) is None


def test_values_of_identifiers_are_recognised():
    rng = np.random.default_rng(0)
    numbers = rng.permutation(100).astype(float)
    assert reason_not_a_feature("size", numbers + 7) == "whole numbers that hardly repeat"
    assert reason_not_a_feature("size", np.append(numbers * 3, np.nan)) == "whole numbers that hardly repeat"
    assert reason_not_a_feature("size", np.append(numbers * 2, 0)) == "whole numbers that hardly repeat"
    for values in (numbers // 2, rng.normal(size=100), numbers[:49]):  # 49 rows are too few to judge
        assert reason_not_a_feature("size", values) is None


def test_amounts_that_all_differ_are_no_identifiers_but_named():
    pay = np.random.default_rng(0).permutation(100) * 311.0 + 18_000
    assert reason_not_a_feature("pay", pay) is None and reason_not_a_feature("population", pay) is None
    for name in ("customer", "account no", "Phone", "case"):
        assert reason_not_a_feature(name, pay) == "whole numbers that hardly repeat"
    assert amounts_or_identifiers(table(pay=pay, half=pay / 2, age=pay % 40, few=pay * 0)) == ["pay"]


def test_features_whose_scales_differ_by_a_factor_above_100_are_named():
    values = np.array([0.0, 1.0, 0.0, 1.0])
    assert unlike_scales(table(a=values, b=100 * values, constant=0 * values)) is None
    assert unlike_scales(table(a=values, b=500 * values, c=2 * values)) == ("b", "a", pytest.approx(500))


def test_features_that_follow_from_the_sensitive_column_are_named():
    sex = ["f", "m", "d", "f", "m", "d"]
    columns = {
        "copy": [0, 1, 2, 0, 1, 2],
        "dummy": [1, 0, 0, 1, 0, 0],
        "constant": [5, 5, 5, 5, 5, 5],
        "nearly": [0, 1, 2, 0, 1, 1],
        "distinct": [0, 1, 2, 3, 4, 5],
    }
    table = Table(np.array(list(columns.values()), float).T, np.array([0, 1, 2] * 2), tuple(columns), (("f",), ("m",), ("d",)))
    assert giveaways(table, sex) == ["copy", "dummy"]


def test_features_from_which_the_sensitive_column_follows_are_named_if_their_values_repeat():
    arm = np.repeat([0.0, 1, 2, 3], 10)
    treated, rare = (arm > 0).astype(float), np.arange(40) == 0
    mixed = np.where(np.arange(40) == 39, 0, arm)  # one row of arm 3 counts as arm 0, which is not treated
    columns = (arm, np.arange(40.0), mixed, np.zeros(40))
    table = Table(np.column_stack(columns), treated.astype(int), ("arm", "distinct", "mixed", "constant"), (("0",), ("1",)))
    assert giveaways(table, treated) == ["arm"]
    assert giveaways(table, np.ones(40)) == giveaways(table, rare) == []
