"""``clusterlets tune`` recommends a run, prints a command that repeats it, and writes the path, its picture and a page."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numba import njit
from sklearn.datasets import load_wine

from clusterlets import SavedClustering
from clusterlets.commands import tune as tune_command
from clusterlets.commands.tune import command
from clusterlets.tables.table import standardise
from clusterlets.tuning import path
from clusterlets.tuning.path import Run


@pytest.fixture
def wine(tmp_path, monkeypatch):
    """``wine.csv`` in the working directory: scikit-learn's table, with identifiers and a column of text."""
    frame = load_wine(as_frame=True).frame.rename(columns=lambda name: name.replace("/", "_"))
    frame["target"] = np.where(frame["target"] == 0, "first", "other")
    frame.insert(0, "bottle_id", np.arange(len(frame)) + 1000)
    frame["cellar"] = "south"
    frame.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


FEATURES = "alcohol,proline,hue"


def test_the_printed_command_gives_the_printed_numbers(wine, run):
    wine["cellar"] = np.where(np.arange(len(wine)) % 3 > 0, "south", "north")
    wine.to_csv("wine.csv", index=False)
    options = ["--features", FEATURES, "--scaling", "standard", "-k", "3", "--max-deviation", ".05", "--report", "wine.html"]
    status, output, _ = run("tune", "wine.csv", "--sensitive", "target", "--sensitive", "cellar", *options)
    assert status == 0
    (printed_command,) = [line for line in output.splitlines() if line.startswith("  clusterlets cluster wine.csv ")]
    price, deviation, smallest = re.search(
        r"^Use .*: (\S+) times the .* deviation (\S+), smallest cluster (\d+)", output, re.M
    ).groups()
    status, cluster_output, _ = run(*shlex.split(printed_command)[1:], "-o", "labels.csv")
    labels = pd.read_csv("labels.csv")["cluster"]
    deviations = [
        abs(pd.crosstab(labels, wine[name], normalize="index") - wine[name].value_counts(normalize=True)).max(axis=None)
        for name in ("target", "cellar")
    ]
    assert f"{max(deviations):.3f}" == deviation and labels.value_counts().min() == int(smallest)
    X = pd.DataFrame(standardise(wine[FEATURES.split(",")].to_numpy()))
    cost = (X - X.groupby(labels).transform("mean")).pow(2).to_numpy().sum()
    path = pd.read_csv("wine-front.csv")
    row = path[(path["k"] == labels.nunique()) & (path["limit"] == 0.05)].iloc[0]
    assert row["sse"] == pytest.approx(cost, abs=1e-5) and f"{row['price']:.3f}" == price
    assert re.search(rf"max (deviation )?{deviation}\b", cluster_output) and f"price of fairness  {price} " in cluster_output
    assert Path("wine-front.png").read_bytes().startswith(b"\x89PNG")
    page = Path("wine.html").read_text(encoding="utf-8")
    assert "What each limit costs" in page and f"{price} times the cost of plain k-means" in page
    assert printed_command.strip() in page


def test_the_printed_command_saves_the_requested_limit_although_a_looser_one_gave_the_clusters(tmp_path, monkeypatch, run):
    rng = np.random.default_rng(225)
    frame = pd.DataFrame(rng.normal(size=(1_010, 2)), columns=["x", "y"]).assign(g=np.where(rng.random(1_010) < 0.4, "a", "b"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    output = run(
        "tune",
        "rows.csv",
        "--sensitive",
        "g",
        "-k",
        "9",
        "--max-deviation",
        "0.07",
        "--scaling",
        "none",
        "--save",
        "tuned.json",
    )[1]
    (printed_command,) = [line for line in output.splitlines() if line.startswith("  clusterlets cluster rows.csv ")]
    assert "--max-deviation 0.07 --start-deviation 0.1 -k 9" in printed_command
    assert "\nclustering: tuned.json\n" in output
    output = run(*shlex.split(printed_command)[1:], "--save", "rows.json")[1]
    assert "asked for   max_deviation 0.07: kept" in output
    assert SavedClustering.load("rows.json").parameters["max_deviation"] == 0.07
    assert Path("tuned.json").read_bytes() == Path("rows.json").read_bytes()


def test_the_printed_command_repeats_the_run_where_plain_k_means_keeps_the_limit(wine, run):
    wine.assign(cellar=np.where(np.arange(len(wine)) % 3 > 0, "south", "north")).to_csv("wine.csv", index=False)
    options = ["--sensitive", "target", "--features", FEATURES, "-k", "2", "--max-deviation", ".9"]
    options += ["--categorical", "onehot", "--features", "cellar"]
    output = run("tune", "wine.csv", *options, "--save", "tuned.json")[1]
    (printed_command,) = [line for line in output.splitlines() if line.startswith("  clusterlets cluster wine.csv ")]
    assert "--start-deviation " in printed_command
    price, deviation = re.search(r"^Use .*: (\S+) times the .* deviation (\S+), smallest", output, re.M).groups()
    cluster_output = run(*shlex.split(printed_command)[1:], "--save", "wine.json")[1]
    assert Path("tuned.json").read_bytes() == Path("wine.json").read_bytes()
    assert f"price of fairness  {price} " in cluster_output and f"Largest deviation {deviation}, " in cluster_output


def test_without_enough_time_nothing_is_recommended(wine, run):
    options = ("--minutes", "0.00001", "--scaling", "none")
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", *options)
    assert "features: alcohol," in output and "note: left out (--features names columns to keep): bottle_id" in output
    assert "warning: proline spreads " in output
    assert status == 1 and "No fit has a result" in error and "allow more minutes" in error
    assert [path.name for path in Path().iterdir()] == ["wine.csv"]


def test_a_clustering_with_another_limit_than_the_requested_one_is_not_saved(wine, run):
    options = ["--sensitive", "target", "--features", "alcohol,ash", "-k", "2", "--max-deviation", "0", "--minutes", "0.3"]
    status, output, error = run("tune", "wine.csv", *options, "--save", "wine.json")
    assert status == 1 and "No fit with limit 0 has a result" in output and "This command repeats the run" in output
    assert "wine.json was not written, because no fit with the requested limit has a result" in error
    assert Path("wine-front.csv").exists() and not Path("wine.json").exists()


@pytest.mark.parametrize("option", ["-o", "--plot"])
@pytest.mark.parametrize("file", ["wine.csv/front.png", "folder.png"])
def test_outputs_that_cannot_be_written_are_refused_before_the_fits(wine, run, monkeypatch, option, file):
    Path("folder.png").mkdir()
    monkeypatch.setattr("clusterlets.tuning.tune", None)
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", option, file)
    assert (status, output) == (1, "") and "cannot be written" in error and error.count("\n") == 1
    assert {path.name for path in Path().iterdir()} == {"wine.csv", "folder.png"}


@pytest.mark.parametrize("finished", [0, 3])
def test_an_interrupted_walk_recommends_from_what_is_finished(wine, run, monkeypatch, finished):
    def interrupt(done, total, description):
        if done == finished:
            raise KeyboardInterrupt

    monkeypatch.setattr(tune_command, "_show_progress", interrupt)
    options = ["-k", "5", "--features", FEATURES, "--scaling", "standard", "-o", "path.csv", "--plot", "path.png"]
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", *options)
    if finished:
        assert status == 130 and "interrupted; only the finished fits" in error and "This command repeats the run" in output
        assert (pd.read_csv("path.csv")["status"] == "ok").sum() == finished and Path("path.png").exists()
    else:
        assert status == 1 and "No fit has a result (not_tried)" in error and not Path("path.csv").exists()


@pytest.mark.parametrize("option", ["--clusters 1", "--clusters 5-2", "--clusters 2-40", "--minutes 0"])
def test_numbers_out_of_range_are_refused(wine, run, option):
    status, _, error = run("tune", "wine.csv", "--sensitive", "target", *option.split())
    assert status == 2 and option.split()[0] in error and f"'{option.split()[1].partition('-')[0]}" in error


def test_a_command_keeps_spaces_dashes_and_separators_in_its_options():
    arguments = ["my people.csv", "--sensitive=-sex", "--features", "a b,c", "--scaling", "none", "--separator", ";"]
    options = tune_command._parser().parse_args([*arguments, "--seed", "4"])
    assert command(options, Run("fair-limit", {"max_deviation": {"-sex": 0.1}}, 5)) == [
        *("clusterlets", "cluster", "my people.csv", "--sensitive=-sex", "--features", "a b,c", "--scaling", "none"),
        *("--separator", ";", "--method", "fair-limit", "--max-deviation", '{"-sex": 0.1}', "-k", "5", "--seed", "4"),
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_redraws_one_line_on_a_terminal_and_is_silent_elsewhere(capsys, monkeypatch, is_terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    tune_command._show_progress(4, 12, "vfc")
    assert capsys.readouterr().err == ("\r\x1b[K4 of 12 done; next: vfc" if is_terminal else "")


def test_compiling_is_announced_before_the_first_fit(wine, run, monkeypatch):
    monkeypatch.setattr(path, "_compile", lambda method: njit(lambda x: x)(1))
    _, _, error = run("tune", "wine.csv", "--sensitive", "target", "--features", FEATURES, "-k", "2")
    assert error.count("clusterlets tune: compiling once for this machine; this may take half a minute.\n") == 1
