"""``clusterlets rank`` compares a method with finished runs by their rules, and refuses what it cannot rank before any run."""

import json

import numpy as np
import pandas as pd
import pytest

from clusterlets.analysis import leaderboard
from clusterlets.commands import rank
from clusterlets.grid.configuration import CONFIGURATION, check_configuration, read_configuration

ROOT = CONFIGURATION.parent
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
FIELD = read_configuration(ROOT / "workflow/configs/field.yaml")
SETTINGS = {key: value for key, value in FIELD.items() if key not in ("results", "mirror")}
METHOD = """
from clusterlets.methods import Method

class Mine(Method):
    name = "mine"
    parameters = {"share": SHARES}

    def fit(self, X, groups, n_clusters, random_state, share=0):
        return random_state.integers(n_clusters, size=len(X))
"""


def points(method, prices, deviations=0.0, kind="method"):
    """Runs on each table with k = 3 and four seeds, which all have the price and deviation of their table."""
    deviations = np.broadcast_to(deviations, len(prices))
    rows = [
        (dataset, 3, method, kind, np.nan, seed, seed < 2, "ok", 3, 9, deviation, price, 1)
        for (dataset, price), deviation in zip(prices.items(), deviations, strict=True)
        for seed in range(4)
    ]
    return pd.DataFrame(rows, columns=leaderboard.POINTS)


TABLES = list("abcdef")
NEAR = points("near", dict(zip(TABLES, [2.0, 3, 4, 2, 3, 4], strict=True)))
LAX = points("lax", dict.fromkeys(TABLES, 1.5), 0.06)
OTHERS = pd.concat([NEAR, LAX, points("plain", dict.fromkeys(TABLES, 1.0), 0.3, "control")])


def report_of(others, own):
    return "\n".join(rank.describe(rank.standings_with(others, own, "mine"), "mine"))


def test_a_method_is_ranked_and_told_apart_by_price_and_by_reliability():
    """At 90 % of the price of one method, and within limits that another one misses."""
    text = report_of(OTHERS, points("mine", dict(zip(TABLES, [1.8, 2.7, 3.6, 1.8, 2.7, 3.6], strict=True))))
    rows = [line.split()[:4] for line in text.splitlines() if line.lstrip().startswith("0.")]
    assert rows == [[limit, place, "of", "3"] for limit, place in (("0.01", "1"), ("0.02", "1"), ("0.05", "1"), ("0.1", "2"))]
    strict, loose = (text.partition(f"At a largest deviation of at most {limit}, mine is\n")[2] for limit in ("0.05", "0.1"))
    strict = strict.partition("\n\n")[0].splitlines()
    assert strict == ["  cheaper than (its cost over theirs): near (0.90)", "  more reliable than (by): lax (1.00)"]
    assert loose.splitlines() == [
        "  cheaper than (its cost over theirs): near (0.90)",
        "  dearer than (its cost over theirs): lax (1.73)",
    ]
    assert "plain" not in text


def test_a_price_below_one_is_explained():
    for price in (0.9, 1.0):
        text = report_of(OTHERS, points("mine", dict.fromkeys(TABLES, price)))
        assert ("(a price below 1: a better optimum than plain k-means found in all its starts)" in text) == (price < 1)


def test_a_method_like_another_is_not_told_apart_from_it():
    text = report_of(OTHERS, NEAR.assign(method="mine"))
    assert text.count("not told apart from (its cost over theirs): near (1.00)") == 4


def test_few_tables_cannot_tell_methods_apart_and_only_the_tables_of_the_method_count():
    standings = rank.standings_with(OTHERS, points("mine", dict.fromkeys("abcde", 1.0)), "mine")
    assert set(standings.board["dataset"]) == set("abcde")
    text = "\n".join(rank.describe(standings, "mine"))
    assert "Fewer than 6 tables are too few to tell methods apart" in text
    assert "told apart from" not in text and "cheaper than" not in text


def test_a_method_changes_no_number_of_the_others():
    whole = leaderboard.leaderboard(OTHERS[OTHERS["kind"] == "method"])
    standings = rank.standings_with(OTHERS, points("mine", dict.fromkeys(TABLES, 1.7), 0.03), "mine")
    for ours, committed in ((standings.overall, leaderboard.overall(whole)), (standings.pairs, leaderboard.pairs(whole))):
        rest = ours[(ours["method"] != "mine") & (ours.get("other", "") != "mine")]
        frames = (frame.drop(columns="place", errors="ignore").reset_index(drop=True) for frame in (rest, committed))
        pd.testing.assert_frame_equal(*frames)


@pytest.mark.parametrize("kind", ["clusterlets", "control"])
def test_a_matcher_and_a_control_have_no_place(kind):
    runs = points("mine", dict.fromkeys(TABLES, 1.2), kind=kind)
    text = report_of(OTHERS, runs)
    assert text.count(" none 1.00 [1.00, 1.00]") == 4 and text.count("near (0.42)") == 4
    if kind == "clusterlets":  # a matcher that gave other numbers of clusters
        assert report_of(OTHERS, runs.assign(n_clusters=2)).splitlines()[-1].startswith("mine has no block")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder: with a method's file, and a reference as ``make reference-field`` leaves it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(METHOD.replace("SHARES", "[0.1, 0.2]"))
    reference = tmp_path / "reference"
    reference.mkdir()
    OTHERS.to_csv(reference / "leaderboard_points.csv", index=False)
    described = {table: {"fingerprint": "0"} for table in FIELD["datasets"]}
    content = {"settings": SETTINGS, "libraries": {}, "datasets": described, "processor": {}, "files": {}}
    (reference / "manifest.json").write_text(json.dumps(content))
    return tmp_path


def test_a_method_runs_with_the_settings_of_the_finished_run(folder):
    requested = rank.configuration(json.loads(json.dumps(SETTINGS)), "mine.py", None)
    config = check_configuration(requested, SCHEMA)
    differing = {key for key in FIELD if config[key] != FIELD[key]}
    assert differing == {"results", "methods", "grids"}
    assert list(config["grids"]) == ["mine"] and config["grids"]["mine"]["parameters"] == {"share": [0.1, 0.2]}


def test_a_tables_name_stands_for_all_its_groups_and_an_id_for_one(folder):
    requested = rank.configuration(SETTINGS, "mine.py", ["compas", "adult.sex"])
    assert check_configuration(requested, SCHEMA)["datasets"] == ["compas", "adult.sex", "compas.race"]


@pytest.fixture
def refusal(run):
    """A function that runs the command, which must refuse, and returns its message."""

    def refused_run(*arguments):
        status, output, error = run("rank", *arguments)
        assert status == 1 and not output and error.count("\n") == 1
        return error.removeprefix("clusterlets rank: ").strip()

    return refused_run


def test_what_cannot_be_ranked_is_refused_in_a_line_before_any_run(folder, refusal):
    def message_for(file="mine.py", *options):
        return refusal(file, "--reference", "reference", *options)

    assert message_for("nobody.py") == "There is no file nobody.py, which should hold a method."
    (folder / "empty.py").write_text("")
    assert message_for("empty.py").startswith("empty.py holds 0 methods, and should hold one")
    (folder / "broken.py").write_text("import nowhere")
    assert message_for("broken.py").startswith("broken.py cannot be run, line 1: ModuleNotFoundError")
    (folder / "eager.py").write_text(METHOD.replace("SHARES", "[0.1, 0.2, 0.3, 0.4, 0.5]"))
    assert message_for("eager.py").startswith("eager.py tries 5 configurations, and no other method more than 4.")
    (folder / "near.py").write_text(METHOD.replace("SHARES", "[0.1]").replace('"mine"', '"near"'))
    assert message_for("near.py") == "reference holds a method called near already; rename yours."
    unknown = message_for("mine.py", "--tables", "pima,iris")
    assert unknown.startswith("--tables: the leaderboard has no iris; it has adult, credit,")
    assert not (folder / "results").exists()


def test_a_missing_or_an_older_reference_is_named(folder, refusal):
    assert refusal("mine.py", "--reference", "nowhere").startswith("There is no nowhere/leaderboard_points.csv to compare with")
    OTHERS.drop(columns="deviation_max").to_csv(folder / "reference/leaderboard_points.csv", index=False)
    assert "whose leaderboard had other rules" in refusal("mine.py", "--reference", "reference")


def test_outside_a_clone_of_the_repository_the_command_is_refused(folder, refusal, monkeypatch):
    monkeypatch.setattr(rank, "_CHECKOUT", folder)
    assert "in a clone of the repository" in refusal("mine.py")
