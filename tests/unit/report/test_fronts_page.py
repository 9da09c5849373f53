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
from clusterlets.grid.runs_frame import read_results_table
from clusterlets.report import fronts_page, standings


@pytest.fixture(scope="module")
def points_file(tmp_path_factory):
    """Points of all methods. On seed 3, FRAC has 9 clusters for k = 10 and a timeout for k = 2. One limit is infeasible."""
    runs = synthetic_runs(("pima", "adult.sex"), seeds=4, ks=(2, 10))
    points = leaderboard.points(runs, leaderboard.kinds_of(SETTINGS["method_settings"]), {})
    frac_rows = (points["method"] == "FRAC (fair)") & (points["seed"] == 3)
    points.loc[frac_rows & (points["k"] == 10), "n_clusters"] = 9
    results = ["price", "deviation_max", "n_clusters", "smallest"]
    points.loc[frac_rows & (points["k"] == 2), ["status", *results]] = ["timeout", *4 * [pd.NA]]
    path = tmp_path_factory.mktemp("fronts") / "leaderboard_points.csv"
    proof = "pima,2,fair-limit,method,max_deviation=0.02,0,True,infeasible,,,,,1\n"
    path.write_text(points.to_csv(index=False) + proof, encoding="utf-8")
    return path


def embedded_data(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def embedded_points(data):
    """The points by dataset, k, method and parameters."""
    points = {}
    for case in data["cases"]:
        dataset = ".".join(filter(None, [case["table"], case["groups"]]))
        for values in case["points"]:
            point = dict(zip(data["fields"], values, strict=True))
            method, *_ = data["methods"][point["method"]]
            points[dataset, case["k"], method, point["parameters"]] = point
    return points


def scoring_rows(points_file):
    """The rows that the page shows, by dataset, k, method and parameters. Only k = 2 and k = 10 were requested."""
    rows_by_point = defaultdict(list)
    with open(points_file, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["chooses"] == "True":
                continue
            parameters, k = row["parameters"], row["k"]
            if row["kind"] == "clusterlets":  # the page lists a matcher under the number of clusters that it found
                parameters, k = f"clusterlets={k},{parameters}".rstrip(","), row["n_clusters"]
            if k:
                rows_by_point[row["dataset"], int(float(k)), row["method"], parameters].append(row)
    return {key: rows for key, rows in rows_by_point.items() if key[1] in (2, 10) and any(row["price"] for row in rows)}


def test_the_embedded_points_equal_those_of_the_file(points_file):
    embedded = embedded_points(embedded_data(fronts_page.render(read_results_table(points_file))))
    expected = scoring_rows(points_file)
    assert len(expected) > 20
    assert embedded.keys() == expected.keys()
    for (dataset, k, method, parameters), rows in expected.items():
        point, results = embedded[dataset, k, method, parameters], [row for row in rows if row["price"]]
        cluster_counts = [int(float(row["n_clusters"])) for row in results]
        assert point["price"] == median(float(row["price"]) for row in results)
        assert point["deviation_max"] == max(float(row["deviation_max"]) for row in results)
        assert (point["clusters_least"], point["clusters_most"]) == (min(cluster_counts), max(cluster_counts))
        assert point["smallest"] == min(int(float(row["smallest"])) for row in results)
        assert point["runs"] == len(rows)
        assert point["exact"] is (len(results) == len(rows) and set(cluster_counts) == {k})


def test_a_point_is_exact_and_within_a_limit_if_and_only_if_the_leaderboard_says_so(points_file):
    points = read_results_table(points_file)
    configurations = leaderboard.configurations(points).set_index(["dataset", "k", "method", "parameters"])
    for row in leaderboard.leaderboard(points).dropna(subset="parameters").to_dict("records"):
        point = configurations.loc[row["dataset"], row["k"], row["method"], row["parameters"]]
        keeps_limit = point["exact"] and point["deviation_max"] <= row["limit"] + leaderboard.TOLERANCE
        assert (row["outcome"] == leaderboard.KEEPS) == keeps_limit


def test_limits_that_are_proved_infeasible_are_listed_with_their_case(points_file):
    data = embedded_data(fronts_page.render(read_results_table(points_file)))
    # The proof for 0.02 covers the stricter limit of 0.01 too.
    assert [case["infeasible"] for case in data["cases"]] == [[0.01, 0.02], [], [], []]


def test_markup_in_a_users_name_for_a_dataset_is_escaped(points_file):
    name = "</script><b>&"
    points = read_results_table(points_file).replace({"dataset": {"pima": name}})
    page = fronts_page.render(points)
    assert embedded_data(page)["cases"][0]["table"] == name
    assert "<b>&" not in page


def test_a_page_without_points_says_why_it_is_empty():
    assert standings.NO_LEADERBOARD in fronts_page.render(pd.DataFrame(columns=leaderboard.POINTS))
