"""The sentences and tables of the leaderboard agree with its files."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from built_results import SETTINGS, build
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.grid.runs_frame import read_results_table
from clusterlets.benchmark.report import answers, standings
from clusterlets.benchmark.report.standings import FILES, Standings


def standings_in(folder):
    return Standings(*(read_results_table(folder / name) for name in FILES))


def standings_of(runs):
    board = leaderboard.leaderboard(leaderboard.points(runs, leaderboard.kinds_of(SETTINGS["method_settings"]), {}))
    return Standings(board, leaderboard.overall(board), leaderboard.pairs(board))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(synthetic_runs(("pima", "credit", "magic"), seeds=4, ks=(2, 10)), tmp_path_factory.mktemp("board") / "built")


def finding(tables, phrase):
    """The one sentence that contains the phrase."""
    (sentence,) = (sentence for sentence, _ in standings.findings(tables) if phrase in sentence)
    return sentence


def test_the_first_sentence_under_a_limit_names_the_most_reliable_method(built):
    tables = standings_in(built)
    for limit in tables.limits:  # under 0.05, the sentence on the best matcher has the same phrase
        rows = tables.overall[(tables.overall["limit"] == limit) & (tables.overall["kind"] == "method")]
        row = rows.sort_values(["reliability", "price"], ascending=[False, True]).iloc[0]
        text = finding(tables, f"at most {limit:g},") if limit != 0.05 else finding(tables, "0.05, " + row["method"])
        assert f"It keeps the limit in {row['kept']} of {row['cases']} cases at a price of {row['price']:.2f}" in text
        assert f"90th percentile {row['price_90']:.2f}, worst {row['price_worst']:.2f}" in text
        tied = rows.loc[rows["reliability"] == row["reliability"], "price"].sort_values().tolist()
        assert (" comes first, by its median price" in text) == (len(tied) > 1)
        if len(tied) > 1:
            assert float(text.split("(the next is ")[1].split(" %")[0]) == pytest.approx(100 * (tied[1] / tied[0] - 1), rel=0.1)


def test_methods_with_as_many_cases_and_the_same_price_share_the_first_place(built):
    tables = standings_in(built)
    (row,) = tables.under(0.05, "method").to_dict("records")
    assert tables.tied_with_first(0.05) == []
    rivals = [row | {"method": "rival"}, row | {"method": "dearer", "price": 1.001 * row["price"]}]
    tied = replace(tables, overall=pd.concat([tables.overall, pd.DataFrame(rivals)]))
    assert tied.tied_with_first(0.05) == ["rival"]
    assert answers._most_reliable_methods(tied).startswith(f"{row['method']}, rival (tied), of 3 methods: ")


def test_each_change_of_the_rules_is_listed_once_with_the_first_three_methods(built):
    tables = standings_in(built)
    orders = standings.orders(tables)
    changes = [change for changes in orders["under"] for change in changes.split(", ")]
    tables_left_out = [f"without {name}" for name in ("pima", "credit", "magic")]
    limits = [f"at most {limit:g}" for limit in tables.limits]
    assert sorted(changes) == sorted([*limits, *tables_left_out, "halves exchanged", "within one row"])
    assert orders["first three"].is_unique
    order_of = {change: row["first three"] for row in orders.to_dict("records") for change in row["under"].split(", ")}
    for limit in tables.limits:
        rows = tables.under(limit, "method")
        assert order_of[f"at most {limit:g}"] == (", ".join(rows.loc[rows["kept"] > 0, "method"][:3]) or "none")
    board = tables.board[tables.board["dataset"] != "pima"]
    without_pima = leaderboard.overall(board[board["limit"] == 0.05]).query("kind == 'method' and kept > 0")["method"]
    assert order_of["without pima"] == (", ".join(without_pima[:3]) or "none")


def test_the_methods_of_this_project_are_marked_and_cpu_times_are_relative_to_those_of_the_same_case():
    costs = pd.DataFrame(
        [
            *(("a", 5, "fair-limit", "x=1", 2.0), ("a", 5, "fair-limit", "x=2", 4.0), ("b", 5, "fair-limit", "x=1", 1.0)),
            *(("a", 5, "one", "", 1.5), ("b", 5, "one", "", 2.0), ("b", 20, "one", "", 7.0)),
        ],
        columns=["dataset", "k", "method", "parameters", "seconds"],
    )
    efforts = standings.relative_efforts(costs)
    assert efforts == {"fair-limit": "1.00 [1.00, 1.00]", "one": "1.25 [0.50, 2.00]"}
    assert standings.relative_efforts(costs[costs["method"] == "one"]) == {}
    assert (standings.marked("fair-limit"), standings.marked("fair-flow")) == ("fair-limit (ours)", "fair-flow")


def test_the_best_matcher_is_judged_by_the_cases_where_it_yields_k_clusters(built):
    tables = standings_in(built)
    rows = tables.overall[(tables.overall["limit"] == 0.05) & (tables.overall["kind"] == "clusterlets")]
    assert not rows["kept"].any() and "no matcher of Clusterlets keeps the limit" in finding(tables, "matcher of Clusterlets")
    first = rows.sort_values("place").index[0]
    tables.overall.loc[first, ["kept", "cases", "price"]] = [2, 3, 1.5]
    text = finding(tables, "matcher of Clusterlets")
    name, n_cases = rows.loc[first, "method"], tables.under(0.05)["cases"].max()
    assert f", {name}, keeps the limit in 2 of the 3 cases (of {n_cases}) in which its runs yield k clusters" in text
    assert text.endswith("at a median price of 1.50.")


def test_the_markdown_names_the_cheapest_method_and_its_price_in_every_case(built):
    tables, text = standings_in(built), (built / "leaderboard.md").read_text(encoding="utf-8")
    assert all((built / file).is_file() for _, file in standings.findings(tables))
    rows = [line for line in text.splitlines() if re.match(r"\| (pima|credit|magic) \| ", line)]
    assert len(rows) == 6
    for line in rows:
        dataset, k, *cheapest = [cell.strip() for cell in line.strip("|").split("|")]
        for limit, cell in zip(leaderboard.LIMITS, cheapest, strict=True):
            case = tables.board[(tables.board["dataset"] == dataset) & (tables.board["k"] == int(k))]
            case = case[(case["limit"] == limit) & (case["outcome"] == leaderboard.KEEPS) & (case["kind"] == "method")]
            best = case[case["price"] == case["price"].min()]
            assert cell == (f"{', '.join(best['method'])} {best['price'].iloc[0]:.3f}" if len(best) else "–")


def test_with_one_seed_the_leaderboard_says_why_it_is_empty(tmp_path):
    folder = build(synthetic_runs(("iris",), seeds=1, ks=(2,)), tmp_path / "built", findings=False)
    assert standings_in(folder).board.empty
    assert standings.NO_LEADERBOARD in (folder / "leaderboard.md").read_text(encoding="utf-8")


def test_user_names_are_escaped_in_the_markdown_table():
    runs = synthetic_runs(("pima",), seeds=2, ks=(2,)).replace({"dataset": {"pima": "<b>|x"}})
    text = standings.to_markdown(standings_of(runs), "", SETTINGS)
    assert "| <b>\\|x | 2 |" in text
