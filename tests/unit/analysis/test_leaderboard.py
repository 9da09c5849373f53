"""The leaderboard: selection on the first seeds, scores on the others, fronts and their summaries."""

import itertools

import numpy as np
import pandas as pd
import pytest
from synthetic_runs import synthetic_runs

from clusterlets.analysis import leaderboard
from clusterlets.grid.runs_frame import read_lines, write_csv
from clusterlets.grid.runs_table import COLUMNS


def runs(*lines, dataset="iris", k=5):
    """Rows of method, parameters, seeds' (deviation, price); None for a run without a result."""
    rows = []
    for method, parameters, results in lines:
        for seed, result in enumerate(results):
            row = {"dataset": dataset, "method": method, "k": k, "parameters": parameters, "seed": seed, "n_clusters": k}
            if result is None:
                rows.append(row | {"status": "timeout", "n_clusters": None})
            else:
                scores = {"deviation_max": result[0], "delta_min": 2 * result[0], "weighted_deviation": result[0] / 2}
                rows.append(row | scores | {"status": "ok", "price_of_fairness": result[1], "kmeans_cost": 50 * result[1]})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["k", "n_clusters", "deviation_max", "delta_min", "weighted_deviation", "price_of_fairness", "kmeans_cost"]
    return table.astype(dict.fromkeys(numbers, float))


FAIR = ("fair-flow", "delta=0", [(0.005, 1.5), (0.006, 1.6), (0.004, 1.4), (0.008, 1.8)])
LOOSE = ("fair-flow", "delta=0.3", [(0.08, 1.1), (0.09, 1.1), (0.08, 1.2), (0.07, 1.1)])
PLAIN = ("k-means", None, [(0.3, 1.0), (0.2, 1.1), (0.3, 1.0), (0.3, 1.05)])
LUCKY = ("lucky", "a=1", [(0.005, 1.2), (0.005, 1.2), (0.5, 1.2), (0.5, 1.2)])


def line(board, method, limit):
    (row,) = board[(board["method"] == method) & (board["limit"] == limit)].to_dict("records")
    return row


def summed_up(table):
    return leaderboard.overall(leaderboard.leaderboard(table), leaderboard.points(table))


# ---- a block ---------------------------------------------------------------------------------------------------------


def test_parameters_are_selected_on_the_first_seeds_and_scored_on_the_others():
    board = leaderboard.leaderboard(runs(FAIR, LOOSE, PLAIN))
    strict, loose, free = (line(board, "fair-flow", limit) for limit in (0.01, 0.1, np.inf))
    assert (strict["parameters"], strict["price"], strict["rank"]) == ("delta=0", pytest.approx(1.6), 1)
    assert (strict["price_low"], strict["price_high"], strict["within"]) == (1.4, 1.8, 1.0)
    assert (loose["parameters"], loose["price"]) == ("delta=0.3", pytest.approx(1.15))
    assert (free["parameters"], free["rank"]) == ("delta=0.3", 2)
    assert [line(board, "fair-flow", limit)["tried"] for limit in (0.01, 0.1)] == [2, 2]
    plain = line(board, "k-means", np.inf)
    assert (plain["rank"], plain["parameters"], plain["price"]) == (1, "", pytest.approx(1.025))
    missed = line(board, "k-means", 0.1)
    assert pd.isna(missed["rank"]) and np.isnan(missed["price"]) and pd.isna(missed["parameters"])
    assert missed["outcome"] == "none keeps the limit"


def test_the_scoring_seeds_do_not_affect_the_selection():
    better = ("fair-flow", "delta=0.1", [*FAIR[2][:1], (0.02, 3.0), (0.001, 1.0), (0.001, 1.0)])
    board = leaderboard.leaderboard(runs(FAIR, better, PLAIN))
    assert line(board, "fair-flow", 0.01)["parameters"] == "delta=0"


def test_a_method_within_the_limit_on_the_selection_seeds_alone_is_shown_without_a_rank():
    board = leaderboard.leaderboard(runs(FAIR, LUCKY))
    lucky = line(board, "lucky", 0.01)
    assert pd.isna(lucky["rank"]) and lucky["outcome"] == "misses the limit"
    assert lucky["price"] == 1.2 and lucky["within"] == 0 and lucky["deviation_max"] == 0.5
    assert line(board, "fair-flow", 0.01)["rank"] == 1


def test_runs_without_a_result_count_against_a_method():
    often = ("often", "a=1", [None, (0.001, 1.0), (0.001, 1.0), (0.001, 1.0)])
    seldom = ("seldom", "a=1", [(0.001, 1.3), (0.001, 1.3), (0.001, 1.3), None])
    never = ("never", "a=1", [None] * 4)
    board = leaderboard.leaderboard(runs(often, seldom, never, FAIR))
    assert pd.isna(line(board, "often", 0.01)["rank"])  # one of the two selection seeds failed
    assert line(board, "never", 0.01)["outcome"] == "no result"
    assert (line(board, "never", 0.01)["runs"], line(board, "never", 0.01)["statuses"]) == (4, "timeout 4")
    for limit in (0.01, np.inf):
        row = line(board, "seldom", limit)
        assert (row["ok"], row["seeds"], row["within"]) == (1, 2, 0.5) and pd.isna(row["rank"])
        assert (row["price_low"], row["price_high"], row["statuses"]) == (1.3, 1.3, "timeout 1")


def test_an_overlapping_clustering_has_no_price_and_counts_as_no_result():
    table = runs(FAIR, ("half", "a=1", [(0.005, 1.1), (0.005, 1.1), (0.005, 1.1), (0.005, np.nan)]))
    row = line(leaderboard.leaderboard(table), "half", 0.01)
    assert (row["ok"], row["within"]) == (2, 0.5) and pd.isna(row["rank"]) and row["outcome"] == "misses the limit"


def test_fewer_clusters_than_requested_are_compared_with_the_requested_number():
    table = runs(FAIR, PLAIN)  # the least cost with five clusters is 50
    too_few, too_many = table.iloc[:1].copy(), table.iloc[:1].copy()
    too_few[["n_clusters", "kmeans_cost", "price_of_fairness"]] = [2, 200.0, 1.0]
    too_many[["n_clusters", "kmeans_cost", "price_of_fairness"]] = [9, 45.0, 1.7]
    assert leaderboard.prices(pd.concat([table, too_few, too_many], ignore_index=True)).tolist()[-2:] == [4.0, 1.7]
    assert leaderboard.prices(table).equals(table["price_of_fairness"])


def test_a_method_has_three_configurations_spread_over_its_grid():
    lines = [("vfc", f"w={weight}", FAIR[2]) for weight in (9, 10, 1, 2)]
    entered = leaderboard.participating_runs(runs(*lines, FAIR))
    assert list(entered.loc[entered["method"] == "vfc", "parameters"].unique()) == ["w=9", "w=10", "w=2"]
    assert line(leaderboard.leaderboard(runs(*lines, FAIR)), "vfc", 0.01)["tried"] == 3
    assert line(leaderboard.leaderboard(runs(*lines, FAIR)), "vfc", 0.01)["parameters"] == "w=9"  # ties go by the grid's order


def test_blocks_are_ranked_separately_and_equal_prices_share_a_rank():
    other = ("other", "a=1", FAIR[2])
    table = pd.concat([runs(FAIR, other), runs(FAIR, dataset="wine"), runs(FAIR, other, k=10)], ignore_index=True)
    board = leaderboard.leaderboard(table)
    assert board.loc[board["limit"] == 0.01, "rank"].tolist() == [1, 1, 1, 1, 1]
    assert list(board["dataset"].unique()) == ["iris", "wine"]


def median(rows, score):
    """Median over the seeds of a configuration; a missing result counts as infinite."""
    return rows[score].fillna(np.inf).median()


def chosen_by_a_plain_search(own, limit):
    """Parameters selected on the first two of five seeds, and their price on the others: infinite if they miss the limit."""
    halves = [
        (name, configuration_runs[configuration_runs["seed"] < 2], configuration_runs[configuration_runs["seed"] >= 2])
        for name, configuration_runs in own.groupby("parameters", sort=False)
    ]
    eligible = [half for half in halves if median(half[1], "deviation_max") <= limit and median(half[1], "price") < np.inf]
    if not eligible:
        return None
    name, _, scoring = min(eligible, key=lambda half: median(half[1], "price"))
    return name, median(scoring, "price") if median(scoring, "deviation_max") <= limit else np.inf


@pytest.mark.parametrize("limit", [0.05, np.inf])
def test_ranks_and_choices_match_a_plain_search(limit):
    table = synthetic_runs(("pima", "credit"), seeds=5, ks=(5,))
    entered = leaderboard.participating_runs(table)
    entered = entered.assign(price=leaderboard.prices(entered))
    board = leaderboard.leaderboard(table)
    for dataset, part in entered.groupby("dataset"):
        searched = {method: chosen_by_a_plain_search(own, limit) for method, own in part.groupby("method")}
        choices = {method: choice for method, choice in searched.items() if choice}
        prices = {method: price for method, (_, price) in choices.items() if price < np.inf}
        block = board[(board["limit"] == limit) & (board["dataset"] == dataset)].set_index("method")
        assert block["parameters"].dropna().to_dict() == {method: name for method, (name, _) in choices.items()}
        ranks = {method: 1 + sum(other < price for other in prices.values()) for method, price in prices.items()}
        assert block["rank"].dropna().to_dict() == ranks and ranks


# ---- fronts ----------------------------------------------------------------------------------------------------------


def test_fronts_hold_the_undominated_points():
    table = runs(FAIR, LOOSE, PLAIN, ("worse", "a=1", [(0.35, 1.3)] * 4), ("equal", "a=1", LOOSE[2]))
    points = leaderboard.points(table)
    flags = dict(zip(points["method"] + " " + points["parameters"], points["on_front"], strict=True))
    assert flags == {
        "fair-flow delta=0": True,
        "fair-flow delta=0.3": True,
        "k-means ": True,
        "worse a=1": False,
        "equal a=1": True,
    }
    board = leaderboard.leaderboard(table)
    assert [line(board, method, np.inf)["on_front"] for method in ("k-means", "worse")] == [True, False]


@pytest.mark.parametrize("seed", range(4))
def test_an_area_matches_a_fine_grid_of_points(seed):
    values = np.random.default_rng(seed).integers(0, 10, size=(6, 2))
    lines = [(f"m{index}", "", [(delta / 20, 1 + price / 10)] * 2) for index, (delta, price) in enumerate(values)]
    hypervolume = summed_up(runs(*lines)).groupby("method")["hypervolume"].first()
    cells = list(itertools.product(np.arange(0.05, 1, 0.1), np.arange(1.05, 2, 0.1)))

    def covered(points):
        return sum(any(delta / 10 < x and 1 + price / 10 < y for delta, price in points) for x, y in cells)

    expected = {f"m{index}": covered([point]) / covered(values) for index, point in enumerate(values)}
    assert hypervolume.to_dict() == pytest.approx(expected, abs=1e-6)


# ---- over all blocks -------------------------------------------------------------------------------------------------


def test_methods_without_a_rank_share_the_remaining_ranks():
    strict = summed_up(runs(FAIR, LOOSE, PLAIN, LUCKY))
    strict = strict[strict["limit"] == 0.01].set_index("method")
    assert strict["mean_rank"].to_dict() == {"fair-flow": 1, "k-means": 2.5, "lucky": 2.5}
    assert strict["ranked"].to_dict() == {"fair-flow": 1, "k-means": 0, "lucky": 0} and strict["first"].sum() == 1
    assert strict.loc["fair-flow", [f"within_{factor:g}" for factor in leaderboard.FACTORS]].tolist() == [1.0] * 7


def test_the_profile_counts_blocks_by_relative_price():
    near, far = (("other", "a=1", [(0.005, price)] * 4) for price in (1.6 * 1.05, 1.6 * 1.4))
    table = pd.concat([runs(FAIR, near), runs(FAIR, far, k=10), runs(("other", "a=1", [None] * 4), FAIR, k=20)])
    summary = summed_up(table.reset_index(drop=True))
    other = summary[(summary["limit"] == 0.01) & (summary["method"] == "other")].iloc[0]
    shares = {factor: other[f"within_{factor:g}"] for factor in leaderboard.FACTORS}
    assert shares == pytest.approx({1: 0, 1.05: 1 / 3, 1.1: 1 / 3, 1.25: 1 / 3, 1.5: 2 / 3, 2: 2 / 3, 3: 2 / 3}, abs=1e-6)
    assert (other["blocks"], other["ranked"]) == (3, 2)


def test_a_block_in_which_no_method_keeps_the_limit_does_not_count():
    summary = summed_up(pd.concat([runs(FAIR, PLAIN), runs(PLAIN, LOOSE, k=10)], ignore_index=True))
    assert set(summary.loc[summary["limit"] == 0.01, "blocks"]) == {1} and set(
        summary.loc[summary["limit"] == 0.1, "blocks"]
    ) == {2}


def test_one_seed_one_method_and_no_runs_give_an_empty_board():
    for table in (runs((FAIR[0], FAIR[1], FAIR[2][:1]), PLAIN).query("seed == 0"), runs(FAIR, LOOSE), runs(FAIR).iloc[:0]):
        board = leaderboard.leaderboard(table)
        assert list(board.columns) == leaderboard.COLUMNS and not len(board)
        assert list(summed_up(table).columns) == leaderboard.OVERALL and not len(summed_up(table))


def test_writing_and_reading_files_changes_nothing(tmp_path):
    table = synthetic_runs(("pima", "credit"), seeds=4, ks=(5, 10))
    board, points = leaderboard.leaderboard(table), leaderboard.points(table)
    for name, frame in (("board", board), ("known", points)):
        write_csv(tmp_path / f"{name}.csv", frame)
    read = [read_lines(tmp_path / f"{name}.csv") for name in ("board", "known")]
    assert leaderboard.overall(*read).equals(leaderboard.overall(board, points))
