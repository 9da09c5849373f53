"""Commands never write over a file that they read, and ``-o -`` writes to standard output."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clusterlets import __main__ as command_line
from clusterlets.commands.cli import STANDARD_OUTPUT, check_output_files, files_below

METHOD = """
import numpy as np
from clusterlets.methods import Method

class Dealt(Method):
    name = "dealt"

    def fit(self, X, groups, n_clusters, random_state):
        return np.arange(len(X)) % n_clusters
"""
CLUSTER_COMMAND = ("cluster", "people.csv", "--sensitive", "sex", "--method", "mine.py", "-k", "2")


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """The working directory, with a table and the module of a method."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pd.DataFrame({"age": rng.normal(size=40).round(2), "sex": ["f", "m"] * 20}).to_csv("people.csv", index=False)
    Path("mine.py").write_text(METHOD)


def link(kind, target, name):
    """Make a symbolic or hard link with this name, and return the name."""
    make_link = os.symlink if kind == "symbolic" else os.link
    make_link(target, name)
    return name


@pytest.mark.parametrize("kind", [None, "symbolic", "hard"])
@pytest.mark.parametrize(("option", "name"), [("-o", "a.csv"), ("--plot", "a.png"), ("--report", "a.html")])
@pytest.mark.parametrize(
    ("input_file", "description"), [("people.csv", "the table itself"), ("mine.py", "the method's own file")]
)
def test_cluster_never_writes_over_what_it_reads(input_file, description, option, name, kind, run):
    file = f"./{input_file}" if kind is None else link(kind, input_file, name)
    content = Path(input_file).read_bytes()
    status, _, error = run(*CLUSTER_COMMAND, option, file)
    assert status == 1 and f"{file} is {description}, which would be lost" in error
    assert Path(input_file).read_bytes() == content


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "people.csv"], "people.csv is the table itself"),
        (["--save", "people.csv"], "people.csv is the table itself"),
        (["-o", "model.json"], "model.json is the clustering"),
        (["-o", "new", "--save", "./new"], "-o new and --save ./new are the same file"),
        (["-o", "new", "--save", "model.json"], "model.json is not an intact clustering"),
    ],
)
def test_assign_never_writes_over_an_input_and_never_two_outputs_to_one_file(options, message, run):
    Path("model.json").write_text("{}")
    status, _, error = run("assign", "model.json", "people.csv", *options)
    assert status == 1 and message in error
    assert sorted(path.name for path in Path().iterdir()) == ["mine.py", "model.json", "people.csv"]
    assert Path("model.json").read_text() == "{}"


def test_archive_never_writes_over_a_file_of_the_results_or_the_workflow(run):
    Path("results").mkdir()
    Path("results/report.html").write_text("page")
    os.symlink(Path(command_line.__file__), "main.zip")
    for output in ("results/report.html", "main.zip"):
        status, _, error = run("archive", "--results", "results", "-o", output)
        assert status == 1 and re.search(f"{output} is a file of the (results|workflow), which would be lost", error)
    assert Path("results/report.html").read_text() == "page" and "def main" in Path(command_line.__file__).read_text()


def test_a_new_file_and_standard_output_pass_the_check_which_writes_nothing():
    for output in ("new.csv", STANDARD_OUTPUT):
        check_output_files({"-o": output}, files_below("a file", "."))
    assert sorted(path.name for path in Path().iterdir()) == ["mine.py", "people.csv"]


def test_a_dash_writes_only_the_table_to_standard_output(run):
    _, messages, _ = run(*CLUSTER_COMMAND, "-o", "labels.csv")
    status, output, error = run(*CLUSTER_COMMAND, "-o", "-")
    assert status == 0 and output == Path("labels.csv").read_text()
    assert error == messages.replace("labels.csv", "standard output")
    assert not Path("-").exists()
