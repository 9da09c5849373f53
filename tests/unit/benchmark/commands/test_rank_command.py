"""``clusterlets rank`` compares a method with the methods of finished runs."""

import json

import numpy as np
import pandas as pd
import pytest

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.commands import rank
from clusterlets.benchmark.grid.configuration import CONFIGURATION, check_configuration, read_configuration
from clusterlets.benchmark.provenance.manifest import sealed

ROOT = CONFIGURATION.parent
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
FIELD_CONFIG = read_configuration(ROOT / "workflow/configs/field.yaml")
SETTINGS = {key: value for key, value in FIELD_CONFIG.items() if key not in ("results", "mirror")}
METHOD = """
from clusterlets.methods import Method

class Mine(Method):
    name = "mine"
    parameters = {"share": SHARES}

    def fit(self, X, groups, n_clusters, random_state, share=0):
        return random_state.integers(n_clusters, size=len(X))
"""


def points(method, prices, deviation=0.0, kind="method"):
    """Points with k = 3 on each table of ``prices`` (table -> price). Parameters are chosen on the first two of four seeds."""
    common_values = {"k": 3, "n_clusters": 3, "status": "ok", "smallest": 9, "parameters": np.nan, "starts": 1}
    common_values |= {"method": method, "kind": kind, "deviation_max": deviation, "deviation_beyond_row": deviation}
    rows = [
        common_values | {"dataset": table, "price": price, "seed": seed, "chooses": seed < 2}
        for table, price in prices.items()
        for seed in range(4)
    ]
    return pd.DataFrame(rows, columns=leaderboard.POINTS)


TABLES = list("abcdef")
NEAR_POINTS = points("near", dict(zip(TABLES, [2.0, 3, 4, 2, 3, 4], strict=True)))
LAX_POINTS = points("lax", dict.fromkeys(TABLES, 1.5), 0.06)
OTHERS = pd.concat([NEAR_POINTS, LAX_POINTS, points("plain", dict.fromkeys(TABLES, 1.0), 0.3, "control")])


@pytest.fixture(autouse=True)
def three_limits(monkeypatch):
    """Each limit is judged by itself, so three of them show what there is to see."""
    monkeypatch.setattr(leaderboard, "LIMITS", (0.02, 0.05, 0.1))


def report_of(others, own_points):
    return "\n".join(rank.describe(rank.standings_with(others, own_points, "mine"), "mine"))


def paragraph_on(limit, text):
    paragraph = text.partition(f"At a largest deviation of at most {limit}:\n")[2].partition("\n\n")[0]
    return paragraph.splitlines()


def test_a_method_is_ranked_and_compared_by_price_and_by_reliability():
    ninety_percent_of_near = dict(zip(TABLES, [1.8, 2.7, 3.6, 1.8, 2.7, 3.6], strict=True))
    text = report_of(OTHERS, points("mine", ninety_percent_of_near))
    rows = [line.split()[:4] for line in text.splitlines() if line.lstrip().startswith("0.")]
    assert [" ".join(row) for row in rows] == [
        "0.02 1 of 3",
        "0.05 1 of 3",
        "0.1 2 of 3",
    ]
    assert paragraph_on("0.05", text) == [
        "  cost over that of others in shared cases: near 0.90",
        "  in the first place, and told apart from near (price: 0.90), lax (reliability: +1.00)",
    ]
    # Under 0.1, lax comes first, and only the pairs with it are tested.
    assert paragraph_on("0.1", text) == [
        "  cost over that of others in shared cases: lax 1.73, near 0.90",
        "  told apart from lax (price: 1.73)",
    ]
    assert "plain" not in text


def test_a_price_below_one_is_explained():
    for price in (0.9, 1.0):
        text = report_of(OTHERS, points("mine", dict.fromkeys(TABLES, price)))
        assert ("(a price below 1: a better optimum than plain k-means found in all its starts)" in text) == (price < 1)


def test_a_method_with_the_points_of_another_is_not_told_apart_from_it():
    text = report_of(NEAR_POINTS, NEAR_POINTS.assign(method="mine"))
    assert text.count("not told apart from near") == text.count("near 1.00") == len(leaderboard.LIMITS)


def test_only_the_tables_of_the_ranked_method_count():
    standings = rank.standings_with(OTHERS, points("mine", dict.fromkeys("abcde", 1.0)), "mine")
    assert set(standings.board["dataset"]) == set("abcde")


def test_fewer_than_six_tables_cannot_tell_methods_apart():
    standings = rank.standings_with(OTHERS, points("mine", dict.fromkeys("abcde", 1.0)), "mine")
    text = "\n".join(rank.describe(standings, "mine"))
    assert "Fewer than 6 tables are too few to tell methods apart" in text
    assert "told apart from" not in text and "cost over" not in text


@pytest.mark.parametrize("kind", ["clusterlets", "control"])
def test_matchers_and_controls_are_compared_but_get_no_place(kind):
    text = report_of(OTHERS, points("mine", dict.fromkeys(TABLES, 1.2), kind=kind))
    n_limits = len(leaderboard.LIMITS)
    assert text.count(" none 1.00 [0.54, 1.00]") == text.count("near 0.42") == n_limits


def test_a_matcher_without_a_case_in_common_with_the_others_is_not_ranked():
    runs = points("mine", dict.fromkeys(TABLES, 1.2), kind="clusterlets").assign(n_clusters=2)
    assert report_of(OTHERS, runs).splitlines()[-1].startswith("mine has no case")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a method's file and a reference as ``make reference-field`` writes it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(METHOD.replace("SHARES", "[0.1, 0.2]"))
    reference = tmp_path / "reference"
    reference.mkdir()
    OTHERS.to_csv(reference / "leaderboard_points.csv", index=False)
    datasets = {table: {"fingerprint": "0", "rows": 9} for table in FIELD_CONFIG["datasets"]}
    content = {"settings": SETTINGS, "libraries": {}, "datasets": datasets, "processor": {}, "files": {}}
    (reference / "manifest.json").write_text(json.dumps(sealed(content)))
    return tmp_path


def test_a_method_runs_with_the_settings_of_the_finished_run(folder):
    requested = rank.configuration(json.loads(json.dumps(SETTINGS)), {"path": "mine.py"}, None)  # as read from the manifest
    config = check_configuration(requested, SCHEMA)
    changed = {key for key in FIELD_CONFIG if config[key] != FIELD_CONFIG[key]}
    assert changed == {"results", "methods", "method_settings"}
    assert list(config["method_settings"]) == ["mine"] and config["method_settings"]["mine"]["parameters"] == {
        "share": [0.1, 0.2]
    }


def test_a_name_selects_a_dataset_with_every_choice_of_groups_and_an_id_selects_one_choice(folder):
    requested = rank.configuration(SETTINGS, {"path": "mine.py"}, ["compas", "adult.sex"])
    assert check_configuration(requested, SCHEMA)["datasets"] == ["adult.sex", "compas.race", "compas.sex+race"]


@pytest.fixture
def error_of(run):
    """A function that runs the command and returns its error message."""

    def run_and_fail(*arguments):
        status, output, error = run("rank", *arguments)
        assert status == 1 and not output and error.count("\n") == 1
        return error.removeprefix("clusterlets rank: ").strip()

    return run_and_fail


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "theirs.py holds 0 methods, and should hold one"),
        ("import nowhere", "theirs.py cannot be run, line 1: ModuleNotFoundError"),
        (
            METHOD.replace("SHARES", "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]"),
            "theirs.py tries 9 configurations, but a method may try at most 8.",
        ),
        (
            METHOD.replace("SHARES", "[0.1]").replace('"mine"', '"near"'),
            "reference already has a method called near; rename yours.",
        ),
    ],
)
def test_a_file_whose_method_cannot_be_ranked_is_refused_before_any_run(folder, error_of, source, message):
    (folder / "theirs.py").write_text(source)
    assert error_of("theirs.py", "--reference", "reference").startswith(message)
    assert not (folder / "results").exists()


def test_a_missing_file_is_named(folder, error_of):
    message = "There is no file nobody.py to load a method from."
    assert error_of("nobody.py", "--reference", "reference") == message


def test_a_table_that_the_leaderboard_lacks_is_refused(folder, error_of):
    message = error_of("mine.py", "--reference", "reference", "--tables", "pima,iris")
    assert message.startswith("--tables: the leaderboard has no iris; it has adult.sex, ")


def test_a_missing_reference_is_named_and_an_older_one_is_refused(folder, error_of):
    message = error_of("mine.py", "--reference", "nowhere")
    assert message.startswith("There is no nowhere/leaderboard_points.csv to compare with")
    OTHERS.drop(columns="deviation_max").to_csv(folder / "reference/leaderboard_points.csv", index=False)
    assert "whose leaderboard had other rules" in error_of("mine.py", "--reference", "reference")


def test_outside_a_clone_of_the_repository_the_command_is_refused(folder, error_of, monkeypatch):
    monkeypatch.setattr(rank, "_CHECKOUT", folder)
    assert "In a clone of the repository, run `make environment`" in error_of("mine.py")


COMMAND = "sh mine.sh {table} {k} {style} {labels}"


def test_a_command_is_ranked_like_a_file_and_its_files_are_watched(folder):
    (folder / "mine.sh").write_text("")
    options = rank._parser().parse_args(
        ["--command", COMMAND, "--name", "awkward", "--parameters", '{"style": ["plain", "fancy"]}']
    )
    config = check_configuration(rank.configuration(SETTINGS, rank._entry(options), None), SCHEMA)
    ((name, entry),) = config["method_settings"].items()
    assert name == "awkward" and entry["names"] == ["awkward"] and entry["role"] == "rival"
    assert entry["command"] == COMMAND and entry["files"] == ["mine.sh"]
    assert entry["parameters"] == {"style": ["plain", "fancy"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine.py", "--name", "other"], "--name is for --command"),
        (["--command", COMMAND], "command: {style} is not one of the parameters (none)"),
        (["--command", COMMAND, "--parameters", "style=plain"], "style=plain is not a JSON object"),
        (["mine.py", "--which", "fair"], "mine: there is no output 'fair'; it has none"),
    ],
)
def test_a_command_or_an_output_that_cannot_be_ranked_is_refused_before_any_run(folder, run, arguments, message):
    status, _, error = run("rank", *arguments, "--reference", "reference")
    assert status == 1 and message in error and not (folder / "results").exists()


def test_a_file_and_a_command_together_or_none_of_them_are_refused(folder, run):
    for arguments in ([], ["mine.py", "--command", COMMAND]):
        assert run("rank", *arguments)[0] == 2


def test_the_chosen_output_is_ranked_as_the_method_and_the_other_is_not():
    grid = {"names": ["halves (fine)", "halves (coarse)"], "is_matcher": False, "role": "rival"}
    assert leaderboard.kinds_of({"halves": grid}) == {"halves (fine)": "method", "halves (coarse)": "output"}
    chosen = {"halves": grid | {"output": "halves (coarse)"}}
    assert leaderboard.kinds_of(chosen) == {"halves (fine)": "output", "halves (coarse)": "method"}


@pytest.mark.slow
def test_every_output_is_ranked_in_a_folder_of_its_own_unless_one_is_chosen(folder, run, monkeypatch):
    two_outputs = METHOD.replace('"mine"', '"mine"\n    outputs = ("near", "far")').replace("SHARES", "[0.1]")
    (folder / "mine.py").write_text(two_outputs)
    runs = pd.concat([points("mine (near)", dict.fromkeys(TABLES, 1.2)), points("mine (far)", dict.fromkeys(TABLES, 9.0))])
    runs = runs.assign(matcher=None, column_deviation=runs["deviation_max"], price_of_fairness=runs["price"])
    monkeypatch.setattr(rank, "_try_first_cell", lambda *_: None)
    monkeypatch.setattr(rank, "_run_workflow", lambda *_: None)
    monkeypatch.setattr(rank, "load_json", lambda _: {"fingerprint": "0"})
    monkeypatch.setattr(rank, "read_runs", lambda _: runs.assign(note="", aggregation=None))
    for chosen in (["near", "far"], ["far"]):
        which = ["--which", chosen[0]] if len(chosen) == 1 else []
        status, output, error = run("rank", "mine.py", "--reference", "reference", *which)
        assert status == 0, error
        assert "\nmine tried 1 rung, each with 1 start: share=0.1\n" in output
        assert ("Each is ranked as if it were the only one" in output) == (len(chosen) == 2)
        assert [name for name in ("near", "far") if f"\nmine ({name}):\n" in output] == chosen
        own = pd.read_csv(folder / "results/rank/leaderboards/mine" / chosen[-1] / "leaderboard_overall.csv")
        assert set(own.loc[own["method"].str.startswith("mine"), "method"]) == {"mine (far)"}
        assert own.loc[own["method"] == "mine (far)", "place"].notna().all()
