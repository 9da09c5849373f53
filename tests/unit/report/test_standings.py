"""The leaderboard in words and on its page agrees with its files, and every row can be repeated."""

import json
import re

import pandas as pd
import pytest
from built_results import SETTINGS, build
from synthetic_runs import synthetic_runs

from clusterlets.analysis import leaderboard
from clusterlets.grid.cells import cells
from clusterlets.grid.runs_frame import read_lines
from clusterlets.provenance.manifest import without_provenance
from clusterlets.report import standings
from clusterlets.report.figures import declarations_on
from clusterlets.report.standings import Standings
from clusterlets.steps.leaderboard import write_leaderboard

FILES = ("leaderboard.csv", "leaderboard_overall.csv", "leaderboard_points.csv")


def read(folder):
    return Standings(*(read_lines(folder / name) for name in FILES))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(synthetic_runs(("pima", "credit", "magic"), seeds=4, ks=(2, 10)), tmp_path_factory.mktemp("board") / "built")


@pytest.fixture(scope="module")
def page(built):
    return (built / "leaderboard.html").read_text(encoding="utf-8")


def about(found, words):
    (sentence,) = (sentence for sentence, _ in standings.findings(found) if words in sentence)
    return sentence


def test_the_leader_under_a_limit_is_the_one_with_the_least_mean_rank(built):
    tables = read(built)
    rows = tables.overall[tables.overall["limit"] == 0.05]
    row = rows.loc[rows["mean_rank"].idxmin()]
    text = about(tables, "0.05, " + row["method"] + " has the best")
    assert f"{row['mean_rank']:.2f} of {len(rows)} methods" in text
    assert f"least price in {row['first']} of {row['blocks']} blocks" in text and f"keeps the limit in {row['ranked']} " in text
    others = rows["mean_rank"].sort_values().iloc[1:4]
    assert [float(number) for number in re.findall(r"\d\.\d\d(?=;|\.$)", text)] == pytest.approx(list(others), abs=0.005)


def test_the_place_of_the_best_matcher_is_counted_among_all_methods(built):
    tables = read(built)
    ranks = tables.overall[tables.overall["limit"] == 0.1].set_index("method")["mean_rank"]
    own = ranks[ranks.index.isin(["C", "G-B", "D-PB", "B-PB", "G-D-PB"])]
    text = about(tables, "0.1, the best matcher")
    assert f"is {own.idxmin()}, in place {(ranks < own.min()).sum() + 1} of {len(ranks)}: mean rank {own.min():.2f}" in text


def test_every_sentence_names_a_file_of_the_run(built):
    assert all((built / file).is_file() for _, file in standings.findings(read(built)))


def test_runs_without_a_result_are_counted_by_method():
    runs = synthetic_runs(("pima", "heart_failure"), seeds=4, ks=(2,))
    board, points = leaderboard.leaderboard(runs), leaderboard.points(runs)
    tables = Standings(board, leaderboard.overall(board, points), points)
    failed = runs[(runs["matcher"] == "C") & (runs["status"] != "ok") & runs["omega"].isin([0.0, 0.25, 0.75])]
    assert f"C ({len(failed)} of 24)" in about(tables, "without a result") and len(failed) == 3


def test_every_block_has_its_cheapest_method_and_price_in_the_markdown(built):
    tables, text = read(built), (built / "leaderboard.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| (pima|credit|magic) \| ", line)]
    assert len(rows) == 6
    for line in rows:
        dataset, k, *cheapest = [cell.strip() for cell in line.strip("|").split("|")]
        for limit, cell in zip(leaderboard.LIMITS, cheapest, strict=True):
            block = tables.board[(tables.board["dataset"] == dataset) & (tables.board["k"] == int(k))]
            block = block[(block["limit"] == limit) & block["rank"].notna()]
            best = block[block["price"] == block["price"].min()]
            assert cell == (f"{', '.join(best['method'])} {best['price'].iloc[0]:.3f}" if len(best) else "–")


def test_the_files_that_repeat_a_row_are_cells_of_the_grid_with_its_parameters(built):
    grid_files = {f"{SETTINGS['results']}/{cell.path}" for cell in cells({**SETTINGS, "datasets": ["pima", "credit", "magic"]})}
    board = read(built).board
    files_of = {(row["method"], row["parameters"]): standings.cells_of(row, SETTINGS) for row in board.to_dict("records")}
    assert {path for paths in files_of.values() for path in paths.split()} <= grid_files
    assert "/G-B/" in files_of["G-B", "hops=2"] and "_hops2/" in files_of["G-B", "hops=2"]
    frac_row = next(row for row in board.to_dict("records") if row["method"] == "FRAC (nearest)" and row["rank"] == row["rank"])
    assert "/FRAC/k" in standings.cells_of(frac_row, SETTINGS)
    assert all(not standings.cells_of(row, SETTINGS) for row in board[board["seeds"].isna()].to_dict("records"))
    assert standings.command("my config.yaml").startswith("snakemake --cores 1 --configfile 'my config.yaml' --forcerun ")


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_has_every_method_under_every_limit_and_every_figure(built, page):
    tables = read(built)
    blocks = page.split('<section id="blocks">')[1].split("</section>")[0]
    assert blocks.count("<details>") == len(leaderboard.LIMITS) and blocks.count("<tr>") == len(tables.board) + 5
    assert all(f'id="figure-{figure.name}"' in page for figure in declarations_on("leaderboard.html"))
    assert all(f"<dt>{word}</dt>" in page for word in standings.GLOSSARY)
    assert not re.search(r"@import|url\(|https?://|<script src", page)


def test_only_the_part_on_time_and_memory_depends_on_the_costs(built, page, tmp_path):
    tables = [str(built / name) for name in FILES]
    (tmp_path / "figures").symlink_to(built / "figures")
    write_leaderboard(
        *tables,
        json.dumps(SETTINGS),
        "my config.yaml",
        str(tmp_path),
        *(str(tmp_path / f"b.{form}") for form in ("html", "md")),
    )
    without = (tmp_path / "b.html").read_bytes()
    assert without != page.encode() and without_provenance(without) == without_provenance(page.encode())
    assert (tmp_path / "b.md").read_bytes() == (built / "leaderboard.md").read_bytes()


def test_one_seed_gives_a_page_that_says_why_it_is_empty(tmp_path):
    folder = build(synthetic_runs(("iris",), seeds=1, ks=(2,)), tmp_path / "built", findings=False)
    assert read(folder).board.empty
    for name in ("leaderboard.html", "leaderboard.md"):
        assert standings.EMPTY in (folder / name).read_text(encoding="utf-8")


def test_user_names_are_escaped_in_the_markdown_table():
    runs = synthetic_runs(("pima",), seeds=2, ks=(2,)).replace({"dataset": {"pima": "<b>|x"}})
    board, points = leaderboard.leaderboard(runs), leaderboard.points(runs)
    text = standings.to_markdown(Standings(board, leaderboard.overall(board, points), points), "", "results")
    assert "| <b>\\|x | 2 |" in text
    assert pd.isna(board["parameters"]).any()
