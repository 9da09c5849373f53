"""Rows are matched by position, so pandas objects with different indexes are refused wherever two are passed together."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clusterlets
from clusterlets.errors import InvalidInput
from clusterlets.estimators import FRAC, ClusterletClustering, MethodClustering, deviation_scorer, plots
from clusterlets.metrics.gaps import assignment_gap
from clusterlets.tuning import tune

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 2)), columns=["a", "b"])
SEX = pd.Series(np.tile(["f", "m"], 20), name="sex")
LABELS = pd.Series(np.arange(40) % 3)
CALLS = {
    "ClusterletClustering": lambda X, sex, labels: ClusterletClustering(2).fit(X, sensitive_features=sex),
    "MethodClustering": lambda X, sex, labels: MethodClustering("random", 2).fit(X, sensitive_features=sex),
    "FRAC": lambda X, sex, labels: FRAC(2).fit(X, sensitive_features=sex),
    "fairness_report": lambda X, sex, labels: clusterlets.fairness_report(X, labels, sex),
    "cluster_composition": lambda X, sex, labels: clusterlets.cluster_composition(labels, sex),
    "plot_composition": lambda X, sex, labels: plots.plot_composition(labels, sex),
    "plot_projection": lambda X, sex, labels: plots.plot_projection(X, labels),
    "scorer": lambda X, sex, labels: deviation_scorer(
        make_pipeline(StandardScaler(), FRAC(2)).fit(X, frac__sensitive_features=sex.to_numpy()), X, sensitive_features=sex
    ),
    "tune": lambda X, sex, labels: tune(X, sensitive_features=sex, n_clusters=2, minutes=1e-9),
    "assignment_gap": lambda X, sex, labels: assignment_gap(X, sex, labels),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_different_index_is_refused(call):
    for index in (np.random.default_rng(1).permutation(40), np.arange(1, 41), [f"n{row}" for row in range(40)]):
        with pytest.raises(InvalidInput, match="have different indexes: row 0 "):
            CALLS[call](X, SEX.set_axis(index), LABELS.set_axis(range(39, -1, -1)))


def test_messages_show_numpy_numbers_as_plain_numbers():
    index = pd.MultiIndex.from_arrays([np.arange(7, 47), ["a"] * 40])
    with pytest.raises(InvalidInput) as refused:
        FRAC(2).fit(X, sensitive_features=SEX.set_axis(index))
    assert "row 0 (counting from 0) is 0 in X and (7, 'a') in sensitive_features" in str(refused.value)
    with pytest.raises(InvalidInput, match="n_clusters: 0; it must"):
        FRAC(np.int64(0)).fit(X, sensitive_features=SEX)


@pytest.mark.parametrize(
    ("table", "sex"),
    [
        (X.set_axis(range(7, 47)), SEX.set_axis(range(7, 47))),
        (X.set_axis([0] * 40), SEX.set_axis([0] * 40)),
        (X.set_axis(range(7, 47)), SEX.to_numpy()),
        (X.set_axis(range(7, 47)), SEX.tolist()),
        (X.set_axis(range(7, 47)), SEX.astype("category").array),
        (X.to_numpy(), SEX.set_axis(range(7, 47))),
    ],
)
def test_objects_with_equal_indexes_or_none_are_matched_by_position(table, sex):
    frac = FRAC(3, random_state=0)
    expected = frac.fit_predict(X, sensitive_features=SEX)
    assert np.array_equal(frac.fit_predict(table, sensitive_features=sex), expected)
