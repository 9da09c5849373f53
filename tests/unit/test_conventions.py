"""The estimators follow scikit-learn's conventions: transform, score, inertia_, output names, weights, and error messages."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from clusterlets import FRAC, ClusterletClustering, FairLimit, fairness_report

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["age", "pay", "hours"])
SEX = RNG.choice(["f", "m"], 120)
MODELS = [FairLimit(3, max_deviation=0.1, random_state=0), FRAC(3, random_state=0), ClusterletClustering(4, random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_transform_score_and_inertia_follow_from_the_distances_to_the_centres(model):
    model.fit(X, sensitive_features=SEX)
    distances = cdist(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), distances)
    assert model.score(X) == pytest.approx(-(distances.min(axis=1) ** 2).sum())
    assert model.inertia_ == pytest.approx((distances[np.arange(120), model.labels_] ** 2).sum())
    report = fairness_report(X, model.labels_, SEX, cohesion=False, silhouette=False)
    assert model.inertia_ == pytest.approx(report["kmeans_cost"])
    np.testing.assert_allclose(model.fit_transform(X, sensitive_features=SEX), distances)


def test_transformed_columns_have_names_and_the_output_can_be_a_frame():
    model = FairLimit(3, max_deviation=0.1, random_state=0).set_output(transform="pandas")
    frame = model.fit(X, sensitive_features=SEX).transform(X)
    assert list(frame) == list(model.get_feature_names_out()) == ["fairlimit0", "fairlimit1", "fairlimit2"]
    assert frame.index.equals(X.index)
