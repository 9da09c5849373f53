"""The sentences and the page of the leaderboard agree with its files, and the runs behind every row can be repeated."""

import json
import re

import pandas as pd
import pytest
from built_results import SETTINGS, build
from synthetic_runs import synthetic_runs

from clusterlets.analysis import leaderboard
from clusterlets.grid.cells import cells
from clusterlets.grid.runs_frame import read_results_table
from clusterlets.provenance.manifest import without_provenance
from clusterlets.report import leaderboard_page, standings
from clusterlets.report.figures import declarations_on
from clusterlets.report.standings import FILES, Standings
from clusterlets.steps.leaderboard import write_leaderboard


def standings_in(folder):
    return Standings(*(read_results_table(folder / name) for name in FILES))


def standings_of(runs):
    board = leaderboard.leaderboard(leaderboard.points(runs, leaderboard.kinds_of(SETTINGS["method_settings"]), {}))
    return Standings(board, leaderboard.overall(board), leaderboard.pairs(board))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(synthetic_runs(("pima", "credit", "magic"), seeds=4, ks=(2, 10)), tmp_path_factory.mktemp("board") / "built")


@pytest.fixture(scope="module")
def page(built):
    return (built / "leaderboard.html").read_text(encoding="utf-8")


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
        assert f"{row['method']} is the most reliable: it keeps the limit in {row['kept']} of {row['cases']} cases" in text
        assert f"median price of {row['price']:.2f}" in text


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


def test_the_files_behind_a_row_are_cells_of_the_grid_with_its_parameters(built):
    grid_files = {f"{SETTINGS['results']}/{cell.path}" for cell in cells({**SETTINGS, "datasets": ["pima", "credit", "magic"]})}
    board = standings_in(built).board
    files_of = {(row["method"], row["parameters"]): standings.quoted_paths(row, SETTINGS) for row in board.to_dict("records")}
    assert {path for paths in files_of.values() for path in paths.split()} <= grid_files
    matcher_row = next(row for row in board.to_dict("records") if "clusterlets" in str(row["parameters"]))
    k, name, value = re.fullmatch(r"clusterlets=(\d+),(\w+)=([\d.]+)", matcher_row["parameters"]).groups()
    assert f"/k{k}_{name}{value}/" in files_of[matcher_row["method"], matcher_row["parameters"]]
    frac_row = next(row for row in board.to_dict("records") if row["method"] == "FRAC (fair)" and pd.notna(row["runs"]))
    assert "/FRAC/k" in standings.quoted_paths(frac_row, SETTINGS)
    assert all(not standings.quoted_paths(row, SETTINGS) for row in board[board["runs"].isna()].to_dict("records"))
    assert standings.rerun_command("my config.yaml").startswith("snakemake --cores 1 --configfile 'my config.yaml' --forcerun ")


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_has_every_method_under_every_limit_and_every_figure(built, page):
    tables = standings_in(built)
    cases = page.split('<section id="cases">')[1].split("</section>")[0]
    n_limits = len(leaderboard.LIMITS)
    assert cases.count("<details>") == n_limits
    assert cases.count("<tr>") == len(tables.board) + n_limits  # each limit has a table with a header
    assert all(f'id="figure-{figure.name}"' in page for figure in declarations_on("leaderboard.html"))
    assert all(f"<dt>{word}</dt>" in page for word in standings.GLOSSARY)


def test_only_the_part_on_time_and_memory_depends_on_the_costs(built, page, tmp_path):
    tables = [str(built / name) for name in FILES]
    (tmp_path / "figures").symlink_to(built / "figures")
    write_leaderboard(
        *tables,
        json.dumps(SETTINGS),
        "my config.yaml",
        str(tmp_path),
        *(str(tmp_path / name) for name in ("b.html", "b.md")),
    )
    without_costs = (tmp_path / "b.html").read_bytes()
    assert without_costs != page.encode() and without_provenance(without_costs) == without_provenance(page.encode())
    assert (tmp_path / "b.md").read_bytes() == (built / "leaderboard.md").read_bytes()


@pytest.mark.parametrize("costs", [pd.DataFrame(), pd.DataFrame(columns=["dataset", "method", "seconds"])])
def test_without_costs_the_page_says_that_no_fit_was_timed(costs):
    page = leaderboard_page.render(Standings.none(), SETTINGS, "", {}, costs)
    assert "No fit has been timed." in page and "Every configuration" not in page


def test_with_one_seed_the_page_says_why_it_is_empty(tmp_path):
    folder = build(synthetic_runs(("iris",), seeds=1, ks=(2,)), tmp_path / "built", findings=False)
    assert standings_in(folder).board.empty
    for name in ("leaderboard.html", "leaderboard.md"):
        assert standings.NO_LEADERBOARD in (folder / name).read_text(encoding="utf-8")


def test_user_names_are_escaped_in_the_markdown_table():
    runs = synthetic_runs(("pima",), seeds=2, ks=(2,)).replace({"dataset": {"pima": "<b>|x"}})
    text = standings.to_markdown(standings_of(runs), "", SETTINGS)
    assert "| <b>\\|x | 2 |" in text
