"""``tune`` finds the cheapest clustering that keeps a limit, in the given time, and reports the status of every run."""

import re
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from clusterlets import methods
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.errors import ClusterletsError
from clusterlets.estimators import fairness_report
from clusterlets.tuning import trials, tune
from clusterlets.tuning.requirement import Requirement
from clusterlets.tuning.trials import Task, candidates

X, DIAGNOSIS = load_breast_cancer(return_X_y=True)
X = scale(X)[:300, :8]
DIAGNOSIS = DIAGNOSIS[:300]
QUICK_METHODS = ["fair-limit", "fair-flow", "FRAC", "scaff-tree", "fair-lp", "G-B", "B"]


TWO_COLUMNS = pd.DataFrame({"diagnosis": DIAGNOSIS, "side": np.arange(300) % 3})


def tune_quickly(sensitive_features=DIAGNOSIS, **settings):
    """Tune for three clusters, with one seed per configuration and one minute, unless ``settings`` say otherwise."""
    return tune(X, sensitive_features=sensitive_features, **{"n_clusters": 3, "n_seeds": 1, "minutes": 1, **settings})


@pytest.fixture(scope="module")
def results():
    return tune_quickly(n_clusters=4, max_deviation=0.05, minutes=2, methods_tried=QUICK_METHODS, n_seeds=3)


def test_the_estimator_repeats_the_recommended_run_and_its_numbers(results):
    best = results.best()
    fitted = results.estimator().fit(X, sensitive_features=DIAGNOSIS)
    report = fairness_report(X, fitted.labels_, DIAGNOSIS, cohesion=False, silhouette=False)
    for name in ("deviation_max", "smallest", "n_clusters", "kmeans_cost"):
        assert best[name] == pytest.approx(report[name], abs=1e-6)
    assert best["price"] == pytest.approx(report["kmeans_cost"] / results.task.plain_cost, abs=1e-6)
    text = results.recommendation()
    assert text.startswith(f"Use {best['method']}") and f"{best['price']:.3f} times" in text
    assert f"seed {best['seed']}:" in text


def test_if_plain_k_means_keeps_the_limit_the_recommendation_says_that_no_fair_method_is_needed():
    alternating = np.arange(len(X)) % 2
    results = tune_quickly(alternating, max_deviation=0.4, methods_tried=["fair-limit", "k-means"], n_seeds=6)
    text = results.recommendation()
    assert "Plain k-means" in text and "you need no fair method" in text
    (price_without_limit,) = (line.split()[2] for line in text.splitlines() if line.lstrip().startswith("no limit"))
    # The reference, plain k-means at price 1, counts too.
    assert float(price_without_limit) == pytest.approx(min(1, results.runs["price"].min()), abs=5e-4)


@pytest.mark.parametrize("factor", [0.5, 1.002])
def test_a_price_below_one_is_explained_if_a_run_is_cheaper_than_the_reference(monkeypatch, factor):
    """The reference cost is halved or raised a little. Only the raised one exceeds the cost of a run."""
    monkeypatch.setattr("clusterlets.tuning.least_plain_cost", lambda X, n: factor * least_plain_cost(X, n))
    text = tune_quickly(max_deviation=1, methods_tried=["fair-limit", "k-means"]).recommendation()
    explanation = "A price below 1: a better optimum than plain k-means found in all its starts."
    assert (explanation in text) == ("0.2% below the best plain k-means found" in text) == (factor > 1)


def test_time_spent_on_compiling_does_not_count_towards_the_minutes(monkeypatch):
    hours_of_compiling = []

    def load_slowly(candidate, end):
        hours_of_compiling.append(1)
        return trials.Fit(trials.OK)

    monkeypatch.setattr(trials, "_load", load_slowly)
    monkeypatch.setattr(trials, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * sum(hours_of_compiling)))
    results = tune_quickly(minutes=1, methods_tried=["fair-limit"])
    assert results.runs.iloc[0][["method", "status"]].tolist() == ["fair-limit", "ok"]


def test_the_recommended_run_is_the_cheapest_that_keeps_the_limit(results):
    runs = results.runs
    keeps = (runs["n_clusters"] == 4) & (runs["deviation_max"] <= 0.05) & runs["price"].notna()
    assert (runs["keeps"] == keeps).all() and results.best()["price"] == pytest.approx(runs.loc[keeps, "price"].min(), abs=1e-6)
    assert results["keeps"].any() and results["keeps"].is_monotonic_decreasing
    assert results.loc[results["keeps"], "price"].is_monotonic_increasing


def test_the_recommendation_lists_prices_for_half_and_twice_the_limit_and_for_none(results):
    lines = results.recommendation().splitlines()
    prices = [
        float(re.search(rf"{limit} +(\S+)", line)[1])
        for limit in ("limit 0.025", "limit 0.05", "limit 0.1", "no limit")
        for line in lines
        if line.strip().startswith(f"{limit} ")
    ]
    assert len(prices) == 4 and prices == sorted(prices, reverse=True) and prices[1] == round(results.best()["price"], 3)


def test_all_configurations_run_one_seed_first_and_only_those_close_to_the_best_get_more(results):
    runs = results.runs
    first_runs = runs.drop_duplicates(["method", "parameters"])
    assert (first_runs["seed"] == 0).all() and (runs["seed"].iloc[: len(first_runs)] == 0).all()
    assert runs.loc[0, ["method", "parameters"]].tolist() == ["fair-limit", "max_deviation=0.05"]
    later_runs = runs.iloc[len(first_runs) :]
    assert {"fair-limit"} <= set(later_runs["method"]) and "B" not in set(later_runs["method"])
    cheapest = first_runs.loc[first_runs["keeps"], "price"].min()
    first_runs = first_runs.set_index(["method", "parameters"])
    for configuration in zip(later_runs["method"], later_runs["parameters"]):
        run = first_runs.loc[configuration]  # close: up to 1.1 times the best price, or cheaper and within 1.5 times the limit
        assert run["price"] <= 1.1 * cheapest if run["keeps"] else (run["deviation_max"] <= 0.075 and run["price"] < cheapest)


def test_if_no_run_keeps_the_limit_the_run_nearest_to_it_is_recommended():
    iris, species = load_iris(return_X_y=True)
    results = tune(
        iris, sensitive_features=species, n_clusters=3, max_deviation=0, methods_tried=["G-B", "fairlets"], n_seeds=2
    )
    assert not results["keeps"].any() and results.set_index("method").loc["fairlets", "statuses"] == "unsupported 1"
    assert "1 configuration without a result (the column note says why): fairlets" in results.recommendation()
    assert "No run gives 3 clusters within 0 of the table's shares. The nearest is " in results.recommendation()
    assert results.best()["deviation_max"] == results["deviation_max"].min()


def test_a_minimum_size_of_clusters_is_kept():
    best = tune_quickly(methods_tried=["fair-limit", "FRAC"], min_cluster_size=80).best()
    assert best["smallest"] >= 80 and "min_cluster_size=80" in best["parameters"]


def tune_two_columns(max_deviation):
    """Results of tuning for two columns, and the largest deviation of each column in the recommended clusters."""
    results = tune_quickly(TWO_COLUMNS, max_deviation=max_deviation, methods_tried=["fair-limit", "fair-flow"], n_seeds=2)
    labels = results.estimator().fit(X, sensitive_features=TWO_COLUMNS).labels_
    shares = {name: pd.crosstab(labels, TWO_COLUMNS[name], normalize="index") for name in TWO_COLUMNS}
    return results, {
        name: abs(shares[name] - TWO_COLUMNS[name].value_counts(normalize=True)).max(axis=None) for name in TWO_COLUMNS
    }


def test_each_of_several_columns_is_limited():
    results, deviations = tune_two_columns(0.03)
    assert results.best()["deviation_max"] == pytest.approx(max(deviations.values()), abs=1e-6)
    assert results["keeps"].any() and max(deviations.values()) <= 0.03


def test_each_of_several_columns_may_have_its_own_limit():
    results, deviations = tune_two_columns({"side": 0.2, "diagnosis": 0.03})
    assert deviations["diagnosis"] <= 0.03 < deviations["side"] <= 0.2
    text = results.recommendation()
    assert "within 0.2 (side), 0.03 (diagnosis) of the table's shares" in text
    assert all(name in text for name in ("half the limits", "twice the limits"))
    results.plot()  # also works with several limits


@pytest.mark.parametrize(
    ("limits", "description"),
    [({"shares": {"1": [0.5, 0.6]}}, 'shares {"1": [0.5, 0.6]}'), ({"min_ratio": 0.8}, "min_ratio 0.8")],
)
def test_shares_or_a_ratio_can_be_limited_in_place_of_the_deviation(limits, description):
    results = tune_quickly(methods_tried=["fair-limit", "fair-flow"], **limits)
    counts = pd.crosstab(results.estimator().fit(X, sensitive_features=DIAGNOSIS).labels_, DIAGNOSIS)
    table_counts = np.bincount(DIAGNOSIS)
    if "shares" in limits:
        assert counts[1].div(counts.sum(axis=1)).between(0.5, 0.6).all()
    else:
        ratios = (counts[0] / counts[1]) / (table_counts[0] / table_counts[1])
        assert ratios.between(0.8, 1 / 0.8).all()
    assert f"3 clusters within {description}" in results.recommendation() and results.best()["keeps"]
    (delta,) = (float(text.removeprefix("delta=")) for text in results["parameters"] if text.startswith("delta="))
    # A delta keeps the ratio 0.8 if (1 - delta)**2 is at least 0.8; the limits on shares need a smaller delta.
    assert 0 < delta <= 1 - 0.8**0.5


def requirement(shares, limit):
    """A requirement that limits the deviation, for a table of 1,000 rows whose groups have these shares."""
    return Requirement({"max_deviation": limit}, {"sex": range(len(shares))}, np.rint(1000 * np.array(shares)).astype(int))


@pytest.mark.parametrize("shares", [[0.67, 0.33], [0.6, 0.3, 0.1], [0.5, 0.5]])
@pytest.mark.parametrize("limit", [0.01, 0.02, 0.1])
def test_the_delta_for_a_limit_is_the_largest_that_implies_it(shares, limit):
    """Brute force over the extreme clusters that delta allows: they keep the limit, and those of a larger delta do not."""
    r = np.array(shares)

    def largest_deviation(delta):
        deviations = []
        for group in range(len(r)):
            rest = np.delete(r, group)
            highest = min(r[group] / (1 - delta), 1 - (rest * (1 - delta)).sum())
            lowest = max(r[group] * (1 - delta), 1 - (rest / (1 - delta)).sum())
            deviations += [highest - r[group], r[group] - lowest]
        return max(deviations)

    delta = requirement(r, limit).delta(one_row=0)
    assert largest_deviation(delta) <= limit < largest_deviation(delta + 2e-4)


def test_only_runs_with_as_many_disjoint_clusters_as_requested_have_a_price(results):
    row = results.set_index("method").loc["B"]
    assert row["note"] == "clusters overlap" and pd.isna(row["price"]) and not row["on_front"]
    results = tune_quickly(n_clusters=4, minutes=2, methods_tried=["C", "fair-limit"])
    runs = results.runs[results.runs["kmeans_cost"].notna()]
    has_all_clusters = runs["n_clusters"] == results.task.n_clusters
    assert (~has_all_clusters).any() and (runs["price"].notna() == has_all_clusters).all()


def test_a_fit_that_takes_too_long_is_stopped_so_that_tune_ends_in_time(monkeypatch):
    scores_of = trials.scores_of

    def sleep_or_score(candidate, *rest):
        if candidate.method == "FRAC":
            time.sleep(60)
        return scores_of(candidate, *rest)

    tune_quickly(methods_tried=["FRAC"])  # compiles the kernels
    monkeypatch.setattr(trials, "scores_of", sleep_or_score)
    start = time.monotonic()
    results = tune_quickly(methods_tried=["FRAC"], n_seeds=3, minutes=0.1).set_index("method")
    assert time.monotonic() - start < 12  # seconds, twice the given time
    assert results.loc["FRAC", "statuses"] == "timeout 1" and results.loc["k-means", "statuses"].startswith("ok")


@pytest.mark.parametrize("interrupts", [False, True])
def test_configurations_that_were_not_tried_are_listed(monkeypatch, interrupts):
    def stop_after_one_fit(done, total, description):
        if interrupts and done == 1:
            raise KeyboardInterrupt
        if done == 1:  # makes the next fit exceed the time
            monkeypatch.setattr(trials.time, "monotonic", lambda: float("inf"))

    results = tune_quickly(methods_tried=["FRAC"], n_seeds=2, progress=stop_after_one_fit)
    assert results.interrupted == interrupts
    row = results.set_index("method").loc["FRAC"]
    assert row["statuses"].startswith("not_tried" if interrupts else ("timeout", "not_tried"))
    assert results.best()["method"] == "k-means"
    if interrupts:
        assert "Interrupted before these were tried: FRAC." in results.recommendation()


def task_of(n=20_000, shares=(0.6, 0.4)):
    X, levels = np.zeros((n, 10)), np.zeros((2, 1), int)
    return Task(X, None, levels, requirement(shares, 0.02), n_clusters=5, min_cluster_size=1, plain_cost=1.0)


def test_the_limit_decides_which_configurations_are_tried():
    configurations = candidates(methods.names(), task_of())
    first_four = ["fair-limit max_deviation=0.02", "k-means", "fair-limit max_deviation=0.01", "fair-limit max_deviation=0.04"]
    assert [str(candidate) for candidate in configurations[:4]] == first_four
    assert {candidate.method for candidate in configurations} == set(methods.names())
    deltas = {str(candidate.parameters["delta"]) for candidate in configurations if "delta" in candidate.parameters}
    # Matchers run with their default hops.
    assert len(deltas) == 1 and not any("hops" in candidate.parameters for candidate in configurations)


def test_progress_counts_the_fits_and_shows_the_best_so_far():
    calls = []
    results = tune_quickly(methods_tried=["FRAC"], n_seeds=2, max_deviation=0.2, progress=lambda *call: calls.append(call))
    assert [done for done, _, _ in calls] == list(range(len(results.runs))) and calls[-1][1] == len(results.runs)
    assert "best so far" in calls[-1][2]


def test_the_plot_labels_every_configuration_that_has_a_price(results):
    axes = results.plot().axes[0]
    axes.figure.draw_without_rendering()
    labels = axes.texts
    rows = results.dropna(subset="price")
    assert {text.get_text() for text in labels} == {
        " ".join(filter(None, pair)) for pair in zip(rows["method"], rows["parameters"])
    }
    # Called on Text, because the extent of an annotation includes its line to the point.
    boxes = [Text.get_window_extent(text) for text in labels]
    assert not any(later.overlaps(earlier) for index, later in enumerate(boxes) for earlier in boxes[:index])
    points = axes.transData.transform(rows[["deviation_max", "price"]].to_numpy())
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_saved_plots_of_the_same_results_have_the_same_bytes_and_unknown_file_types_are_refused(results, tmp_path):
    for suffix, beginning in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        files = [tmp_path / f"{name}.{suffix}" for name in ("one", "other")]
        for file in files:
            results.plot(str(file))
        assert files[0].read_bytes().startswith(beginning) and files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(ClusterletsError, match="must end in .png, .pdf, .svg"):
        results.plot(str(tmp_path / "front.bmp"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 1}, "n_clusters: 1; it must be a whole number of at least 2"),
        ({"n_clusters": 301}, "more than n_samples=300"),
        ({"max_deviation": -0.1}, "max_deviation=-0.1 is not a number from 0 to 1"),
        ({"max_deviation": "0.0_5"}, "max_deviation='0.0_5' is not a number from 0 to 1"),
        ({"max_deviation": {"sex": 0.1}}, "max_deviation: there is no sensitive column 'sex', only 0"),
        ({"max_deviation": 0.1, "min_ratio": 0.8}, "max_deviation and min_ratio are two kinds of bound; give one"),
        ({"shares": {"f": [0.1, 0.2]}}, "shares: there is no group 'f', only 0, 1"),
        ({"minutes": 0}, "minutes=0 is not a number above 0"),
        ({"minutes": "1_0"}, "minutes='1_0' is not a number above 0"),
        ({"n_seeds": 0}, "n_seeds: 0"),
        ({"random_state": None}, "random_state: None"),
        ({"methods_tried": ["frack"]}, "did you mean 'FRAC'"),
        ({"methods_tried": ["k-means"]}, "nothing to compare"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(ClusterletsError, match=re.escape(message)):
        tune(X, sensitive_features=DIAGNOSIS, **settings)
