"""The plots show the given clustering or reports, on the given axes or on new ones."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from clusterlets import InvalidInput, cluster_composition, fairness_report, plot_composition, plot_projection, plot_tradeoff
from clusterlets.estimators import plots

SEX, LABELS = list("abaab"), [7, 7, 3, 3, 3]
X = np.array([[0.0, 1.0], [3.0, 0.0], [10.0, 0.0], [10.0, 2.0], [14.0, 1.0]])


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def bar_widths(axes):
    return np.array([[bar.get_width() for bar in group] for group in axes.containers]).T


@pytest.mark.parametrize("form", [list, lambda labels: csr_array(np.equal.outer(labels, [3, 7]))])
def test_the_bars_show_the_shares_in_clusters_and_above_them_those_in_the_table(form):
    axes = plot_composition(form(LABELS), SEX)
    np.testing.assert_allclose(bar_widths(axes), [[0.6, 0.4], [2 / 3, 1 / 3], [0.5, 0.5]])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    names = (3, 7) if form is list else (0, 1)
    expected = ["whole table", f"{names[0]}  (n = 3)", f"{names[1]}  (n = 2)"]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected
    assert [line.get_xdata()[0] for line in axes.lines] == [0.6]  # a line down the plot marks the share in the table
    assert isinstance(axes, matplotlib.axes.Axes) and axes.figure in map(pyplot.figure, pyplot.get_fignums())


def test_the_bars_agree_with_the_composition_for_several_columns_and_overlapping_clusters():
    rng = np.random.default_rng(0)
    memberships = rng.random((60, 4)) < 0.4
    groups = np.column_stack([rng.choice(["$x$", "_y"], 60), rng.choice(["u", "v"], 60)])
    memberships[~memberships.any(axis=1), 0] = True
    counts = cluster_composition(memberships, groups)
    axes = plot_composition(memberships, groups)
    np.testing.assert_allclose(bar_widths(axes)[1:], counts.to_numpy() / counts.to_numpy().sum(axis=1, keepdims=True))
    axes.figure.savefig("/dev/null", format="png")  # does not fail on names with dollars and underscores


@pytest.mark.parametrize(
    "plot",
    [
        lambda ax: plot_composition(LABELS, SEX, ax=ax),
        lambda ax: plot_projection(X, LABELS, ax=ax),
        lambda ax: plot_tradeoff({"one": fairness_report(X, LABELS, SEX)}, ax=ax),
    ],
)
def test_axes_that_are_passed_are_drawn_on_and_returned(plot):
    ax = Figure().subplots()
    assert plot(ax) is ax and ax.has_data() and pyplot.get_fignums() == []


def test_the_projection_is_a_pca_that_shows_all_clusters_with_numbers_that_do_not_overlap(monkeypatch):
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(600, 4)) * [5, 3, 1, 1], np.arange(600) % 50
    axes = plot_projection(X, labels)
    pca = PCA(2).fit(X)
    positions = np.vstack([points.get_offsets() for points in axes.collections])
    rows_by_cluster = np.concatenate([np.flatnonzero(labels == cluster) for cluster in range(50)])
    np.testing.assert_allclose(np.abs(positions), np.abs(pca.transform(X)[rows_by_cluster]), atol=1e-9)
    assert f"({pca.explained_variance_ratio_[0]:.0%} of the variance)" in axes.get_xlabel()
    markers = {repr((points.get_facecolor()[0], points.get_paths()[0].vertices.tolist())) for points in axes.collections}
    assert len(markers) == 50
    assert len(axes.texts) == 40 and "the 40 largest have numbers" in axes.get_title()
    # Each number takes 5 % of the plot's width and height.
    centres = np.array([text.xy for text in axes.texts]) / (0.05 * np.ptp(positions, axis=0))
    gaps = np.abs(centres[:, None] - centres).max(axis=2)
    assert (gaps[~np.eye(40, dtype=bool)] > 0.98).all()
    monkeypatch.setattr(plots, "_MAX_POINTS", 100)
    thinned = plot_projection(X, labels)
    assert sum(len(points.get_offsets()) for points in thinned.collections) == 100 and "100 of 600 rows" in thinned.get_title()


def test_the_projection_of_a_single_feature_is_a_line():
    (first, second) = plot_projection([[0.0], [1.0], [5.0]], [0, 0, 1]).collections
    assert not first.get_offsets()[:, 1].any() and not second.get_offsets()[:, 1].any()


def test_an_instance_in_several_clusters_is_shown_in_the_nearest_one():
    """Row 1 is in clusters 0 and 2, and nearer to the mean of cluster 0. Cluster 1 is empty."""
    memberships = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    axes = plot_projection(X, memberships)
    assert [len(points.get_offsets()) for points in axes.collections] == [2, 3]
    assert sorted(text.get_text() for text in axes.texts) == ["0", "2"]


def report_of(unfairness, cost):
    return {"deviation_mean": unfairness, "price_of_fairness": cost, "cohesion": cost, "silhouette_of_groups": {}}


def test_the_line_joins_the_clusterings_that_no_other_dominates():
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = rng.integers(0, 5, (12, 2)) / 4
        reports = {str(index): report_of(*point) for index, point in enumerate(points.tolist())}
        for cost, sign in (("price_of_fairness", 1), ("cohesion", -1)):
            axes = plot_tradeoff(reports, cost=cost, ax=Figure().subplots())
            signed = points * [1, sign]
            is_dominated = [
                any((other <= candidate).all() and (other < candidate).any() for other in signed) for candidate in signed
            ]
            expected = {tuple(point) for point, dominated in zip(points.tolist(), is_dominated) if not dominated}
            assert {tuple(point) for point in axes.lines[0].get_xydata().tolist()} == expected
            np.testing.assert_array_equal(axes.collections[0].get_offsets(), points)
    assert axes.get_xlabel() == "deviation mean" and axes.get_ylabel() == "cohesion"
    assert [text.get_text() for text in axes.texts] == list(reports)


@pytest.mark.parametrize(
    ("reports", "settings", "message"),
    [
        ({}, {}, "reports is empty"),
        ({"one": report_of(0.1, float("nan"))}, {}, "price_of_fairness is not defined for 'one'"),
        ({"one": report_of(0.1, 1.0)}, {"cost": "prize"}, "'one' has no score 'prize'; its scores are deviation_mean"),
        ({"one": report_of(0.1, 1.0)}, {"cost": "silhouette_of_groups"}, "has no score 'silhouette_of_groups'"),
    ],
)
def test_reports_that_cannot_be_plotted_are_refused(reports, settings, message):
    with pytest.raises(InvalidInput, match=message):
        plot_tradeoff(reports, **settings)
    assert pyplot.get_fignums() == []


def test_inconsistent_input_is_refused_before_a_figure_is_made():
    for plot in (lambda: plot_composition(LABELS, SEX[:4]), lambda: plot_projection(X[:4], LABELS)):
        with pytest.raises(InvalidInput, match="4 rows|X has 4"):
            plot()
    assert pyplot.get_fignums() == []
