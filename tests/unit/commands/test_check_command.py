"""``clusterlets check`` names what breaks the contract of a method, and finds nothing wrong with the package's methods."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from clusterlets import methods
from clusterlets.errors import NoClusteringError
from clusterlets.methods import Choice, Integer, Real
from clusterlets.supervision.contract import trials, values_to_try

METHOD = """
import os
import numpy as np
from clusterlets.methods import Choice, Integer, Method, Real

class Mine(Method):
    name = "mine"
    DECLARATION

    def fit(self, X, groups, n_clusters, random_state, share=0.5):
        labels = random_state.integers(n_clusters, size=len(X))
        BODY
        return labels
"""
# What a method does -> the line for what was tried, and what is wrong. Every other line must say ok.
FAULTS = {
    ("labels = labels - 1", ""): ("60 rows, 2 groups, k = 3", "labels must be whole numbers of at least 0"),
    ("labels = labels[1:]", ""): ("60 rows, 5 groups, k = 3", "fit must return labels (60,) or memberships"),
    ("labels = np.arange(len(X)) % (n_clusters + 1)", ""): ("60 rows, 2 groups, k = 3", "mine has 4 clusters, more than k = 3"),
    ("if groups.max() > 1: 1 / 0", ""): ("60 rows, 5 groups, k = 3", "ZeroDivisionError"),
    ("if n_clusters == 1: raise ValueError('too few')", ""): ("a single cluster", "ValueError: too few"),
    ("if len(np.unique(X, axis=0)) < 9: 1 / 0", ""): ("60 rows of which 6 differ, k = 4", "ZeroDivisionError"),
    ("if (X == X[0]).all(): 1 / 0", ""): ("60 equal rows, k = 4", "ZeroDivisionError"),
    ("labels = np.random.default_rng().integers(n_clusters, size=len(X))", ""): ("the same seed twice", "the clusters differ"),
    ("Mine.n = n = getattr(Mine, 'n', 0) + 1; labels = (labels + (np.arange(len(X)) < n)) % n_clusters", ""): (
        "the same seed twice",
        "keep nothing from fit to fit",
    ),
    ("labels = np.arange(len(X)) % n_clusters", ""): ("5 seeds", "declare is_random = False"),
    ("pass", "is_random = False"): ("5 seeds", "is_random = False lets one fit stand for all seeds"),
    ("X.flags.writeable and X.sort(axis=0)", ""): ("X and groups stay as they are", "fit changes X: work on a copy"),
    ("if share == 1: 1 / 0", 'parameters = {"share": Real(0, 1)}'): ("share = 0, 1", "share = 1: "),
    ("pass", 'outputs = ("fair", "plain")'): ("the outputs fair, plain: each is there", "a mapping with fair and plain"),
    ("self.objective_ = float('nan')", ""): ("60 rows, 2 groups, k = 3", "self.objective_ is nan"),
    ("self.note_ = 3", ""): ("60 rows, 2 groups, k = 3", "self.note_ is 3"),
    ("pass", "def faults(self, n_clusters, **parameters): return None"): (
        "attributes, faults()",
        "must return a list of strings",
    ),
    ("pass", "def unsupported(self, rows, n_groups): return None"): ("attributes, faults()", "must return a string"),
    ("if len(X) == 2000: os.kill(os.getpid(), 9)", ""): ("2,000 rows, 3 groups, k = 5", "out_of_memory: ended by SIGKILL"),
}


@pytest.mark.parametrize(("deed", "verdict"), FAULTS.items(), ids=[" ".join(deed).strip() for deed in FAULTS])
def test_each_breach_of_the_contract_is_named_with_what_was_tried_and_the_section(run, tmp_path, deed, verdict):
    body, declaration = deed
    (tmp_path / "mine.py").write_text(METHOD.replace("DECLARATION", declaration).replace("BODY", body))
    status, output, _ = run("check", str(tmp_path / "mine.py"))
    tried, wrong = verdict
    (line,) = [line for line in output.splitlines() if line.startswith(f"WRONG  {tried}")]
    assert wrong in line and status == 1
    section = re.search(r"\(extending\.md#([a-z-]+)\)$", line)[1]
    headings = [heading.lower() for heading in re.findall(r"^#+ (.*)$", Path("docs/extending.md").read_text(), re.MULTILINE)]
    assert section.replace("-", " ") in [heading.replace(",", "") for heading in headings]


def test_an_error_is_shown_once_with_all_trials_that_it_ended(run, tmp_path):
    text = METHOD.replace(", random_state, share=0.5", "").replace("BODY", "")
    (tmp_path / "mine.py").write_text(text.replace("DECLARATION", ""))
    status, output, _ = run("check", str(tmp_path / "mine.py"))
    assert status == 1
    wrong = re.findall(r"^WRONG  (.*): failed: TypeError: Mine.fit\(\) takes", output, re.MULTILINE)
    (shown,) = re.findall(r"^what ended (\d+) trials \((.*)\):\nTraceback .*", output, re.MULTILINE)
    assert shown == (str(len(wrong)), "; ".join(wrong)) and len(wrong) > 5 and output.count("Traceback") == 1
    body = "if n_clusters == 1: 1 / 0\n        if len(X) > 60: raise KeyError('x')"
    (tmp_path / "mine.py").write_text(METHOD.replace("DECLARATION", "").replace("BODY", body))
    output = run("check", str(tmp_path / "mine.py"))[1]
    assert re.findall(r"^what ended (.*):$", output, re.MULTILINE) == [
        "1 trial (a single cluster)",
        "2 trials (500 rows, 3 groups, k = 5; 2,000 rows, 3 groups, k = 5)",
    ]


def test_nothing_is_wrong_with_a_method_that_keeps_the_contract(run, tmp_path):
    (tmp_path / "mine.py").write_text(METHOD.replace("DECLARATION", "most_groups = 2").replace("BODY", ""))
    status, output, _ = run("check", str(tmp_path / "mine.py"))
    assert status == 0 and output.endswith("\nmine: nothing wrong was found\n")
    assert "5 groups" not in output and "2,000 rows, 2 groups, k = 5" in output


def test_a_method_of_the_package_also_keeps_the_rules_of_promised_numbers(run, monkeypatch):
    status, output, _ = run("check", "random")
    assert status == 0 and "ok     random.py: the same bits on every processor" in output
    monkeypatch.setattr("clusterlets.commands.check.operations_in", lambda source: [("fit", "np.exp"), ("", "@")])
    status, output, _ = run("check", "random")
    assert status == 1 and "WRONG  random.py: the same bits on every processor: np.exp in fit, @ in the module may" in output


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Real(0, 1, above=True), [1]),
        (Real(0, 1, also=[None], ladder=[0.5, 1]), [0, 1, None, 0.5]),
        (Integer(1, 1000, grid=[2]), [1, 1000, 2]),
        (Integer(1, 10**6), [1]),
        (Choice(("a", "b"), also=[1]), ["a", "b", 1]),
    ],
)
def test_the_bounds_the_choices_and_the_listed_values_are_tried(parameter, values):
    assert sorted(map(str, values_to_try("p", parameter))) == sorted(map(str, values))


@pytest.mark.slow
@pytest.mark.parametrize("name", methods.names())
def test_every_method_of_the_package_passes(name):
    for trial in trials(methods.get(name)):
        with suppress(NoClusteringError):
            assert not trial.run(), trial.what
