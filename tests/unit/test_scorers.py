"""Scorers score the clusters of an estimator. In scikit-learn's searches, metadata routing passes them the groups."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterlets import (
    FRAC,
    ClusterletClustering,
    FairFlow,
    FairLimit,
    InvalidInput,
    deviation_scorer,
    fairness_report,
    largest_deviation_scorer,
    price_scorer,
)

RNG = np.random.default_rng(0)
SEX = RNG.choice(["f", "m"], 90, p=[0.4, 0.6])
X = RNG.normal(size=(90, 2)) * [1, 1000] + np.where(SEX == "f", 1, 0)[:, None] * [1.5, 0]
ONE_FOLD_OF_ALL_ROWS = [(np.arange(90), np.arange(90))]


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def with_routed_groups(estimator):
    return estimator.set_fit_request(sensitive_features=True)


def negative_score(name, X, clustering, sex):
    """Minus a score of the fairness report, because scikit-learn prefers high scores."""
    return -fairness_report(X, clustering, sex)[name]


@pytest.mark.parametrize(
    "scorer, name",
    [(deviation_scorer, "deviation_mean"), (largest_deviation_scorer, "deviation_max"), (price_scorer, "price_of_fairness")],
)
@pytest.mark.parametrize(
    "estimator", [FRAC(4, random_state=0), FairFlow(3, delta=0.2, random_state=0), ClusterletClustering(3, random_state=1)]
)
def test_the_clusters_of_the_fit_are_scored_if_the_rows_are_those_of_the_fit(scorer, name, estimator):
    fitted = estimator.fit(X, sensitive_features=SEX)
    labels = fitted.labels_.copy()
    expected = negative_score(name, X, fitted.memberships_, SEX)
    y = SEX == "f"  # y is ignored
    assert scorer(fitted, X, sensitive_features=SEX) == scorer(fitted, X, y, sensitive_features=SEX) == expected
    assert np.array_equal(fitted.labels_, labels)


def test_rows_other_than_those_of_the_fit_are_clustered_by_a_new_fit():
    fitted = FRAC(4, random_state=0).fit(X[:50], sensitive_features=SEX[:50])
    refitted = clone(fitted).fit(X[50:], sensitive_features=SEX[50:])
    expected = negative_score("deviation_mean", X[50:], refitted.labels_, SEX[50:])
    assert deviation_scorer(fitted, X[50:], sensitive_features=SEX[50:]) == expected


def test_overlapping_clusters_have_a_deviation_but_no_price():
    fitted = ClusterletClustering(9, matcher="D", hops=1, random_state=0).fit(X, sensitive_features=SEX)
    assert fitted.memberships_.sum() > len(X)
    expected = negative_score("deviation_mean", X, fitted.memberships_, SEX)
    assert deviation_scorer(fitted, X, sensitive_features=SEX) == expected
    assert np.isnan(price_scorer(fitted, X, sensitive_features=SEX))


def test_an_estimator_whose_fit_takes_no_groups_is_scored_too():
    plain = KMeans(3, n_init=1, random_state=0).fit(X)
    expected = negative_score("deviation_mean", X, plain.labels_, SEX)
    assert deviation_scorer(plain, X, sensitive_features=SEX) == expected


def test_a_search_over_folds_passes_each_fold_its_own_groups(routing):
    search = GridSearchCV(
        with_routed_groups(FRAC(random_state=0)), {"n_clusters": [2, 3]}, scoring=deviation_scorer, cv=KFold(3)
    )
    search.fit(X, sensitive_features=SEX)
    for fold, (_, test) in enumerate(KFold(3).split(X)):
        labels = FRAC(3, random_state=0).fit(X[test], sensitive_features=SEX[test]).labels_
        expected = negative_score("deviation_mean", X[test], labels, SEX[test])
        assert search.cv_results_[f"split{fold}_test_score"][1] == expected


def test_rows_are_scored_as_the_scaler_of_a_pipeline_transforms_them(routing):
    pipeline = make_pipeline(StandardScaler(), with_routed_groups(FRAC(random_state=0)))
    search = GridSearchCV(pipeline, {"frac__n_clusters": [2, 3]}, scoring=price_scorer, cv=ONE_FOLD_OF_ALL_ROWS, n_jobs=1)
    search.fit(X, sensitive_features=SEX)
    scaled = StandardScaler().fit_transform(X)
    for score, k in zip(search.cv_results_["mean_test_score"], [2, 3]):
        labels = FRAC(k, random_state=0).fit(scaled, sensitive_features=SEX).labels_
        assert score == pytest.approx(negative_score("price_of_fairness", scaled, labels, SEX))


def test_a_search_can_pass_the_scorer_its_groups_under_another_name(routing):
    """The scorer also clusters by these groups, not by those of the fit."""
    other_groups = RNG.choice(["u", "v"], 90)
    scorer = deviation_scorer.set_score_request(sensitive_features="others")
    estimator = with_routed_groups(ClusterletClustering(3, random_state=0))
    params = {"sensitive_features": SEX, "others": other_groups}
    (score,) = cross_validate(estimator, X, scoring=scorer, cv=ONE_FOLD_OF_ALL_ROWS, params=params)["test_score"]
    fitted = estimator.fit(X, sensitive_features=other_groups)
    assert score == pytest.approx(negative_score("deviation_mean", X, fitted.memberships_, other_groups))
    assert scorer.get_metadata_routing().score.requests == {"sensitive_features": "others"}
    assert deviation_scorer.get_metadata_routing().score.requests == {"sensitive_features": True}


def test_a_scorer_without_groups_is_refused_by_an_error_that_says_how_a_search_passes_them(routing):
    fitted = FRAC(2, random_state=0).fit(X, sensitive_features=SEX)
    with pytest.raises(InvalidInput, match=r"deviation_scorer was given no .*set_fit_request\(sensitive_features=True\)"):
        deviation_scorer(fitted, X)
    scorer = price_scorer.set_score_request(sensitive_features=False)
    search = GridSearchCV(
        with_routed_groups(FRAC()), {"n_clusters": [2]}, scoring=scorer, cv=ONE_FOLD_OF_ALL_ROWS, error_score="raise"
    )
    with pytest.raises(InvalidInput, match="price_scorer was given no"):
        search.fit(X, sensitive_features=SEX)


def test_a_search_without_routing_gets_an_error_that_says_how_to_enable_it():
    search = GridSearchCV(
        FRAC(random_state=0), {"n_clusters": [2]}, scoring=deviation_scorer, cv=ONE_FOLD_OF_ALL_ROWS, error_score="raise"
    )
    with pytest.raises(InvalidInput, match="enable_metadata_routing=True"):
        search.fit(X, sensitive_features=SEX)


def test_a_scorer_can_be_pickled():
    fitted = FRAC(2, random_state=0).fit(X, sensitive_features=SEX)
    unpickled = pickle.loads(pickle.dumps(price_scorer))
    assert unpickled(fitted, X, sensitive_features=SEX) == price_scorer(fitted, X, sensitive_features=SEX)


@pytest.mark.parametrize("scoring", [None, largest_deviation_scorer])
def test_a_pipeline_is_validated_with_groups_alone_and_with_weights(routing, scoring):
    pipeline = make_pipeline(StandardScaler(), with_routed_groups(FairLimit(2, max_deviation=0.2, random_state=0)))
    settings = {"cv": KFold(3), "scoring": scoring, "return_estimator": True, "error_score": "raise"}
    result = cross_validate(pipeline, X, params={"sensitive_features": SEX}, **settings)
    if scoring is None:
        test_rows = [rows for _, rows in KFold(3).split(X)]
        expected = [model.score(X[rows]) for model, rows in zip(result["estimator"], test_rows, strict=True)]
        assert result["test_score"].tolist() == expected


def test_a_score_weights_rows_and_scorers_refuse_weights_that_differ():
    model = FRAC(3, random_state=0).fit(X, sensitive_features=SEX)
    weights = np.arange(90.0)
    squares = model.transform(X).min(axis=1) ** 2
    assert model.score(X, sample_weight=weights) == pytest.approx(-(weights * squares).sum())
    assert model.score(X, None, np.ones(90)) == model.score(X) == pytest.approx(-squares.sum())
    for wrong in (np.ones(3), -weights, np.ma.array(weights, mask=weights > 3)):
        with pytest.raises(ValueError, match="sample_weight"):
            model.score(X, sample_weight=wrong)
    assert deviation_scorer(model, X, None, np.ones(90), sensitive_features=SEX) == deviation_scorer(
        model, X, sensitive_features=SEX
    )
    with pytest.raises(InvalidInput, match="sample_weight: deviation_scorer cannot weight instances"):
        deviation_scorer(model, X, None, weights, sensitive_features=SEX)
