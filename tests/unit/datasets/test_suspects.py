"""Features that look like identifiers by name or value, or whose scale dwarfs that of the others."""

import numpy as np
import pytest

from clusterlets.datasets.suspects import identifiers, unlike_scales
from clusterlets.datasets.table import Table


def table(**columns):
    X = np.column_stack([np.asarray(values, dtype=float) for values in columns.values()])
    return Table(X, np.arange(len(X)) % 2, tuple(columns), ("a", "b"))


@pytest.mark.parametrize("name", ["id", "ID", "person_id", "id-number", "personId", "personID", "index", "uuid"])
def test_names_of_identifiers(name):
    assert identifiers(table(**{name: [1, 1, 2, 2]})) == {name: "its name"}


@pytest.mark.parametrize("name", ["paid", "humid", "idle", "body_mass_index", "video", "PAID", "width"])
def test_names_that_only_look_alike(name):
    assert identifiers(table(**{name: [1, 1, 2, 2]})) == {}


def test_values_of_identifiers():
    rng = np.random.default_rng(0)
    reasons = identifiers(
        table(
            number=rng.permutation(30) + 7,
            account=rng.permutation(30) * 3,
            age=np.arange(30) // 2,
            weight=rng.normal(size=30),
        )
    )
    assert reasons == {"number": "consecutive numbers", "account": "whole numbers that all differ"}
    assert identifiers(table(score=[3, 1, 2])) == {}  # too few rows to judge


def test_scales_that_differ_by_more_than_a_hundred_times():
    ones = np.array([0.0, 1.0, 0.0, 1.0])
    assert unlike_scales(table(a=ones, b=100 * ones, constant=0 * ones)) is None
    assert unlike_scales(table(a=ones, b=500 * ones, c=2 * ones)) == ("b", "a", pytest.approx(500))
