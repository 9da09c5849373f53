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


@pytest.mark.parametrize(
    ("clustering", "names"),
    [(LABELS, [3, 7]), (csr_array(np.equal.outer(LABELS, [3, 7])), [0, 1])],
    ids=["labels", "memberships"],
)
def test_the_bars_show_the_shares_in_clusters_and_above_them_those_in_the_table(clustering, names):
    axes = plot_composition(clustering, SEX)
    np.testing.assert_allclose(bar_widths(axes), [[0.6, 0.4], [2 / 3, 1 / 3], [0.5, 0.5]])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    expected = ["whole table", f"{names[0]}  (n = 3)", f"{names[1]}  (n = 2)"]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected
    assert [line.get_xdata()[0] for line in axes.lines] == [0.6]  # a line down the plot marks the share in the table
    assert isinstance(axes, matplotlib.axes.Axes)
    assert axes.figure in map(pyplot.figure, pyplot.get_fignums())


def test_the_bars_agree_with_the_composition_for_several_columns_and_overlapping_clusters():
    rng = np.random.default_rng(0)
    memberships = rng.random((60, 4)) < 0.4
    groups = np.column_stack([rng.choice(["$x$", "_y"], 60), rng.choice(["u", "v"], 60)])
    memberships[~memberships.any(axis=1), 0] = True
    counts = cluster_composition(memberships, groups)
    axes = plot_composition(memberships, groups)
    np.testing.assert_allclose(bar_widths(axes)[1:], counts.div(counts.sum(axis=1), axis=0))
    axes.figure.savefig("/dev/null", format="png")  # matplotlib must not read the dollars in the names as mathematics


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
    assert plot(ax) is ax
    assert ax.has_data()
    assert pyplot.get_fignums() == []


@pytest.fixture
def fifty_clusters():
    """Features and labels of 600 rows."""
    return np.random.default_rng(2).normal(size=(600, 4)) * [5, 3, 1, 1], np.arange(600) % 50


def positions_of(axes):
    return np.vstack([points.get_offsets() for points in axes.collections])


def test_the_projection_is_a_pca(fifty_clusters):
    X, labels = fifty_clusters
    axes = plot_projection(X, labels)
    pca = PCA(2).fit(X)
    expected = pca.transform(X)[np.argsort(labels, kind="stable")]
    np.testing.assert_allclose(np.abs(positions_of(axes)), np.abs(expected), atol=1e-9)  # PCA leaves the signs open
    assert f"({pca.explained_variance_ratio_[0]:.0%} of the variance)" in axes.get_xlabel()


def test_every_cluster_of_a_projection_has_its_own_marker(fifty_clusters):
    clusters = plot_projection(*fifty_clusters).collections
    assert len({repr((points.get_facecolor()[0], points.get_paths()[0].vertices.tolist())) for points in clusters}) == 50


def test_the_numbers_of_the_clusters_in_a_projection_do_not_overlap(fifty_clusters):
    axes = plot_projection(*fifty_clusters)
    assert len(axes.texts) == 40  # the largest number that is shown
    assert "the 40 largest have numbers" in axes.get_title()
    # Each number takes 5 % of the plot's width and height.
    centres = np.array([text.xy for text in axes.texts]) / (0.05 * np.ptp(positions_of(axes), axis=0))
    gaps = np.abs(centres[:, None] - centres).max(axis=2)
    assert (gaps[~np.eye(40, dtype=bool)] > 0.98).all()


def test_a_projection_of_many_rows_shows_some_of_them(fifty_clusters, monkeypatch):
    monkeypatch.setattr(plots, "_MAX_POINTS", 100)
    axes = plot_projection(*fifty_clusters)
    assert len(positions_of(axes)) == 100
    assert "100 of 600 rows" in axes.get_title()


def test_the_projection_of_a_single_feature_is_a_line():
    assert not positions_of(plot_projection([[0.0], [1.0], [5.0]], [0, 0, 1]))[:, 1].any()


def test_an_instance_in_several_clusters_is_shown_in_the_nearest_one():
    """Row 1 is in clusters 0 and 2, and nearer to the mean of cluster 0. Cluster 1 is empty."""
    memberships = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    axes = plot_projection(X, memberships)
    assert [len(points.get_offsets()) for points in axes.collections] == [2, 3]
    assert sorted(text.get_text() for text in axes.texts) == ["0", "2"]


def report_of(deviation, cost):
    return {"deviation_mean": deviation, "price_of_fairness": cost, "cohesion": cost, "silhouette_of_groups": {}}


@pytest.mark.parametrize(("cost", "sign"), [("price_of_fairness", 1), ("cohesion", -1)])
@pytest.mark.parametrize("seed", range(20))
def test_the_line_joins_the_clusterings_that_no_other_dominates(seed, cost, sign):
    points = np.random.default_rng(seed).integers(0, 5, (12, 2)) / 4
    reports = {str(index): report_of(*point) for index, point in enumerate(points.tolist())}
    axes = plot_tradeoff(reports, cost=cost, ax=Figure().subplots())

    losses = points * [1, sign]  # a low price is better, but a high cohesion
    is_dominated = [any((other <= loss).all() and (other < loss).any() for other in losses) for loss in losses]
    expected = {tuple(point) for point, dominated in zip(points.tolist(), is_dominated) if not dominated}
    assert {tuple(point) for point in axes.lines[0].get_xydata().tolist()} == expected
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), points)


def test_the_plot_of_the_tradeoff_names_its_axes_and_the_clusterings():
    axes = plot_tradeoff({"one": report_of(0.1, 1.0), "two": report_of(0.2, 0.5)}, cost="cohesion")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("deviation mean", "cohesion")
    assert [text.get_text() for text in axes.texts] == ["one", "two"]


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
