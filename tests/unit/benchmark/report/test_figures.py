"""Figures show the numbers of the runs, and can be drawn even from few or failed runs."""

import os
import struct
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_pdf import PdfFile
from matplotlib.colors import to_hex
from matplotlib.text import Text
from synthetic_runs import compared_runs, synthetic_runs

from clusterlets.benchmark import datasets
from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.analysis.leaderboard import is_on_front
from clusterlets.benchmark.grid.runs_frame import read_results_table, read_runs, write_csv
from clusterlets.benchmark.paper import copies, reported, tables
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.provenance.libraries import unlike_lock
from clusterlets.benchmark.report.figures import (
    cohesion_vs_deviation,
    critical_difference,
    heatmaps,
    is_empty,
    omega_effect,
    table1_ranges,
)
from clusterlets.benchmark.report.figures import shares as shares_figure
from clusterlets.pages.saving import as_bytes
from clusterlets.pages.style import COLORS, WIDTH, method_styles, plt, save

CHECKOUT = Path(__file__).resolve().parents[4]
DATASETS = ("pima", "credit")


@pytest.fixture(scope="module", autouse=True)
def maps_are_not_drawn_one_by_one():
    """Seaborn draws the whole figure after each of its twelve maps, only to see whether labels overlap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seaborn.matrix._draw_figure", lambda figure: None)
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs as the figures get them: read from a file."""
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    synthetic_runs(DATASETS, seeds=2, ks=(2, 10)).to_csv(path, index=False)
    return read_runs(path)


def axes_titled(figure, title):
    (axes,) = (axes for axes in figure.axes if axes.get_title() == title or axes.get_title(loc="left") == title)
    return axes


def text_in(figure):
    return " ".join(text.get_text() for text in figure.findobj(Text))


# ---- cohesion against deviation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_pareto_front_has_exactly_the_runs_that_no_other_dominates(seed):
    points = np.random.default_rng(seed).integers(0, 6, size=(40, 2)) / 5  # with ties
    runs = pd.DataFrame(points, columns=["deviation_mean", "cohesion"])
    undominated = runs[is_on_front(runs * [1, -1])].drop_duplicates().sort_values("deviation_mean")
    assert np.array_equal(cohesion_vs_deviation.pareto_front(runs), undominated)


def test_the_front_leaves_out_degenerate_clusterings(runs):
    # Degenerate clusterings have fewer than 3 clusters, or an overlap of .5 or more.
    axes = axes_titled(cohesion_vs_deviation.draw(runs), "pima")
    (line,) = axes.lines
    eligible = selection.without_degenerate(selection.ok(runs[runs["dataset"] == "pima"]))
    assert np.array_equal(line.get_xydata(), cohesion_vs_deviation.pareto_front(eligible)) and len(eligible)
    assert line.get_drawstyle() == "steps-post"
    # The marks lie on top of the line.
    assert axes.collections and all(marks.get_zorder() > line.get_zorder() for marks in axes.collections)


# ---- heat maps and omega ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heat_maps(runs):
    return heatmaps.draw(runs)


def test_the_heat_maps_show_means_over_seeds_and_then_datasets(runs, heat_maps):
    for column, matcher in enumerate(("C", "G-B", "D", "B", "G-D")):
        for row, quantity in enumerate(("deviation_mean", "cohesion")):
            axes = heat_maps.axes[6 * row + column]  # of six panels in a row
            expected = heatmaps.means(runs[runs["matcher"] == matcher], quantity, "omega" if matcher == "C" else "hops")
            assert np.allclose(axes.collections[0].get_array(), expected.to_numpy().reshape(2, 4))
            assert axes.texts[0].get_text() == f"{expected.iloc[0, 0]:.3f}"
    assert heat_maps.axes[0].get_title() == "C" and heat_maps.axes[6].get_xlabel() == "omega"
    without_a_seed = runs[(runs["matcher"] == "G-B") & ~((runs["dataset"] == "pima") & (runs["seed"] == 1))]
    cell = without_a_seed[(without_a_seed["k"] == 10) & (without_a_seed["hops"] == 3)]
    expected = cell.groupby("dataset")["cohesion"].mean().mean()
    assert expected != cell["cohesion"].mean()  # otherwise the test would not notice a plain mean
    assert heatmaps.means(without_a_seed, "cohesion", "hops").loc[10, 3] == pytest.approx(expected)


def test_a_heat_map_does_not_show_a_small_number_as_zero(runs):
    small = runs.assign(deviation_mean=np.where(runs["k"] == 2, 3.7e-4, 0.0))
    labels = [text.get_text() for text in heatmaps.draw(small).axes[0].texts]
    assert labels == ["0.000"] * 4 + ["4e−4"] * 4


def test_the_heat_maps_show_frac_and_the_controls_by_k(runs, heat_maps):
    axes = heat_maps.axes[11]  # the last panel of the second row
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["FRAC (fair)", "FRAC (nearest)", "k-means", "random"]
    random_runs = runs[(runs["method"] == "random") & (runs["k"] == 10)]
    assert axes.collections[0].get_array().reshape(2, 4)[0, 3] == pytest.approx(random_runs["cohesion"].mean())


def test_a_k_without_a_result_keeps_its_row(runs):
    figure = heatmaps.draw(runs[(runs["matcher"] != "C") | (runs["k"] != 2)])
    axes = figure.axes[0]
    assert axes.collections[0].get_array().reshape(2, 4).mask.tolist() == [[False] * 4, [True] * 4]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["10", "2"]


def test_lines_over_omega_are_means_and_dashed_lines_the_means_of_the_controls(runs):
    figure = omega_effect.draw(runs)
    runs_of_c = runs[(runs["matcher"] == "C") & (runs["status"] == "ok")]
    for axes, quantity in zip(figure.axes, ("centroid_silhouette", "deviation_mean", "deviation_max", "cohesion"), strict=True):
        by_dataset = [runs_of_c[runs_of_c["dataset"] == name].groupby("omega")[quantity].mean() for name in sorted(DATASETS)]
        curves = [line.get_ydata() for line in axes.lines[:3]]
        assert np.allclose(curves, [*by_dataset, np.mean(by_dataset, axis=0)])
        means = {to_hex(line.get_color()).upper(): line.get_ydata()[0] for line in axes.lines[3:]}
        has_controls = quantity != "centroid_silhouette"  # controls have no clusterlets, so no centroids
        assert set(means) == ({COLORS["random"], COLORS["k-means"]} if has_controls else set())
        if has_controls:
            random = runs[runs["method"] == "random"]
            assert means[COLORS["random"]] == pytest.approx(random.groupby("dataset")[quantity].mean().mean())


# ---- critical differences ---------------------------------------------------------------------------------------------


def ranking_of(names, title="All methods"):
    """A ranking of these methods, which have this order in each of 20 blocks."""
    values = np.tile(np.arange(float(len(names))), (20, 1))
    return statistics.rank("all_methods", title, pd.DataFrame(values, columns=names))


def test_a_method_has_the_same_color_as_in_figures_with_more_methods():
    ranked, others = ["FRAC (fair)", "vfc", "scaff-tree", "k-means"], ["antidote", "fairlets", "tree-fairlets"]
    figure = critical_difference.draw_ranking(ranking_of(ranked), [*ranked, *others])
    dot_colors = {to_hex(dot.get_facecolor()[0]).upper() for dot in figure.axes[0].collections}
    styles = method_styles([*ranked, *others])
    assert dot_colors == {styles[name][0].upper() for name in ranked}
    assert styles["vfc"] != method_styles(ranked)["vfc"]  # A style depends on the position among all methods.


@pytest.mark.parametrize("seed", range(3))
def test_bands_join_the_largest_sets_of_methods_of_which_no_two_differ(seed):
    stream = np.random.default_rng(seed)
    values = pd.DataFrame(stream.normal(size=(20, 7)) + np.arange(7) / 3, columns=list("ABCDEFG"))
    ranking = statistics.rank("all_methods", "All methods", values)
    alike = [
        set(names)
        for size in range(2, 8)
        for names in combinations("ABCDEFG", size)
        if all(ranking.nemenyi.loc[pair] > statistics.ALPHA for pair in combinations(names, 2))
    ]
    largest = [names for names in alike if not any(names < others for others in alike)]
    ranks = ranking.mean_ranks
    expected = sorted([ranks[list(names)].min(), ranks[list(names)].max()] for names in largest)
    lines = critical_difference.draw_ranking(ranking, "ABCDEFG").axes[0].lines
    bands = [line.get_xdata() for line in lines if len(set(line.get_ydata())) == 1 and line.get_ydata()[0] < 0]
    assert np.allclose(sorted(map(sorted, bands)), expected)


def test_methods_of_which_no_two_differ_are_joined_by_one_band():
    values = pd.DataFrame(np.random.default_rng(0).random((3, 24)), columns=[f"method-{number}" for number in range(24)])
    ranking = statistics.rank("all_methods", "All methods", values)
    lines = critical_difference.draw_ranking(ranking, values.columns).axes[0].lines
    bands = [list(line.get_xdata()) for line in lines if set(line.get_ydata()) == {-1}]
    assert bands == [[ranking.mean_ranks.min(), ranking.mean_ranks.max()]]


def test_a_long_title_is_wrapped_above_all_names():
    names = [f"method-{number:02}" for number in range(22)]
    title = f"All methods, without {', '.join(f'absent-{number}' for number in range(9))}, blocks are datasets"
    figure = critical_difference.draw_ranking(ranking_of(names, title), names)
    figure.canvas.draw()
    (axes,) = figure.axes
    name_boxes = [text.get_window_extent() for text in axes.texts if "method-" in text.get_text()]
    assert len(name_boxes) == 22 and not any(one.overlaps(other) for one, other in combinations(name_boxes, 2))
    heading = axes.title.get_window_extent()
    assert heading.width < figure.bbox.width and heading.y0 > max(box.y1 for box in name_boxes)


# ---- clusters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n_methods"), [("table4_frac_vs_clusterlets", 3), ("table2_with_controls", 5)])
def test_the_runs_shown_in_detail_are_those_of_table_4_and_the_controls(runs, name, n_methods):
    selected = selection.best_runs(runs)
    table = tables.make(runs, [name])[name].frame.dropna(subset="seed")
    selected = selected[selected["method"].isin(table["method"])]
    columns = ["dataset", "method", "k", "seed", "deviation_mean"]
    actual, expected = (frame[columns].sort_values(columns).to_numpy().tolist() for frame in (selected, table))
    assert actual == expected and len(actual) == n_methods * len(DATASETS)


# ---- names that users choose ------------------------------------------------------------------------------------------

# Valid and broken formulas, special characters of matplotlib, and a name of 20,000 characters: two for each figure.
ODD_NAMES = [
    ("$0-$20k", "$\\frac{$"),
    ("a_{b}^2", "_hidden"),
    ("x" * 20_000, "東京"),
]


@pytest.mark.filterwarnings("ignore:Glyph")  # the font lacks the characters of Tokyo's name
@pytest.mark.parametrize("names", ODD_NAMES, ids=lambda names: names[1])
def test_names_are_drawn_literally_and_cut_if_too_long(names, runs):
    renamed = runs.replace({"dataset": dict(zip(DATASETS, names, strict=True))})
    figure = cohesion_vs_deviation.draw(renamed)
    png = as_bytes(figure, ".png", dpi=100, bbox_inches="tight")
    plt.close(figure)
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
    text = text_in(figure)
    assert all(name in text or (len(name) > 12 and name[:11] in text and "…" in text) for name in names)
    width, height = struct.unpack(">II", png[16:24])
    assert width <= 1.02 * 100 * WIDTH and height <= 100 * 2 * WIDTH


# ---- the ranges of table 1 -------------------------------------------------------------------------------------------


def test_every_counted_number_of_table_1_has_a_dot_and_its_range():
    cells = counted_cells(reported.ranges().query("table == 'table1_matchers'"))
    figure = table1_ranges.draw(reported.ranges())
    dots, lines = Counter(), Counter()
    for axes in figure.axes:
        for line in axes.lines:
            x = [round(float(value), 9) for value in line.get_xdata()]
            if len(x) == 2:
                lines[tuple(x)] += 1
            elif line.get_markerfacecolor() != "none":
                dots[x[0], line.get_color()] += 1
    colors = cells["inside"].map({"yes": "#0072B2", "no": "#D55E00"})
    assert dots == Counter(zip(cells["reported"].astype(float).round(9), colors, strict=True)) and len(cells) == 44
    assert lines == Counter(zip(cells["low"].round(9), cells["high"].round(9), strict=True))


def test_without_the_papers_datasets_the_figure_says_why_it_is_empty():
    figure = table1_ranges.draw(compared_runs(synthetic_runs(("iris",), seeds=1, ks=(2,))))
    assert "too few of the paper's datasets" in text_in(figure)


# ---- all figures -----------------------------------------------------------------------------------------------------

DRAWN_FROM_RUNS_ALONE = (cohesion_vs_deviation, heatmaps, omega_effect)
SPARSE_RUNS = {
    "no row": lambda runs: runs[:0],
    "no FRAC": lambda runs: runs[~runs["method"].str.startswith("FRAC")],
    "nothing ok": lambda runs: runs.assign(status="infeasible", deviation_mean=np.nan, cohesion=np.nan, n_clusters=np.nan),
    "one omega": lambda runs: runs[runs["omega"].isna() | (runs["omega"] == 0.5)],
    "a user's matcher": lambda runs: runs.replace({"matcher": {"B": "Z"}}),
}


@pytest.mark.parametrize("case", SPARSE_RUNS)
def test_figures_can_be_drawn_from_sparse_runs(runs, case, tmp_path):
    sparse = SPARSE_RUNS[case](runs)
    figures = {module.__name__: module.draw(sparse) for module in DRAWN_FROM_RUNS_ALONE}
    for name, figure in figures.items():
        assert figure.get_figwidth() <= WIDTH + 0.01
        if sparse.empty:
            save(figure, tmp_path / name)
            assert "Nothing to show" in text_in(figure) and is_empty((tmp_path / f"{name}.png").read_bytes())
        else:
            figure.draw_without_rendering()
            plt.close(figure)


@pytest.mark.slow
def test_another_process_draws_the_same_bytes(tmp_path):
    # On eight datasets the methods differ so little that bands of the ranking join three or more methods. The order of such
    # methods in a set could depend on the hash seed.
    runs = synthetic_runs(datasets.names()[:8], seeds=2, ks=(2, 10))
    outputs = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        (folder / "statistics").mkdir(parents=True)
        runs.to_csv(folder / "runs.csv", index=False)
        for name, table in statistics.to_tables(statistics.rank_all(runs)).items():
            write_csv(folder / "statistics" / f"{name}.csv", table)
        for module in ("cohesion_vs_deviation", "critical_difference", "heatmaps", "omega_effect"):
            command = [sys.executable, "-m", "clusterlets.benchmark.steps", "plot", f"--module={module}", f"--results={folder}"]
            subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed})
        outputs.append({path.name: path.read_bytes() for path in (folder / "figures").iterdir()})
    # six figures, each as PDF and PNG
    assert len(outputs[0]) == 12 and outputs[0].keys() == outputs[1].keys()
    assert [name for name in outputs[0] if outputs[0][name] != outputs[1][name]] == []


def test_a_pdf_stores_only_the_pixels_that_its_panels_show(runs, monkeypatch, tmp_path):
    images, write_image = [], PdfFile.imageObject

    def write_and_keep(file, image):
        images.append(image)
        return write_image(file, image)

    monkeypatch.setattr(PdfFile, "imageObject", write_and_keep)
    figure = cohesion_vs_deviation.draw(runs)
    width, height = figure.get_size_inches() * 200  # in pixels, of four bytes each
    save(figure, tmp_path / "figure")
    assert len(images) == len(DATASETS)
    # Without a base, the image is a copy of a panel, not a view of the whole page.
    assert all(image.base is None and image.nbytes < width * height * 4 / len(DATASETS) for image in images)


def test_names_that_look_like_numbers_or_missing_values_stay_names(tmp_path, runs):
    write_csv(tmp_path / "groups.csv", pd.DataFrame({"group": ["NA", "01"], "matcher": [None, "B"], "omega": [0.5, None]}))
    reread = read_results_table(tmp_path / "groups.csv")
    assert list(reread["group"]) == ["NA", "01"] and reread["omega"].dtype == float and reread["matcher"].isna().sum() == 1
    write_csv(tmp_path / "runs.csv", runs.replace({"dataset": dict(zip(DATASETS, ("null", "nan")))}))
    reread = read_runs(tmp_path / "runs.csv")
    assert set(reread["dataset"]) == {"null", "nan"} and reread["note"].isna().all() and len(reread) == len(runs)


def test_a_methods_mark_is_hollow_only_if_all_its_runs_are_degenerate(runs):
    figure = cohesion_vs_deviation.draw(runs)
    # Each matcher has a cloud and then a mark, in the order C, G-B, D.
    marks_of_c, marks_of_d = (figure.axes[0].collections[index] for index in (1, 5))
    assert marks_of_c.get_facecolor().tolist() == [[1, 1, 1, 1]]
    assert marks_of_d.get_facecolor().tolist() == marks_of_d.get_edgecolor().tolist()


@pytest.fixture(scope="module")
def shares():
    return copies.shares(reported.ranges(), reported.copies())


@pytest.mark.skipif(bool(unlike_lock({"matplotlib": matplotlib.__version__})), reason="other versions draw other pixels")
def test_the_figures_of_the_paper_in_docs_match_the_committed_numbers(shares, tmp_path):
    for name, figure in {"shares": shares_figure.draw(shares), "table1_ranges": table1_ranges.draw(reported.ranges())}.items():
        save(figure, tmp_path / name)
        image, committed_image = (plt.imread(folder / f"{name}.png") for folder in (tmp_path, CHECKOUT / "docs/figures"))
        assert image.shape == committed_image.shape and np.abs(image - committed_image).mean() < 0.005


def test_the_figure_of_the_shares_shows_only_tables_that_can_be_compared(shares):
    """Tables 1 and 5 hold averages over datasets.

    With few datasets they cannot be compared with the paper's values, so the figure leaves them out.
    """
    averages = shares["source"].str.startswith("the paper") & shares["table"].str.match("table[15]")
    (axes,) = shares_figure.draw(shares[~averages]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Table 2", "Table 3", "Table 4"]
