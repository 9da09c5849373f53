"""The page of the fronts holds exactly the points of leaderboard_points.csv."""

import csv
import json
import re
from collections import defaultdict
from statistics import median

import pandas as pd
import pytest
from built_results import SETTINGS
from synthetic_runs import synthetic_runs

from clusterlets.analysis import leaderboard
from clusterlets.grid.runs_frame import read_lines
from clusterlets.report import fronts_page, standings


@pytest.fixture(scope="module")
def points_file(tmp_path_factory):
    """Points of a run. With seed 3, FRAC has 9 clusters for k=10 and no result for k=2. One limit is proved infeasible."""
    runs = synthetic_runs(("pima", "adult.sex"), seeds=4, ks=(2, 10))
    points = leaderboard.points(runs, leaderboard.kinds_of(SETTINGS["grids"]), {})
    frac_rows = (points["method"] == "FRAC (fair)") & (points["seed"] == 3)
    points.loc[frac_rows & (points["k"] == 10), "n_clusters"] = 9
    frac_rows &= points["k"] == 2
    points.loc[frac_rows, ["status", "price", "deviation_max", "n_clusters", "smallest"]] = ["timeout", *4 * [pd.NA]]
    path = tmp_path_factory.mktemp("fronts") / "leaderboard_points.csv"
    proof = "pima,2,fair-limit,method,max_deviation=0.02,0,True,infeasible,,,,,1\n"
    path.write_text(points.to_csv(index=False) + proof, encoding="utf-8")
    return path


def embedded_data(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def test_the_embedded_points_equal_those_of_the_file(points_file):
    expected = defaultdict(list)
    with open(points_file, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["chooses"] == "True":
                continue
            parameters, k = row["parameters"], row["k"]
            if row["kind"] == "clusterlets":  # A matcher is listed in the block with its number of clusters as k.
                parameters, k = f"clusterlets={k},{parameters}".rstrip(","), row["n_clusters"].removesuffix(".0")
            expected[row["dataset"], k, row["method"], parameters].append(row)
    expected = {key: rows for key, rows in expected.items() if key[1] in ("2", "10") and any(row["price"] for row in rows)}
    data = embedded_data(fronts_page.render(read_lines(points_file)))
    embedded = {}
    for block in data["blocks"]:
        dataset = ".".join(filter(None, [block["table"], block["groups"]]))
        for values in block["points"]:
            point = dict(zip(data["fields"], values, strict=True))
            embedded[dataset, str(block["k"]), data["methods"][point["method"]][0], point["parameters"]] = point
    assert embedded.keys() == expected.keys() and len(embedded) > 20
    for key, rows in expected.items():
        point, results = embedded[key], [row for row in rows if row["price"]]
        cluster_counts = [int(float(row["n_clusters"])) for row in results]
        assert point["price"] == median(float(row["price"]) for row in results)
        assert point["deviation_max"] == max(float(row["deviation_max"]) for row in results)
        assert (point["clusters_least"], point["clusters_most"]) == (min(cluster_counts), max(cluster_counts))
        assert point["smallest"] == min(int(float(row["smallest"])) for row in results)
        assert point["runs"] == len(rows)
        assert point["exact"] is (len(results) == len(rows) and {*cluster_counts} == {int(key[1])})
    assert not embedded["pima", "10", "FRAC (fair)", ""]["exact"] and not embedded["pima", "2", "FRAC (fair)", ""]["exact"]
    assert embedded["pima", "2", "k-means", ""]["exact"]


def test_a_point_is_exact_and_within_a_limit_if_and_only_if_the_leaderboard_says_so(points_file):
    points = read_lines(points_file)
    configurations = leaderboard.configurations(points).set_index(["dataset", "k", "method", "parameters"])
    for row in leaderboard.leaderboard(points).dropna(subset="parameters").to_dict("records"):
        point = configurations.loc[row["dataset"], row["k"], row["method"], row["parameters"]]
        keeps_limit = point["exact"] and point["deviation_max"] <= row["limit"] + leaderboard.TOLERANCE
        assert keeps_limit == (row["outcome"] == leaderboard.KEEPS)


def test_limits_that_are_proved_infeasible_are_listed_with_their_block(points_file):
    data = embedded_data(fronts_page.render(read_lines(points_file)))
    # The proof for 0.02 covers the stricter limit of 0.01 too.
    assert [block["infeasible"] for block in data["blocks"]] == [[0.01, 0.02], [], [], []]


def test_user_names_cannot_break_out_of_the_pages_data(points_file):
    name = "</script><b>&"
    points = read_lines(points_file).replace({"dataset": {"pima": name}})
    page = fronts_page.render(points)
    assert embedded_data(page)["blocks"][0]["table"] == name and "<b>&" not in page


def test_a_page_without_points_says_why_it_is_empty():
    assert standings.EMPTY in fronts_page.render(pd.DataFrame(columns=leaderboard.POINTS))
