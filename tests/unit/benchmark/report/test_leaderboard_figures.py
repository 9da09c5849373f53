"""The figures of the leaderboard show its numbers, and can be drawn even from few or failed runs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.analysis.fit_costs import by_configuration
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.runs_frame import read_results_table, write_csv
from clusterlets.benchmark.report.figures import is_empty, price_against_unfairness, reliability_against_price
from clusterlets.pages.style import COLORS, WIDTH, method_styles, save

DATASETS = ("pima", "credit")
GRIDS = read_configuration()["method_settings"]
OTHER_METHODS = [f"method-{number}" for number in range(30)]


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(DATASETS, seeds=4, ks=(2, 5, 10))


def points_of(runs):
    return leaderboard.points(runs, leaderboard.kinds_of(GRIDS), {})


@pytest.fixture(scope="module")
def board(runs):
    return leaderboard.leaderboard(points_of(runs))


def any_overlap(boxes):
    return any(one.overlaps(other) for one, other in combinations(boxes, 2))


def panel(figure, dataset):
    (axes,) = (axes for axes in figure.axes if axes.get_title().startswith(dataset))
    return axes


def test_all_methods_have_different_styles_and_those_of_the_paper_share_no_color_or_marker():
    styles = method_styles([*COLORS, *OTHER_METHODS])
    assert len(set(styles.values())) == len(COLORS) + len(OTHER_METHODS)
    paper_styles = [styles[name] for name in COLORS]
    assert len({color for color, _ in paper_styles}) == len({marker for _, marker in paper_styles}) == len(COLORS)


# ---- price against unfairness ----------------------------------------------------------------------------------------


def test_the_dots_are_the_configurations_and_the_line_is_their_front(runs):
    points = points_of(runs)
    figure = price_against_unfairness.draw(runs, points)
    for dataset in DATASETS:
        # exact: all runs have k clusters and a price
        rows = leaderboard.configurations(points[points["dataset"] == dataset]).query("k == 5 and exact")
        rows["on_front"] = leaderboard.is_on_front(rows[["deviation_max", "price"]])
        axes = panel(figure, dataset)
        dots = np.vstack([collection.get_offsets() for collection in axes.collections])
        top = axes.get_ylim()[1]
        in_panel = rows[rows["price"] <= top]
        assert sorted(map(tuple, dots.round(9))) == sorted(map(tuple, in_panel[["deviation_max", "price"]].to_numpy().round(9)))
        assert ("above" in axes.get_title()) == (len(in_panel) < len(rows)) and rows.loc[rows["on_front"], "price"].max() < top
        (line,) = axes.lines
        front = rows[rows["on_front"]].sort_values(["deviation_max", "price"])
        assert np.allclose(line.get_xydata(), front[["deviation_max", "price"]]) and (np.diff(line.get_ydata()) <= 0).all()
        assert {text.get_text() for text in axes.texts} <= set(front["parameters"])


def test_labels_of_the_front_do_not_overlap(runs):
    constants = {"dataset": "pima", "k": 5, "n_clusters": 5, "method": "random", "kind": "control", "chooses": False}
    constants |= {"status": "ok", "smallest": 5, "seed": 0}
    parameters = [f"omega=0.{number:03}" for number in range(40)]
    coordinates = {"deviation_max": np.linspace(0.01, 0.99, 40), "price": np.linspace(3, 1, 40)}
    crowded_front = pd.DataFrame({**coordinates, "parameters": parameters}).assign(**constants)
    figure = price_against_unfairness.draw(runs, crowded_front)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in panel(figure, "pima").texts]
    assert len(boxes) > 3 and not any_overlap(boxes)
    panel_box = panel(figure, "pima").get_window_extent()
    assert all(panel_box.x0 - 2 <= box.x0 and box.x1 <= panel_box.x1 + 6 for box in boxes)  # pixels of tolerance


# ---- reliability against price ---------------------------------------------------------------------------------------


def test_every_method_with_a_shared_case_has_a_named_point_with_its_intervals(board):
    overall, pairs = leaderboard.overall(board), leaderboard.pairs(board)
    (axes,) = reliability_against_price.draw(overall, pairs).axes
    rows = overall[overall["limit"] == 0.05].set_index("method")
    first = rows.index[0]
    shared = {first: (1.0, rows.loc[first, "kept"])}
    for pair in pairs[(pairs["limit"] == 0.05) & (pairs["cases"] > 0)].to_dict("records"):
        if first in (pair["method"], pair["other"]):
            other = pair["other"] if pair["method"] == first else pair["method"]
            shared[other] = (1 / pair["ratio"] if pair["method"] == first else pair["ratio"], pair["cases"])
    points = sorted(tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "o")
    assert len(points) > 1
    assert np.allclose(points, sorted((ratio, rows.loc[name, "reliability"]) for name, (ratio, _) in shared.items()))
    assert sorted(text.get_text() for text in axes.texts) == sorted(f"{name}, {cases}" for name, (_, cases) in shared.items())
    bars = {tuple(map(tuple, line.get_xydata().round(9))) for line in axes.lines if line.get_marker() != "o"}
    for name, (ratio, _) in shared.items():
        assert tuple((round(ratio, 9), round(rows.loc[name, f"reliability_{end}"], 9)) for end in ("low", "high")) in bars


@pytest.mark.parametrize("reliability", [0.5, 1.0])
def test_names_of_equal_points_do_not_overlap_and_stay_below_the_title(reliability):
    names = [f"method-{number}" for number in range(8)]
    interval = {"reliability": reliability, "reliability_low": 0.4, "reliability_high": reliability}
    point = {"limit": 0.05, "kind": "method", "kept": 1, **interval}
    pair = {"limit": 0.05, "method": names[0], "cases": 1, "ratio": 1.0, "ratio_low": 0.9, "ratio_high": 1.1}
    pairs = pd.DataFrame({"other": names[1:]}).assign(**pair)
    figure = reliability_against_price.draw(pd.DataFrame({"method": names}).assign(**point), pairs)
    figure.canvas.draw()
    # Called on Text, because the extent of an annotation includes its line to the point.
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]
    assert len(boxes) == 8 and not any_overlap(boxes)
    assert max(box.ymax for box in boxes) <= figure.axes[0].bbox.ymax


# ---- seconds against rows --------------------------------------------------------------------------------------------


def test_seconds_are_medians_over_fits_under_the_method_names_of_the_results():
    fits = pd.DataFrame(
        [("iris", "FRAC", 5, None, seed, "ok", seconds, 60.0 + seed) for seed, seconds in enumerate([1, 2, 9])]
        + [("iris", "G-D", 5, "hops=2", 0, "ok", 0.5, 50.0), ("wine", "FRAC", 5, None, 0, "timeout", 60.0, 0.0)],
        columns=["dataset", "method", "k", "parameters", "seed", "status", "seconds", "memory_mb"],
    )
    costs = by_configuration(fits, read_configuration()["method_settings"])
    medians = costs.set_index(["dataset", "method", "parameters"])[["fits", "seconds", "memory_mb"]].to_dict("index")
    assert medians == {
        **{("iris", f"FRAC ({kind})", ""): {"fits": 3, "seconds": 2, "memory_mb": 62} for kind in ("fair", "nearest")},
        ("iris", "G-D-PB", "hops=2"): {"fits": 1, "seconds": 0.5, "memory_mb": 50},
        **{("wine", f"FRAC ({kind})", ""): {"fits": 1, "seconds": 60, "memory_mb": 0} for kind in ("fair", "nearest")},
    }


# ---- all figures -----------------------------------------------------------------------------------------------------

UNUSUAL_RUNS = {
    "no row": lambda runs: runs[:0],
    "one seed": lambda runs: runs[runs["seed"] == 0],
    "no cost": lambda runs: runs.assign(kmeans_cost=np.nan, price_of_fairness=np.nan),
    "nothing ok": lambda runs: runs.assign(status="timeout"),
    "two methods on one table": lambda runs: runs[(runs["dataset"] == "pima") & runs["matcher"].isna() & (runs["k"] == 2)],
    "a user's matcher, and a dataset name that looks like LaTeX": lambda runs: runs.replace(
        {"matcher": {"B": "Z"}, "dataset": {"pima": "$_{"}}
    ),
}


@pytest.mark.parametrize("case", UNUSUAL_RUNS)
def test_figures_can_be_drawn_from_unusual_runs_read_back_from_files(runs, case, tmp_path):
    unusual = UNUSUAL_RUNS[case](runs)
    points = points_of(unusual)
    board = leaderboard.leaderboard(points)
    for name, frame in (("points", points), ("board", board), ("overall", leaderboard.overall(board))):
        write_csv(tmp_path / f"{name}.csv", frame)
    points, board, overall = (read_results_table(tmp_path / f"{name}.csv") for name in ("points", "board", "overall"))
    figure_cases = (
        (price_against_unfairness, (unusual, points), points.loc[points["status"] == "ok", "price"].isna().all()),
        (reliability_against_price, (overall, leaderboard.pairs(board)), not overall["kept"].any()),
    )
    for module, frames, empty in figure_cases:
        figure = module.draw(*frames)
        save(figure, tmp_path / "figure")
        assert figure.get_figwidth() <= WIDTH + 0.01
        messages = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert any("Nothing to show" in text for text in messages) == empty
        assert is_empty((tmp_path / "figure.png").read_bytes()) == empty
