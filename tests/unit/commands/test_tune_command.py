"""``clusterlets tune`` recommends a run, prints a command that repeats it, and says what was not tried."""

import importlib
import io
import re
import shlex
import signal
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from clusterlets import methods
from clusterlets.commands import tune as tune_command
from clusterlets.commands.tune import command
from clusterlets.datasets.table import standardise
from clusterlets.tuning import trials
from clusterlets.tuning.trials import UNSUITABLE


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


FEATURES = "alcohol,malic_acid,ash,proline,hue"


@pytest.mark.parametrize("sensitive", [["target"], ["target", "cellar"]])
def test_the_printed_command_gives_the_printed_numbers(wine, run, tmp_path, sensitive):
    wine["cellar"] = np.where(np.arange(len(wine)) % 3 > 0, "south", "north")
    wine.to_csv("wine.csv", index=False)
    sensitive_options = [argument for name in sensitive for argument in ("--sensitive", name)]
    options = [*sensitive_options, "--features", FEATURES, "--scaling", "standard", "--clusters", "3", "--seeds", "2"]
    options += ["--max-deviation", ".05", "--minutes", "2"]
    status, output, _ = run("tune", "wine.csv", *options, "--report", "wine.html")
    assert status == 0 and Path("wine.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (printed_command,) = [line for line in output.splitlines() if line.startswith("  clusterlets cluster wine.csv ")]
    price, deviation, smallest = re.search(
        r"^.* (\S+) times the .* deviation (\S+), smallest cluster (\d+)", output, re.M
    ).groups()
    status, cluster_output, _ = run(*shlex.split(printed_command)[1:], "-o", "labels.csv")
    labels = pd.read_csv("labels.csv")["cluster"]
    deviations = [
        abs(pd.crosstab(labels, wine[name], normalize="index") - wine[name].value_counts(normalize=True)).max(axis=None)
        for name in sensitive
    ]
    assert f"{max(deviations):.3f}" == deviation and max(deviations) <= 0.05 and labels.value_counts().min() == int(smallest)
    X = pd.DataFrame(standardise(wine[FEATURES.split(",")].to_numpy()))
    cost = (X - X.groupby(labels).transform("mean")).pow(2).to_numpy().sum()
    (table_file,) = Path().glob("*-front.csv")
    recommended = pd.read_csv(table_file).iloc[0]
    assert recommended["kmeans_cost"] == pytest.approx(cost, abs=1e-5) and f"{recommended['price']:.3f}" == price
    assert re.search(rf"max {deviation}\b", cluster_output) and f"price of fairness  {price} " in cluster_output
    check_front(pd.read_csv(table_file), table_file.with_suffix(".png"))


def check_front(configurations, picture):
    """Check that every suitable method is listed, that ``on_front`` follows its definition, and that ``picture`` is a PNG."""
    assert set(configurations["method"]) == set(methods.names()) - set(UNSUITABLE)
    assert configurations["statuses"].notna().all()
    priced = configurations.dropna(subset="price")
    for row in priced.to_dict("records"):
        no_worse = (priced["deviation_max"] <= row["deviation_max"]) & (priced["price"] <= row["price"])
        better = no_worse & ((priced["deviation_max"] < row["deviation_max"]) | (priced["price"] < row["price"]))
        assert row["on_front"] == (not better.any())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_enough_time_nothing_is_recommended(wine, run):
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", "--minutes", "0.00001")
    assert "features: alcohol," in output and "note: left out (--features names columns to keep): bottle_id" in output
    assert "warning: proline spreads " in output
    assert status == 1 and "(not_tried " in error and "allow more minutes" in error
    assert [path.name for path in Path().iterdir()] == ["wine.csv"]


@pytest.mark.parametrize("option", ["-o", "--plot"])
@pytest.mark.parametrize("file", ["wine.csv/front.png", "folder.png"])
def test_outputs_that_cannot_be_written_are_refused_before_the_fits(wine, run, monkeypatch, option, file):
    Path("folder.png").mkdir()
    monkeypatch.setattr("clusterlets.tuning.tune", None)
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", option, file)
    assert (status, output) == (1, "") and "cannot be written" in error and error.count("\n") == 1
    assert {path.name for path in Path().iterdir()} == {"wine.csv", "folder.png"}


@pytest.fixture
def ctrl_c_interrupts():
    """Use Python's usual handler of Ctrl-C, even if the tests run in the background, where Ctrl-C is ignored."""
    former_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former_handler)


@pytest.mark.parametrize(("signum", "is_ignored"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_an_interrupted_tuning_ranks_what_is_finished(wine, run, monkeypatch, ctrl_c_interrupts, signum, is_ignored):
    """``is_ignored`` simulates a signal that arrives in a destructor, where Python drops the exception.

    Tuning then stops after one more fit.
    """

    def interrupt(self, done, total, description):
        if done == 6:
            with suppress(KeyboardInterrupt) if is_ignored else nullcontext():
                signal.raise_signal(signum)

    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(tune_command._Progress, "__call__", interrupt)
    options = ["--features", FEATURES, "--scaling", "standard", "--seeds", "2", "-o", "front.csv", "--plot", "front.png"]
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", *options)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert status == 128 + signum and "interrupted" in error and "This command repeats the run" in output
    front = pd.read_csv("front.csv")
    # More configurations are marked as interrupted than fits have finished.
    assert front["runs"].sum() == 6 + is_ignored < (front["note"] == "interrupted").sum() and Path("front.png").exists()


@pytest.mark.parametrize(
    ("target", "signum", "message"),
    [
        ("clusterlets.tuning._by_configuration", signal.SIGINT, "only the finished fits are compared"),
        ("clusterlets.commands.cli.write_table", signal.SIGTERM, "the files above are complete"),
        ("clusterlets.tuning.front.draw", signal.SIGINT, "the files above are complete"),
    ],
)
def test_an_interruption_after_the_fits_loses_no_results(wine, run, monkeypatch, ctrl_c_interrupts, signum, target, message):
    """The interruption comes while the fits are ranked or written. The report, which needs another fit, may be left out."""
    module, _, name = target.rpartition(".")
    function, calls = getattr(importlib.import_module(module), name), []

    def interrupt_once(*arguments):
        if not calls:
            calls.append(target)
            signal.raise_signal(signum)
        return function(*arguments)

    all_candidates = trials.candidates
    monkeypatch.setattr(trials, "candidates", lambda names, task: all_candidates(names, task)[:2])
    monkeypatch.setattr(target, interrupt_once)
    options = ["--features", FEATURES, "--seeds", "2", "-o", "front.csv", "--plot", "front.png", "--report", "page.html"]
    status, output, error = run("tune", "wine.csv", "--sensitive", "target", *options)
    assert (status, len(calls)) == (128 + signum, 1) and message in error and "This command repeats the run" in output
    assert pd.read_csv("front.csv")["runs"].sum() >= 2 and Path("front.png").exists()
    assert Path("page.html").exists() == ("_by_configuration" in target)


@pytest.mark.parametrize(
    ("target", "signum"),
    [("clusterlets.tuning.least_plain_cost", signal.SIGTERM), ("clusterlets.tuning.trials._load", signal.SIGINT)],
)
def test_an_interruption_before_the_first_fit_is_reported(wine, run, monkeypatch, ctrl_c_interrupts, signum, target):
    def interrupt(*_):
        signal.raise_signal(signum)

    monkeypatch.setattr(target, interrupt)
    status, _, error = run("tune", "wine.csv", "--sensitive", "target")
    assert (status, error) == (
        128 + signum,
        "clusterlets tune: interrupted when no fit had finished; there is nothing to recommend.\n",
    )
    assert [path.name for path in Path().iterdir()] == ["wine.csv"]


def test_different_requests_write_different_files():
    from clusterlets.commands.tune import _parser, _stem

    requests = ["", "--sensitive race", "--clusters 6", "--features a,b", "--features a/b", "--seed 1", "--scaling standard"]
    requests += ["--max-deviation 0.1", "--minutes 1", "--min-cluster-size 9", "--seeds 4", "--separator /"]
    # Names that are too long for a file are cut, and get a checksum that tells them apart.
    requests += [f"--features {'f' * 300}", f"--features {'f' * 301}"]
    requests = [f"people.csv {options}" for options in requests]
    requests += [f"{folder}/people.csv" for folder in ("a", "b", "a/b", "../a", "/a")] + ["people.tsv", "a-people.csv"]

    def stem(request: str) -> str:
        table, *options = request.split()
        return _stem(_parser().parse_args([table, "--sensitive", "sex", *options]))

    stems = [stem(request) for request in requests]
    assert {stem(table) for table in ("./people.csv", str(Path("people.csv").resolve()))} == {stems[0]} == {"people-sex"}
    assert "people-sex-in=a" in stems and len(set(stems)) == len(stems) and not any("/" in stem for stem in stems)
    assert max(map(len, stems)) < 200


@pytest.mark.parametrize("option", ["--clusters 1", "--max-deviation 2", "--minutes 0"])
def test_numbers_out_of_range_are_refused(wine, run, option):
    status, _, error = run("tune", "wine.csv", "--sensitive", "target", *option.split())
    assert status == 2 and f"argument {option.split()[0]}: '{option.split()[1]}' is not " in error


def test_a_command_keeps_spaces_dashes_and_separators_in_its_options():
    from clusterlets.commands.tune import _parser
    from clusterlets.tuning.trials import Candidate

    arguments = ["my people.csv", "--sensitive=-sex", "--features", "a b,c", "--scaling", "standard", "--separator", ";"]
    options = _parser().parse_args(arguments)
    assert command(options, Candidate("C", {"omega": 0.25}), 4) == [
        *("clusterlets", "cluster", "my people.csv", "--sensitive=-sex", "--features", "a b,c", "--separator", ";"),
        *("--scaling", "standard", "--matcher", "C", "--omega", "0.25", "--clusters", "5", "--seed", "4"),  # 5 by default
    ]


def test_progress_redraws_one_line_on_a_terminal_and_writes_few_lines_elsewhere(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    now = [0.0]
    monkeypatch.setattr(tune_command.time, "monotonic", lambda: now[0])
    for stream, is_terminal in ((Terminal(), True), (io.StringIO(), False)):
        with tune_command._Progress(stream) as progress:
            for done, seconds in ((3, 1), (4, 10), (5, 1)):
                now[0] += seconds
                progress(done, 12, f"vfc {done}")
        text = stream.getvalue()
        assert ("[######..................] 3/12 vfc 3" in text) == is_terminal
        assert is_terminal or text == "4 of 12 done; next: vfc 4\n"
