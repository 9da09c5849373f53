"""Scorers score the clusters that an estimator makes. In scikit-learn's searches they get the groups by metadata routing."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterlets import (
    FRAC,
    ClusterletClustering,
    FairFlow,
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
    expected = -fairness_report(X, fitted.memberships_, SEX)[name]
    assert scorer(fitted, X, sensitive_features=SEX) == scorer(fitted, X, SEX == "f", sensitive_features=SEX) == expected
    assert np.array_equal(fitted.labels_, labels)


def test_rows_that_were_not_fitted_are_clustered_anew_and_overlapping_clusters_have_no_price():
    fitted, rows = FRAC(4, random_state=0).fit(X[:50], sensitive_features=SEX[:50]), slice(50, 90)
    refitted = clone(fitted).fit(X[rows], sensitive_features=SEX[rows])
    expected = -fairness_report(X[rows], refitted.labels_, SEX[rows])["deviation_mean"]
    assert deviation_scorer(fitted, X[rows], sensitive_features=SEX[rows]) == expected
    overlapping = ClusterletClustering(9, matcher="D", hops=1, random_state=0).fit(X, sensitive_features=SEX)
    assert overlapping.memberships_.sum() > len(X) and np.isnan(price_scorer(overlapping, X, sensitive_features=SEX))
    score = deviation_scorer(overlapping, X, sensitive_features=SEX)
    assert score == -fairness_report(X, overlapping.memberships_, SEX)["deviation_mean"]


def test_an_estimator_whose_fit_takes_no_groups_is_scored_too():
    plain = KMeans(3, n_init=1, random_state=0).fit(X)
    assert deviation_scorer(plain, X, sensitive_features=SEX) == -fairness_report(X, plain.labels_, SEX)["deviation_mean"]


def test_a_search_gives_the_scores_of_reports_on_the_same_clusters(routing):
    deltas = [0.0, 0.3, 0.6, 0.9]
    flow = with_routed_groups(FairFlow(4, random_state=0))
    expected = []
    for delta in deltas:
        labels = clone(flow).set_params(delta=delta).fit(X, sensitive_features=SEX).labels_
        report = fairness_report(X, labels, SEX)
        expected.append((-report["deviation_mean"], -report["price_of_fairness"]))
    scoring = {"deviation": deviation_scorer, "price": price_scorer}
    search = GridSearchCV(flow, {"delta": deltas}, scoring=scoring, refit="deviation", cv=ONE_FOLD_OF_ALL_ROWS).fit(
        X, sensitive_features=SEX
    )
    scores = np.column_stack([search.cv_results_["mean_test_deviation"], search.cv_results_["mean_test_price"]])
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert search.best_params_["delta"] == deltas[int(np.argmax([deviation for deviation, _ in expected]))]
    assert len(set(scores[:, 0])) > 1 and len(set(scores[:, 1])) > 1


def test_a_search_over_folds_passes_each_fold_its_own_groups(routing):
    search = GridSearchCV(
        with_routed_groups(FRAC(random_state=0)), {"n_clusters": [2, 3]}, scoring=deviation_scorer, cv=KFold(3)
    )
    search.fit(X, sensitive_features=SEX)
    for fold, (_, test) in enumerate(KFold(3).split(X)):
        labels = FRAC(3, random_state=0).fit(X[test], sensitive_features=SEX[test]).labels_
        expected = -fairness_report(X[test], labels, SEX[test])["deviation_mean"]
        assert search.cv_results_[f"split{fold}_test_score"][1] == expected


def test_rows_are_scored_as_the_scaler_of_a_pipeline_transforms_them(routing):
    pipeline = make_pipeline(StandardScaler(), with_routed_groups(FRAC(random_state=0)))
    search = GridSearchCV(pipeline, {"frac__n_clusters": [2, 3]}, scoring=price_scorer, cv=ONE_FOLD_OF_ALL_ROWS, n_jobs=1)
    search.fit(X, sensitive_features=SEX)
    scaled = StandardScaler().fit_transform(X)
    for score, k in zip(search.cv_results_["mean_test_score"], [2, 3]):
        labels = FRAC(k, random_state=0).fit(scaled, sensitive_features=SEX).labels_
        assert score == pytest.approx(-fairness_report(scaled, labels, SEX)["price_of_fairness"])
    unscaled = Pipeline([("frac", with_routed_groups(FRAC(2, random_state=0)))]).fit(X, sensitive_features=SEX)
    assert deviation_scorer(unscaled, X, sensitive_features=SEX) == deviation_scorer(unscaled[-1], X, sensitive_features=SEX)


def test_groups_may_go_to_the_scorer_under_another_name(routing):
    """The estimator is fair to some groups, and the score is about others."""
    others = RNG.choice(["u", "v"], 90)
    scorer = deviation_scorer.set_score_request(sensitive_features="others")
    estimator = ClusterletClustering(3, random_state=0).set_fit_request(sensitive_features=True)
    both_columns = {"sensitive_features": SEX, "others": others}
    for scoring, groups in ((scorer, others), (deviation_scorer, SEX)):
        params = both_columns if scoring is scorer else {"sensitive_features": SEX}
        (score,) = cross_validate(estimator, X, scoring=scoring, cv=ONE_FOLD_OF_ALL_ROWS, params=params)["test_score"]
        assert score == pytest.approx(deviation_scorer(estimator, X, sensitive_features=groups))
    assert scorer.get_metadata_routing().score.requests == {"sensitive_features": "others"}  # not changed by the search
    assert deviation_scorer.get_metadata_routing().score.requests == {"sensitive_features": True}


def test_a_scorer_without_groups_says_how_a_search_passes_them(routing):
    fitted = FRAC(2, random_state=0).fit(X, sensitive_features=SEX)
    with pytest.raises(InvalidInput, match=r"deviation_scorer was given no .*set_fit_request\(sensitive_features=True\)"):
        deviation_scorer(fitted, X)
    groupless = price_scorer.set_score_request(sensitive_features=False)
    search = GridSearchCV(
        with_routed_groups(FRAC()), {"n_clusters": [2]}, scoring=groupless, cv=ONE_FOLD_OF_ALL_ROWS, error_score="raise"
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


GROUPS_MISSING = "sensitive_features is missing: pass the group of each instance by name"


@pytest.mark.parametrize("estimator", [FRAC(2), ClusterletClustering(2), FairFlow(2)])
def test_missing_groups_give_the_same_message_from_a_pipeline_and_a_search(estimator):
    pipeline = make_pipeline(StandardScaler(), estimator)
    for fit in (pipeline.fit, pipeline.fit_predict, estimator.fit_predict):
        with pytest.raises(InvalidInput, match=GROUPS_MISSING):
            fit(X)
    name = next(iter({"n_clusters", "n_clusterlets"} & set(estimator.get_params())))
    for cv_estimator, parameter in ((estimator, name), (pipeline, f"{type(estimator).__name__.lower()}__{name}")):
        search = GridSearchCV(
            cv_estimator, {parameter: [2]}, scoring=deviation_scorer, cv=ONE_FOLD_OF_ALL_ROWS, error_score="raise"
        )
        with pytest.raises(InvalidInput, match=GROUPS_MISSING):
            search.fit(X)
