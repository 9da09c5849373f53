"""The figures of the leaderboard show its numbers, and can be drawn from whatever runs there are."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from synthetic_runs import synthetic_runs

from clusterlets.analysis import leaderboard, selection
from clusterlets.analysis.fit_costs import by_configuration
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.runs_frame import read_lines, write_csv
from clusterlets.report.drawing.empty import is_empty
from clusterlets.report.drawing.style import COLORS, WIDTH, method_styles, middle_value, plt, save
from clusterlets.report.figures import cost_at_limit, performance_profiles, price_against_unfairness, seconds_against_rows

DATASETS = ("pima", "credit")
FURTHER = [f"method-{place}" for place in range(30)]


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(DATASETS, seeds=4, ks=(2, 5, 10))


@pytest.fixture(scope="module")
def board(runs):
    return leaderboard.leaderboard(runs)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def panel(figure, dataset):
    (axes,) = (axes for axes in figure.axes if axes.get_title().startswith(dataset))
    return axes


def test_no_two_methods_look_alike_and_neighbours_differ_in_color_and_marker():
    look = method_styles([*COLORS, *FURTHER])
    assert len(set(look.values())) == len(COLORS) + len(FURTHER)
    looks_of_paper = [look[name] for name in COLORS]
    assert len({color for color, _ in looks_of_paper}) == len({marker for _, marker in looks_of_paper}) == len(COLORS)


def test_the_middle_of_an_even_number_is_the_lower():
    assert (middle_value([20, 5, 10, 10]), middle_value([10, 5, 5]), middle_value([2, 10, 30, 5])) == (10, 5, 5)


# ---- price against unfairness ----------------------------------------------------------------------------------------


def test_the_marks_are_the_configurations_and_the_line_is_their_front(runs):
    points = leaderboard.points(runs)
    figure = price_against_unfairness.draw(runs, points)
    for dataset in DATASETS:
        own = points[(points["dataset"] == dataset) & (points["k"] == 5)]
        axes = panel(figure, dataset)
        drawn = np.vstack([marks.get_offsets() for marks in axes.collections])
        highest = axes.get_ylim()[1]
        shown = own[own["price"] <= highest]
        assert sorted(map(tuple, drawn.round(9))) == sorted(map(tuple, shown[["delta_min", "price"]].to_numpy().round(9)))
        assert ("above" in axes.get_title()) == (len(shown) < len(own)) and own.loc[own["on_front"], "price"].max() < highest
        (line,) = axes.lines
        front = own[own["on_front"]].sort_values(["delta_min", "price"])
        assert np.allclose(line.get_xydata(), front[["delta_min", "price"]]) and (np.diff(line.get_ydata()) <= 0).all()
        assert {text.get_text() for text in axes.texts} <= set(front["parameters"])


def test_small_unfairness_has_room(runs):
    axes = panel(price_against_unfairness.draw(runs, leaderboard.points(runs)), "pima")
    start, small, end = (axes.transData.transform((x, 1))[0] for x in (0, 0.01, axes.get_xlim()[1]))
    assert (small - start) / (end - start) > 0.09


def test_labels_of_the_front_do_not_overlap(runs):
    crowded_front = pd.DataFrame(
        {"dataset": "pima", "k": 5, "method": "C", "parameters": [f"omega=0.{place:03}" for place in range(40)]}
    )
    crowded_front = crowded_front.assign(delta_min=np.linspace(0.01, 0.99, 40), price=np.linspace(3, 1, 40), on_front=True)
    figure = price_against_unfairness.draw(runs, crowded_front)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in panel(figure, "pima").texts]
    assert len(boxes) > 3 and not any(later.overlaps(earlier) for place, later in enumerate(boxes) for earlier in boxes[:place])
    frame = panel(figure, "pima").get_window_extent()
    assert all(frame.x0 - 2 <= box.x0 and box.x1 <= frame.x1 + 6 for box in boxes)


# ---- performance profiles --------------------------------------------------------------------------------------------


def test_a_profile_shows_the_shares_of_blocks_in_the_table(runs, board):
    figure = performance_profiles.draw(runs, board)
    summary = leaderboard.overall(board, leaderboard.points(runs))
    colors = {color.lower(): name for name, (color, _) in method_styles(set(selection.names(runs))).items()}
    (axes,) = (axes for axes in figure.axes if "≤ 0.1" in axes.get_title())
    steps = {colors[to_hex(line.get_color())]: line for line in axes.lines if line.get_drawstyle() == "steps-post"}
    rows = summary[(summary["limit"] == 0.1) & (summary["ranked"] > 0)].to_dict("records")
    assert len(rows) == len(steps) > 2
    for row in rows:
        x, y = steps[row["method"]].get_xydata().T
        for factor in leaderboard.FACTORS:
            assert y[x <= factor][-1] == pytest.approx(row[f"within_{factor:g}"], abs=1e-6)


# ---- cost under a limit ----------------------------------------------------------------------------------------------


def test_dots_are_prices_and_bars_their_range_over_the_seeds(runs, board):
    missing = board.index[(board["limit"] == 0.05) & (board["k"] == 5) & (board["rank"] == 2)]
    board = board.assign(rank=board["rank"].where(~board.index.isin(missing)))
    figure = cost_at_limit.draw(runs, board)
    shown = board[(board["limit"] == 0.05) & (board["k"] == 5) & board["price"].notna()]
    assert len(missing) and shown["rank"].notna().any()
    for dataset in DATASETS:
        axes, of_dataset = panel(figure, dataset), shown[shown["dataset"] == dataset]
        order = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        dots = {order[int(line.get_ydata()[0])]: line for line in axes.lines if line.get_marker() != "None"}
        bars = {order[int(line.get_ydata()[0])]: line.get_xdata() for line in axes.lines if line.get_marker() == "None"}
        assert dots.keys() == bars.keys() == set(of_dataset["method"])
        end = float(axes.get_xticklabels()[-1].get_text().removeprefix("≥"))
        for row in of_dataset.to_dict("records"):
            assert dots[row["method"]].get_xdata()[0] == min(row["price"], end)
            assert list(bars[row["method"]]) == [min(row["price_low"], end), min(row["price_high"], end)]
            assert (dots[row["method"]].get_markerfacecolor() == "white") == pd.isna(row["rank"])


# ---- seconds against rows --------------------------------------------------------------------------------------------


def test_seconds_are_medians_of_the_fits_by_the_names_in_the_results():
    fits = pd.DataFrame(
        [("iris", "FRAC", 5, None, seed, "ok", seconds, 60.0 + seed) for seed, seconds in enumerate([1, 2, 9])]
        + [("iris", "G-D", 5, "hops=2", 0, "ok", 0.5, 50.0), ("wine", "FRAC", 5, None, 0, "timeout", 60.0, 0.0)],
        columns=["dataset", "method", "k", "parameters", "seed", "status", "seconds", "memory_mb"],
    )
    costs = by_configuration(fits, read_configuration()["grids"])
    medians = costs.set_index(["dataset", "method", "parameters"])[["fits", "seconds", "memory_mb"]].to_dict("index")
    assert medians == {
        **{("iris", f"FRAC ({kind})", ""): {"fits": 3, "seconds": 2, "memory_mb": 62} for kind in ("fair", "nearest")},
        ("iris", "G-D-PB", "hops=2"): {"fits": 1, "seconds": 0.5, "memory_mb": 50},
        **{("wine", f"FRAC ({kind})", ""): {"fits": 1, "seconds": 60, "memory_mb": 0} for kind in ("fair", "nearest")},
    }
    figure = seconds_against_rows.draw(costs, pd.DataFrame({"dataset": ["iris", "wine"], "rows": [150, 178]}))
    lines = [tuple(map(tuple, line.get_xydata())) for axes in figure.axes for line in axes.lines]
    assert sorted(lines) == [((150, 0.5),), ((150, 2), (178, 60)), ((150, 2), (178, 60))]
    figure.canvas.draw()
    assert not any("$" in label.get_text() for axes in figure.axes for label in axes.get_xticklabels(which="both"))


# ---- all of them -----------------------------------------------------------------------------------------------------

LITTLE = {
    "no row": lambda runs: runs[:0],
    "one seed": lambda runs: runs[runs["seed"] == 0],
    "no cost": lambda runs: runs.assign(kmeans_cost=np.nan, price_of_fairness=np.nan),
    "nothing ok": lambda runs: runs.assign(status="timeout"),
    "two methods on one table": lambda runs: runs[(runs["dataset"] == "pima") & runs["matcher"].isna() & (runs["k"] == 2)],
    "a matcher of one's own and a name like a formula": lambda runs: runs.replace(
        {"matcher": {"B": "Z"}, "dataset": {"pima": "$_{"}}
    ),
}


@pytest.mark.parametrize("little", LITTLE)
def test_figures_can_be_drawn_from_little_and_from_files(runs, little, tmp_path):
    part = LITTLE[little](runs)
    write_csv(tmp_path / "board.csv", leaderboard.leaderboard(part))
    write_csv(tmp_path / "points.csv", leaderboard.points(part))
    board, points = (read_lines(tmp_path / f"{name}.csv") for name in ("board", "points"))
    for module, frame in ((price_against_unfairness, points), (performance_profiles, board), (cost_at_limit, board)):
        figure = module.draw(part, frame)
        save(figure, tmp_path / "figure")
        assert figure.get_figwidth() <= WIDTH + 0.01
        empty = points.empty if module is price_against_unfairness else board["rank"].isna().all()
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert any("Nothing to show" in text for text in texts) == empty
        assert is_empty((tmp_path / "figure.png").read_bytes()) == empty


def test_a_run_without_a_timed_fit_says_so():
    costs, datasets = pd.DataFrame({"dataset": [], "method": [], "seconds": []}), pd.DataFrame({"dataset": [], "rows": []})
    figure = seconds_against_rows.draw(costs, datasets)
    assert "no fit has been timed" in figure.axes[0].texts[0].get_text()
