"""The estimators follow scikit-learn's conventions: transform, score, inertia_, output names, weights, and error messages."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline

from clusterlets import FRAC, ClusterletClustering, FairLimit, InvalidInput, fairness_report, tune

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


def test_a_pipeline_transforms_with_its_last_step():
    pipeline = make_pipeline(FRAC(3, random_state=0)).fit(X, frac__sensitive_features=SEX)
    np.testing.assert_array_equal(pipeline.transform(X), pipeline[-1].transform(X))


def test_sample_weights_are_refused_unless_all_are_equal():
    model = FairLimit(3, max_deviation=0.1, random_state=0)
    with pytest.raises(InvalidInput, match="sample_weight: FairLimit cannot weight instances"):
        model.fit(X, sensitive_features=SEX, sample_weight=np.arange(120))
    labels = model.fit(X, sensitive_features=SEX, sample_weight=np.ones(120)).labels_
    assert (labels == model.fit(X, sensitive_features=SEX).labels_).all()


WITH_TEXT = X.assign(pay="nurse")


@pytest.mark.parametrize(
    ("table", "name"),
    [(WITH_TEXT, "'pay'"), (WITH_TEXT.to_numpy(), "1"), (WITH_TEXT.to_numpy().tolist(), "1")],
    ids=["frame", "array", "list"],
)
def test_the_error_for_a_column_of_text_names_the_column(table, name):
    saved = FairLimit(3, max_deviation=0.1, random_state=0).fit(X, sensitive_features=SEX).saved()
    for call in (
        lambda: FRAC(3).fit(table, sensitive_features=SEX),
        lambda: tune(table, sensitive_features=SEX, n_clusters=3),
        lambda: fairness_report(table, SEX, SEX),
        lambda: saved.assign(table, SEX),
    ):
        with pytest.raises(InvalidInput, match=f"X: column {name} holds the text 'nurse'"):
            call()
