"""The estimators pass scikit-learn's checks, agree with the functions that they call, and refuse bad input."""

import ast
import doctest
import inspect
import pickle
import re
import warnings
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature

import numpy as np
import pandas as pd
import pytest
from named_estimators import NAMED
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import silhouette_score
from sklearn.utils.estimator_checks import check_estimator

from clusterlets import methods
from clusterlets.algorithms import row_samples
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac, frac_oe
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions
from clusterlets.algorithms.scaff_tree import scaff_tree
from clusterlets.estimators import (
    FRAC,
    FRACOE,
    ClusterletClustering,
    FairFlow,
    FairLimit,
    InvalidInput,
    MethodClustering,
    ScaffTree,
    TreeFairlets,
    cluster_composition,
    fairness_report,
)
from clusterlets.estimators.inputs import as_python
from clusterlets.estimators.memberships import nearest_own_cluster
from clusterlets.methods.interface.registry import by_parameter


class AlternatingGroups:
    """Puts the rows into two groups in turn if ``fit`` gets no groups, as in scikit-learn's checks."""

    def fit(self, X, y=None, *, sensitive_features=None):
        if sensitive_features is None:
            n_rows = X.shape[0] if hasattr(X, "shape") and X.shape else np.asarray(X).shape[0]
            sensitive_features = np.arange(n_rows) % 2
        return super().fit(X, y, sensitive_features=sensitive_features)


def with_alternating_groups(base):
    name = f"Checked{base.__name__}"
    subclass = type(
        name, (AlternatingGroups, base), {"__module__": __name__, "__doc__": f"`{base.__name__}` with alternating groups."}
    )
    return globals().setdefault(name, subclass)  # in this module, because the checks pickle it


ESTIMATORS = sorted(NAMED.values(), key=lambda estimator: estimator.__name__)
# Fewer evaluations and starts are faster. A deviation of 1 allows every clustering, also of the ten rows that some checks have.
CHECK_SETTINGS = {"n_evaluations": 20, "max_deviation": 1, "n_init": 1}
EXPECTED_FAILURES = {
    "check_transformer_n_iter": "it requires n_iter_ of every estimator with max_iter, but the method reports no iterations",
}


def checked_estimators():
    """Pairs of an estimator and the checks that it cannot pass, with the reason."""
    clusterlets = with_alternating_groups(ClusterletClustering)
    yield clusterlets(), {}
    for matcher in methods.matchers():
        yield clusterlets(3, matcher=matcher, **({"sample_size": 300} if matcher == "C" else {"hops": 1})), {}
    for estimator in ESTIMATORS:
        method = estimator._method_class
        settings = {name: value for name, value in CHECK_SETTINGS.items() if name in method.parameters}
        has_n_iter = "n_iter_ : int" in estimator.__doc__
        expected_failures = EXPECTED_FAILURES if "max_iter" in method.parameters and not has_n_iter else {}
        for output in [{"output": name} for name in method.outputs] or [{}]:
            yield with_alternating_groups(estimator)(3, **settings, **output), expected_failures


# Each base with a `fit` of its own, and one that fails a check as expected, in the fast tests; the others take a minute.
FAST = (
    "CheckedClusterletClustering()",
    "CheckedFairLimit(max_deviation=1, n_clusters=3, n_init=1)",
    "CheckedFairLloyd(n_clusters=3)",
)
CHECKED = [
    pytest.param(estimator, failures, id=repr(estimator), marks=[] if repr(estimator) in FAST else pytest.mark.slow)
    for estimator, failures in checked_estimators()
]


def test_each_estimator_that_the_fast_tests_name_is_checked():
    assert [param.id for param in CHECKED if not param.marks] == list(FAST)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # for tables with few distinct rows
@pytest.mark.filterwarnings("ignore:n_clusters=. overrides")  # the checks always set n_clusters
@pytest.mark.parametrize(("estimator", "expected_failures"), CHECKED)
def test_scikit_learns_checks_pass_except_the_expected_failures(estimator, expected_failures):
    results = check_estimator(estimator, expected_failed_checks=expected_failures, on_fail=None, on_skip=None)
    assert len(results) > 40  # the checks did run
    wrong = [result for result in results if result["status"] not in ("passed", "xfail")]
    # Newer versions skip this one unless an environment variable is set.
    assert {result["check_name"] for result in wrong} <= {"check_array_api_input"}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected_failures)


@pytest.fixture(scope="module")
def people():
    """Features of 240 people in three towns, their sex, and a random one of three groups for each."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 2)) + np.repeat([[0, 0], [8, 0], [0, 8]], 80, axis=0)
    sex = np.where(rng.random(240) < 0.3, "female", "male")
    return X, sex, rng.integers(3, size=240)


def codes(values):
    """The position of each value among the sorted distinct values."""
    return np.unique(values, return_inverse=True)[1]


def labels_of_method(method, X, sex, seed, **parameters):
    """Labels of four clusters from the method itself. They are numbered without gaps, as an estimator's labels are."""
    result = method.fit(X, codes(sex), 4, np.random.default_rng(seed), **parameters)
    return codes(result[method.outputs[0]] if method.outputs else result)


MATCHERS = [(matcher, {"hops": 3}) for matcher in methods.matchers() if matcher != "C"]
MATCHERS += [("C", {"omega": 0.25, "sample_size": 2000}), ("B", {"hops": 3, "scope": "cluster"})]


@pytest.mark.parametrize(("matcher", "settings"), MATCHERS)
def test_clusterlet_clustering_agrees_with_the_functions_that_it_calls(people, matcher, settings):
    X, sex, _ = people
    fitted = ClusterletClustering(6, matcher=matcher, random_state=11, **settings)
    assert fitted.fit(X, sensitive_features=sex) is fitted

    rng = np.random.default_rng(11)
    clusterlets = extract_clusterlets(X, codes(sex), 6, rng)
    if matcher == "C":
        expected = match_centroid(sample_partitions(clusterlets, 2000, rng), 0.25)
    else:
        expected = methods.get(matcher)().match(clusterlets, rng, **settings)

    assert np.array_equal(fitted.matching_, expected)
    assert np.array_equal(fitted.clusterlets_.labels, clusterlets.labels)
    assert fitted.n_clusters_ == len(expected) == len(fitted.cluster_centers_)
    assert isinstance(fitted.memberships_, csr_array)
    assert fitted.memberships_.dtype == bool
    memberships = expected.T[clusterlets.labels]
    assert np.array_equal(fitted.memberships_.toarray(), memberships)
    means = [X[members].mean(axis=0) for members in memberships.T]
    np.testing.assert_allclose(fitted.cluster_centers_, means, rtol=1e-12, atol=1e-12)
    distances = np.where(memberships, cdist(X, means), np.inf)
    assert np.array_equal(fitted.labels_, distances.argmin(axis=1))
    assert (memberships.sum(axis=1) > 1).any() == (matcher in ("D", "B"))


@pytest.mark.parametrize(("estimator", "function"), [(FRAC, frac), (FRACOE, frac_oe)])
def test_the_nearest_labels_of_frac_agree_with_the_function(people, estimator, function):
    X, sex, _ = people
    fitted = estimator(5, output="nearest", tau=0.1, random_state=4).fit(X, sensitive_features=sex)
    expected = function(X, codes(sex), 5, np.random.default_rng(4), tau=0.1)
    assert np.array_equal(fitted.labels_, expected.labels_nearest)
    assert fitted.n_iter_ == expected.n_iter
    np.testing.assert_allclose(fitted.cluster_centers_, expected.centres, rtol=1e-12)


def test_empty_clusters_of_frac_are_dropped_and_prediction_agrees_with_the_labels():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [10.0], [10.0]])
    with pytest.warns(ConvergenceWarning, match="FRAC found 2 clusters instead of n_clusters=4"):
        fitted = FRAC(4, output="nearest", random_state=0).fit(X, sensitive_features=[0, 1, 0, 1, 0, 1])
    assert fitted.n_clusters_ == len(fitted.cluster_centers_) == fitted.labels_.max() + 1 < 4
    assert np.array_equal(fitted.predict(X), fitted.labels_)


def test_a_row_in_two_equally_near_clusters_gets_the_label_of_the_first():
    in_both = csr_array(np.ones((1, 2), dtype=bool))
    assert nearest_own_cluster(np.zeros((1, 1)), in_both, np.array([[1.0], [-1.0]])).tolist() == [0]


def test_new_points_go_to_the_nearest_centre_among_the_clusters_of_the_nearest_clusterlet(people):
    X, sex, _ = people
    points = np.random.default_rng(8).uniform(-3, 10, size=(50, 2))
    for matcher in ("G-B", "D"):
        fitted = ClusterletClustering(5, matcher=matcher, random_state=2).fit(X, sensitive_features=sex)
        nearest = cdist(points, fitted.clusterlets_.centroids).argmin(axis=1)
        distances = np.where(fitted.matching_.T[nearest], cdist(points, fitted.cluster_centers_), np.inf)
        assert np.array_equal(fitted.predict(points), distances.argmin(axis=1))


def documented_defaults(estimator):
    """The default of each parameter in an estimator's docstring."""
    section = inspect.getdoc(estimator).partition("Parameters\n")[2].partition("Attributes\n")[0]
    return {
        name: ast.literal_eval(default) for name, default in re.findall(r"^(\w+) : .*, default=(.+)$", section, re.MULTILINE)
    }


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_has_the_name_and_the_parameters_of_its_method_and_documents_them(estimator):
    method, parameters = estimator._method_class, signature(estimator).parameters
    assert methods.get(method.name) is method and estimator.__name__ == method.__name__
    expected = {"n_clusters": 8, **{name: parameter.default for name, parameter in method.parameters.items()}}
    expected |= {"output": method.outputs[0]} if method.outputs else {}
    expected["random_state"] = None
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert list(defaults.items()) == list(expected.items())
    assert list(documented_defaults(estimator).items()) == list(expected.items())
    assert [name for name in parameters if parameters[name].kind is not Parameter.KEYWORD_ONLY] == ["n_clusters"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        estimator(k=3)


def test_clusterlet_clustering_has_the_parameters_of_all_matchers_and_documents_them():
    matchers = by_parameter(methods.get(name) for name in methods.matchers())
    expected = {"n_clusterlets": 10, "n_clusters": None, "matcher": "G-B"}
    for name, owners in matchers.items():
        defaults_of_owners = {owner.parameters[name].default for owner in owners}
        expected[name] = defaults_of_owners.pop() if len(defaults_of_owners) == 1 else None
    expected["random_state"] = None
    defaults = {name: parameter.default for name, parameter in signature(ClusterletClustering).parameters.items()}
    assert list(defaults.items()) == list(expected.items())
    assert list(documented_defaults(ClusterletClustering).items()) == list(expected.items())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_agrees_with_its_method(people, estimator):
    X, sex, _ = people
    fitted = estimator(4, random_state=3).fit(X, sensitive_features=sex)
    assert np.array_equal(fitted.labels_, labels_of_method(estimator._method_class(), X, sex, seed=3))
    assert fitted.n_clusters_ == len(fitted.cluster_centers_) == fitted.labels_.max() + 1
    assert np.array_equal(fitted.memberships_.toarray(), fitted.labels_[:, None] == np.arange(fitted.n_clusters_))
    means = [X[fitted.labels_ == cluster].mean(axis=0) for cluster in range(fitted.n_clusters_)]
    np.testing.assert_allclose(fitted.cluster_centers_, means, rtol=1e-12)
    assert fitted.sensitive_classes_.tolist() == ["female", "male"]
    assert np.array_equal(fitted.predict(X), cdist(X, fitted.cluster_centers_).argmin(axis=1))
    by_name = MethodClustering(estimator._method_class.name, 4, random_state=3).fit(X, sensitive_features=sex)
    assert np.array_equal(by_name.labels_, fitted.labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_handles_three_groups_or_refuses_them(people, estimator):
    X, _, group = people
    most_groups = estimator._method_class.most_groups
    if most_groups is None:
        assert len(estimator(3, random_state=0).fit(X, sensitive_features=group).sensitive_classes_) == 3
        return
    message = f"cannot cluster this table: 3 groups, but {estimator._method_class.name} handles at most {most_groups}. Merge"
    with pytest.raises(InvalidInput, match=message):
        estimator(3).fit(X, sensitive_features=group)


def another_value(parameter):
    """An allowed value other than the default (60 for a whole number whose default is a word)."""
    if isinstance(parameter, methods.Choice):
        return next(choice for choice in parameter.choices if choice != parameter.default)
    if isinstance(parameter, methods.Integer):
        return np.int64(parameter.default + 1 if isinstance(parameter.default, int) else 60)
    candidates = [np.float64(0.05), np.float64(0.1), {"female": (0.2, 0.9)}]
    return next(value for value in candidates if value != parameter.default and not parameter.fault("", as_python(value)))


def takes(estimator, name):
    """Whether the method itself takes a parameter, and not :func:`clusterlets.methods.fit`."""
    return name != "n_init" or estimator._method_class.makes_its_own_starts()


@pytest.mark.parametrize("estimator", [estimator for estimator in ESTIMATORS if not takes(estimator, "n_init")])
def test_of_several_fits_the_best_by_the_methods_own_objective_counts(people, estimator):
    X, sex, _ = people
    if "n_init" not in estimator._method_class.parameters:
        with pytest.raises(TypeError, match="n_init"):
            estimator(n_init=2)
        return
    generator, fits = np.random.default_rng(4), []
    for _ in range(4):  # each fit goes on where the one before left the generator
        one = estimator(4, random_state=generator).fit(X, sensitive_features=sex)
        fits.append((getattr(one, "objective_", one.inertia_), one.labels_))
    best = min(fits, key=lambda fit: fit[0])
    fitted = estimator(4, n_init=4, random_state=4).fit(X, sensitive_features=sex)
    assert np.array_equal(fitted.labels_, best[1])
    assert getattr(fitted, "objective_", fitted.inertia_) == best[0] <= max(fit[0] for fit in fits)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator in ESTIMATORS for name in estimator._method_class.parameters if takes(estimator, name)],
)
def test_every_parameter_reaches_the_method(people, estimator, name):
    X, sex, _ = people
    method = estimator._method_class()
    method.sensitive_columns = {"sex": ["female", "male"]}
    # Time must not decide what a fit on a slow machine returns.
    value = np.float64(1000) if name == "max_seconds" else another_value(method.parameters[name])
    fitted = estimator(4, random_state=0, **{name: value}).fit(X, sensitive_features=sex)
    python_value = value.item() if hasattr(value, "item") else value
    assert np.array_equal(fitted.labels_, labels_of_method(method, X, sex, seed=0, **{name: python_value}))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_warning_is_given_only_if_there_are_fewer_clusters_than_requested(estimator):
    """The table has two distinct rows, each twice in each group. Methods that may separate equal rows find three clusters."""
    X, groups = np.repeat([[0.0], [9.0]], 4, axis=0), np.arange(8) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = estimator(3, random_state=0).fit(X, sensitive_features=groups)
    assert {warning.filename for warning in caught} <= {__file__}
    messages = [str(warning.message).split(":")[0] for warning in caught if warning.category is ConvergenceWarning]
    if fitted.n_clusters_ == 3:
        assert messages == []
    else:
        assert messages == [f"{estimator.__name__} found 2 clusters instead of n_clusters=3"]


@pytest.fixture(scope="module")
def fitted_tree(people):
    X, sex, _ = people
    return ScaffTree(4, random_state=3).fit(pd.DataFrame(X, columns=["east", "north"]), sensitive_features=sex)


def test_a_tree_has_its_nodes_as_arrays_and_as_text(people, fitted_tree):
    X, sex, _ = people
    _, tree = scaff_tree(X, codes(sex), 4, np.random.default_rng(3))
    for name, array in vars(tree).items():
        assert len(array) == 7  # four leaves and three inner nodes
        assert np.array_equal(getattr(fitted_tree.tree_, name), array, equal_nan=True)
    assert fitted_tree.export_text() == tree.text(["east", "north"])
    assert fitted_tree.export_text(["x", "y"], decimals=0) == tree.text(["x", "y"], 0)
    assert "feature_0" in ScaffTree(4).fit(X, sensitive_features=sex).export_text()


def test_export_text_refuses_bad_arguments_and_a_tree_that_is_not_fitted(fitted_tree):
    with pytest.raises(InvalidInput, match="1 feature_names for 2 features"):
        fitted_tree.export_text(["x"])
    with pytest.raises(InvalidInput, match="decimals=-1 must be"):
        fitted_tree.export_text(decimals=-1)
    with pytest.raises(NotFittedError):
        ScaffTree().export_text()


def test_a_matcher_may_find_fewer_clusters_without_a_warning(people):
    X, sex, _ = people
    fitted = MethodClustering("G-D", 8, random_state=0).fit(X, sensitive_features=sex)  # warnings are errors here
    assert 0 < fitted.n_clusters_ < 8


def test_a_table_that_a_method_cannot_cluster_is_refused_with_the_reason():
    X = np.arange(2001.0)[:, None]
    with pytest.raises(InvalidInput, match="antidote cannot cluster this table: 2001 rows, but antidote handles at most 2000"):
        NAMED["antidote"](2).fit(X, sensitive_features=np.arange(2001) % 2)
    with pytest.raises(InvalidInput, match="a balance p/q with q up to 2. Take largest_q = 3 or more"):
        TreeFairlets(2, largest_q=2).fit(X[:8], sensitive_features=[0, 0, 1, 1, 1, 1, 1, 1])


@pytest.mark.parametrize(
    "estimator",
    [
        FRAC(2, random_state=0),
        MethodClustering(n_clusters=2, random_state=0),
        FairFlow(2, random_state=0),
        ClusterletClustering(2, random_state=0),
    ],
)
def test_the_groups_must_be_passed_by_name_and_are_never_taken_from_y(estimator):
    X = [[0.0], [1.0]]
    with pytest.raises(InvalidInput, match=r"and y, .* is ignored: .* by name, fit\(X, sensitive_features=groups\)"):
        estimator.fit(X, [0, 1])
    for fit in (estimator.fit, estimator.fit_predict):
        with pytest.raises(
            InvalidInput, match="is missing: pass the group of each instance by name, sensitive_features=groups"
        ):
            fit(X)
    labels = estimator.fit_predict(X, sensitive_features=[0, 1])
    assert np.array_equal(estimator.fit(X, [1, 1], sensitive_features=[0, 1]).labels_, labels)


@pytest.mark.parametrize(
    ("settings", "ignored", "message"),
    [
        (
            {"n_clusterlets": 3, "matcher": "C", "sample_size": 500},
            {"hops": 1, "scope": "last"},
            "C ignores hops=1 and scope='last': .* C uses omega and equation and sample_size",
        ),
        ({"n_clusterlets": 3, "matcher": "D"}, {"omega": 0}, "D ignores omega=0: .* D uses hops and scope"),
        ({"n_clusters": 3}, {"n_clusterlets": 7, "hops": 2}, "n_clusters=3 overrides n_clusterlets=7 and hops=2"),
    ],
)
def test_ignored_parameters_give_a_warning_and_change_nothing(settings, ignored, message):
    X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    expected = ClusterletClustering(**settings, random_state=0).fit(X, sensitive_features=groups)
    with pytest.warns(UserWarning, match=message) as caught:
        actual = ClusterletClustering(**settings | ignored, random_state=0).fit(X, sensitive_features=groups)
    assert [warning.filename for warning in caught] == [__file__]
    np.testing.assert_array_equal(expected.labels_, actual.labels_)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (ClusterletClustering(0), "n_clusterlets: 0; it must be a whole number of at least 1"),
        (ClusterletClustering(n_clusters=0), "n_clusters: 0; it must be"),
        (ClusterletClustering(matcher="G-Q"), "matcher: 'G-Q'; it must be B or C or D or G-B or G-D"),
        (ClusterletClustering(random_state="seven"), "random_state='seven' is neither"),
        (FRAC(2, output="far"), "FRAC has no output 'far'; its outputs are fair, nearest"),
        (FRAC(2, random_state=True), "random_state=True is neither"),
        (MethodClustering(3), "method: 3; it must be the name of a method"),
        (MethodClustering("k-means", True), "n_clusters: True; it must be a whole number of at least 1"),
        (MethodClustering(parameters=3), "parameters: 3; it must be a dict"),
        (MethodClustering("k-means", parameters={"tau": 1}), "k-means has no parameter 'tau'"),
        (
            MethodClustering("k-means", output="far"),
            "k-means has no output 'far'; it has only one clustering, so leave output out",
        ),
        *((estimator(True), "n_clusters: True; it must be a whole number of at least 1") for estimator in ESTIMATORS),
        *((estimator(0), "n_clusters: 0; it must be a whole number of at least 1") for estimator in ESTIMATORS),
        *((estimator(5), "n_clusters=5 is more than n_samples=4") for estimator in ESTIMATORS),
        *((estimator(random_state="seven"), "random_state='seven' is neither") for estimator in ESTIMATORS),
    ],
)
def test_fit_refuses_a_bad_parameter_by_its_name(estimator, message):
    with pytest.raises(InvalidInput) as refused:
        estimator.fit([[0.0], [1.0], [2.0], [3.0]], sensitive_features=[0, 1, 0, 1])
    assert message in str(refused.value) and isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    "tau, message",
    [
        (0.3, "tau: 0.3; with 5 clusters it must be a number from 0 to 1/5, or balanced"),
        (True, "tau: True; it must be"),
        (None, "tau: None; it must be a number from 0 to 1, a multiple of 1/n_clusters such as 0.95x or balanced"),
        (Fraction(1, 4), "tau: 1/4; with 5 clusters it must be"),
        ("1.5x", "tau: '1.5x'; it must be"),
        ("nearly", "tau: 'nearly'; it must be"),
        ([0.1], "1 values of tau for 2 groups"),
        ([0.1, np.nan], "tau = nan: it must be a finite number"),
        ([0.1, "a"], "tau = a: it must"),
        ([0.1, -0.1], "tau = -0.1 for group 1: it must lie between 0 and 1/k = 1/5"),
    ],
    ids=str,
)
def test_a_bad_tau_is_refused_with_the_reason(people, tau, message):
    X, sex, _ = people
    with pytest.raises(InvalidInput, match=message):
        FRAC(5, tau=tau).fit(X, sensitive_features=sex)


@pytest.mark.parametrize(
    "tau", ["0.5x", Fraction(1, 10), [0.1, Fraction(1, 10)], (0.1, 0.1), np.array([0.1, 0.1]), pd.Series([0.1, 0.1])]
)
def test_tau_may_be_a_fraction_or_given_for_each_group(people, tau):
    X, sex, _ = people
    expected = FRAC(5, tau=0.1, random_state=0).fit_predict(X, sensitive_features=sex)
    assert np.array_equal(FRAC(5, tau=tau, random_state=0).fit_predict(X, sensitive_features=sex), expected)


def test_the_random_state_may_be_a_number_or_a_generator_or_none(people):
    X, sex, _ = people

    def labels(random_state):
        return ClusterletClustering(6, random_state=random_state).fit_predict(X, sensitive_features=sex)

    assert np.array_equal(labels(5), labels(5)) and not np.array_equal(labels(5), labels(6))
    assert np.array_equal(labels(np.random.default_rng(5)), labels(5))
    assert np.array_equal(labels(np.random.RandomState(5)), labels(np.random.RandomState(5)))
    stream = np.random.RandomState(5)
    assert not np.array_equal(labels(stream), labels(stream))
    assert not np.array_equal(labels(None), labels(None))


def test_the_price_of_fairness_is_relative_to_the_lowest_cost_of_plain_k_means_or_to_a_given_cost(people):
    X, sex, _ = people
    plain_clusterings = [kmeans_labels(X, 3, np.random.default_rng(start)) for start in range(50)]
    plain_costs = [fairness_report(X, labels, sex, cohesion=False)["kmeans_cost"] for labels in plain_clusterings]
    cheapest = plain_clusterings[int(np.argmin(plain_costs))]
    assert fairness_report(X, cheapest, sex, random_state=7)["price_of_fairness"] == 1
    labels = np.arange(240) % 3
    report = fairness_report(X, labels, sex, random_state=5)
    assert report["price_of_fairness"] == report["kmeans_cost"] / min(plain_costs) > 1
    with_reference = fairness_report(X, labels, sex, reference_cost=report["kmeans_cost"] / 2)
    assert with_reference["price_of_fairness"] == 2


@pytest.mark.parametrize("reference_cost", [None, 2.0, 0])
def test_the_price_of_fairness_is_undefined_without_a_cost_or_a_positive_reference_cost(reference_cost):
    X, sex = [[0.0], [0.0], [9.0], [9.0]], list("abab")
    overlapping = np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    assert np.isnan(fairness_report(X, overlapping, sex, reference_cost=reference_cost)["price_of_fairness"])
    price = fairness_report(X, [0, 0, 0, 1], sex, reference_cost=reference_cost)["price_of_fairness"]
    # The three rows at 0, 0 and 9 are 3, 3 and 6 from their mean.
    assert price == 54 / 2 if reference_cost else np.isnan(price)


def test_sparse_memberships_need_not_be_canonical_and_are_not_changed():
    # Row 0 stores cluster 0 twice, and false for cluster 1. Row 1 stores its clusters out of order.
    data, columns, starts = [True, True, False, True, True, True], [0, 0, 1, 1, 0, 1], [0, 3, 5, 6]
    not_canonical = csr_array((data, columns, starts), shape=(3, 2), dtype=bool)
    dense = np.array([[1, 0], [1, 1], [0, 1]], dtype=bool)
    X, sex = [[0.0], [1.0], [3.0]], list("aba")
    report, expected = (fairness_report(X, memberships, sex) for memberships in (not_canonical, dense))
    assert report["n_clusters"] == 2
    assert repr(report) == repr(expected)  # as text, because NaN is not equal to itself
    assert cluster_composition(not_canonical, sex).equals(cluster_composition(dense, sex))
    assert not_canonical.nnz == 6 and not_canonical.indices.tolist() == columns and not_canonical.data.tolist() == data
    assert fairness_report(X, not_canonical.tocoo(), sex)["overlap"] == 1 / 3


@pytest.mark.parametrize("matcher", ["B", "G-B"])
def test_a_report_agrees_with_the_full_distance_matrix_and_scikit_learn(people, matcher):
    X, sex, _ = people
    fitted = ClusterletClustering(5, matcher=matcher, random_state=1).fit(X, sensitive_features=sex)
    memberships, distances = fitted.memberships_.toarray(), cdist(X, X)
    within = [distances[np.ix_(members, members)].mean() for members in memberships.T]
    report = fairness_report(X, fitted.memberships_, sex)
    assert report["cohesion"] == pytest.approx(1 - np.mean(within) / distances.max(), abs=1e-12)
    assert report["overlap"] == (memberships.sum(axis=1) > 1).mean()
    assert report["overlap"] > 0 or matcher == "G-B"
    deviations = [abs((sex[members] == "male").mean() - (sex == "male").mean()) for members in memberships.T]
    assert report["deviation_mean"] == pytest.approx(np.mean(deviations), abs=1e-12)
    centre_distances = np.linalg.norm(X - fitted.cluster_centers_[fitted.labels_], axis=1)
    assert report["kmedian_cost"] == pytest.approx(centre_distances.sum())
    assert report["kcenter_cost"] == pytest.approx(centre_distances.max())
    assert report["social_cost"] == pytest.approx(max(np.square(centre_distances[sex == value]).mean() for value in set(sex)))
    assert report["silhouette"] == pytest.approx(silhouette_score(X, fitted.labels_))


def test_silhouettes_of_many_rows_are_estimated_from_a_sample_with_an_error(monkeypatch):
    monkeypatch.setattr(row_samples.sample_rows, "__defaults__", (1000,))
    monkeypatch.setattr(row_samples, "SAMPLED_ROWS", 400)
    rng = np.random.default_rng(0)
    X, labels, groups = rng.normal(size=(1001, 2)), rng.integers(3, size=1001), rng.integers(2, size=(1001, 2))
    sampled = fairness_report(X, labels, groups, cohesion=False)
    assert sampled["silhouette_error"] > 0
    assert abs(sampled["silhouette"] - silhouette_score(X, labels)) < 4 * sampled["silhouette_error"]
    assert repr(sampled) == repr(fairness_report(X, labels, groups, cohesion=False))
    assert list(sampled["silhouette_of_groups"]) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("matcher", ["G-B", "B"])
def test_cohesion_of_many_rows_is_estimated_from_a_sample_with_an_error(monkeypatch, matcher):
    rng = np.random.default_rng(0)
    X, sex = rng.normal(size=(4000, 2)), rng.integers(2, size=4000)
    clustering = ClusterletClustering(2, matcher=matcher, random_state=1).fit(X, sensitive_features=sex).memberships_
    make_report = partial(fairness_report, X, clustering, sex, silhouette=False, reference_cost=1.0)
    monkeypatch.setattr(row_samples, "ALL_PAIRS_ROWS", 4000)
    exact = make_report()
    assert exact["cohesion_error"] == 0
    monkeypatch.setattr(row_samples, "ALL_PAIRS_ROWS", 3999)
    sampled = make_report()
    assert repr(make_report()) == repr(sampled) != repr(exact)
    assert abs(sampled["cohesion"] - exact["cohesion"]) < 5 * sampled["cohesion_error"]


@pytest.mark.parametrize(
    ("left_out", "names"),
    [
        ("cohesion", {"cohesion", "cohesion_error"}),
        ("silhouette", {"silhouette", "silhouette_error", "silhouette_least_group"}),
    ],
)
def test_leaving_out_a_slow_score_does_not_change_the_others(people, left_out, names):
    X, sex, _ = people
    full, shortened = (fairness_report(X, np.arange(240) % 3, sex, **{left_out: wanted}) for wanted in (True, False))
    assert not np.isnan([full[name] for name in names]).any()
    assert np.isnan([shortened[name] for name in names]).all()
    assert all(full[name] == shortened[name] for name in full.keys() - names - {"silhouette_of_groups"})


def test_clusters_of_equal_points_have_cohesion_one():
    report = fairness_report(np.ones((4, 2)), [0, 0, 1, 1], list("abab"))
    assert (report["cohesion"], report["cohesion_error"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("clustering", "message"),
    [
        ([0, 1, -1], "of at least 0"),
        ([0.0, 1.5, 1.0], "whole numbers"),
        ([0, 1], "has 2 instances, but X has 3"),
        (np.array([[1, 0], [0, 1], [0, 0]], dtype=bool), "row 2 is in none"),
        (np.array([[1, np.nan], [0, 1], [1, 0]]), "true and false, or 1 and 0"),
        (csr_array(np.array([[1, np.nan], [0, 1], [1, 0]])), "true and false, or 1 and 0"),
        (np.array([[0.5, 0.5], [0, 1], [1, 0]]), "true and false, or 1 and 0"),
        (None, "labels .n,., or memberships .n, C."),
        ([[1], [0, 1], [1]], "The clustering has rows of different lengths"),
        (np.ma.array([0, 1, 1], mask=[0, 1, 0]), "The clustering has masked values"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_report_refuses_an_invalid_clustering(clustering, message):
    with pytest.raises(InvalidInput, match=message):
        fairness_report([[0.0], [1.0], [2.0]], clustering, list("aba"))
    if "instances" not in message:
        with pytest.raises(InvalidInput, match=message):
            cluster_composition(clustering, list("aba"))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"deviation": "squared"}, "deviation='squared' must be one of absolute"),
        ({"random_state": -1}, "random_state=-1 is neither"),
        *(({"reference_cost": cost}, "is not a sum of squared errors") for cost in (-1, np.nan, np.inf, "plain")),
    ],
)
def test_a_report_refuses_invalid_settings(settings, message):
    with pytest.raises(InvalidInput, match=message):
        fairness_report([[0.0], [1.0], [2.0]], [0, 1, 1], list("aba"), **settings)


@pytest.mark.parametrize("large", [7, 10**12, 2**63 - 1])
def test_labels_may_be_any_whole_numbers_from_0_on(large):
    X, groups = [[0.0], [1.0], [2.0], [4.0]], list("abab")
    composition = cluster_composition([large, 3, large, 3], groups)
    assert composition.index.tolist() == [3, large]
    assert composition.to_numpy().tolist() == [[0, 2], [2, 0]]
    assert fairness_report(X, [large, 3, large, 3], groups) == fairness_report(X, [1, 0, 1, 0], groups)


def test_labels_may_be_text():
    X, groups = [[0.0], [1.0], [2.0], [4.0]], list("abab")
    report = fairness_report(X, ["rich", "poor", "rich", "poor"], groups)
    assert report == fairness_report(X, [1, 0, 1, 0], groups) and report.clusters.index.tolist() == ["poor", "rich"]
    assert cluster_composition(["rich", "poor", "rich", "poor"], groups).loc["rich"].tolist() == [2, 0]
    with pytest.raises(InvalidInput, match="row 1 .* has none"):
        fairness_report(X, ["rich", None, "rich", "poor"], groups)


@pytest.mark.parametrize("estimator", [ClusterletClustering, MethodClustering, FairLimit, FRAC])
def test_the_examples_in_the_docstrings_run(estimator):
    examples = doctest.DocTestParser().get_doctest(estimator.__doc__, {}, estimator.__name__, None, None)
    result = doctest.DocTestRunner().run(examples)
    assert result.failed == 0 and result.attempted > 0


@pytest.mark.parametrize(
    "model",
    [FairLimit(3, max_deviation=0.1, random_state=0), FRAC(3, random_state=0), ClusterletClustering(4, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_transform_score_and_inertia_follow_from_the_distances_to_the_centres(people, model):
    X, sex, _ = people
    model.fit(X, sensitive_features=sex)
    distances = cdist(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), distances)
    assert model.score(X) == pytest.approx(-(distances.min(axis=1) ** 2).sum())
    assert model.inertia_ == pytest.approx((distances[np.arange(240), model.labels_] ** 2).sum())
    report = fairness_report(X, model.labels_, sex, cohesion=False, silhouette=False)
    assert model.inertia_ == pytest.approx(report["kmeans_cost"])
    np.testing.assert_allclose(model.fit_transform(X, sensitive_features=sex), distances)


def test_transformed_columns_have_names_and_the_output_can_be_a_frame(people):
    X, sex = pd.DataFrame(people[0], columns=["age", "pay"]), people[1]
    model = FairLimit(3, max_deviation=0.1, random_state=0).set_output(transform="pandas")
    frame = model.fit(X, sensitive_features=sex).transform(X)
    assert list(frame) == list(model.get_feature_names_out()) == ["fairlimit0", "fairlimit1", "fairlimit2"]
    assert frame.index.equals(X.index)
