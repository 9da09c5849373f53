"""Fuzz tests of users' methods, given as Python files and as command lines.

Each method gives a valid clustering, or is refused and leaves no output file.
"""

import csv
import itertools
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from fuzzing import ODD_STRINGS, any_of, command, has_reason_in_one_line, restored_folder
from hypothesis import strategies as st

from clusterlets.errors import ClusterletsError
from clusterlets.grid.cells import combinations
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.entries import load_method

N_ROWS = 24
X, GROUPS = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2), np.arange(N_ROWS) % 2

# ---- Python files ----------------------------------------------------------------------------------------------------

FILE_TEMPLATE = """{future}
import dataclasses, os, sys, warnings
import numpy as np
from clusterlets.errors import NoClusteringError
from clusterlets.methods import PARTS, RATIO, SHARES, Choice, Integer, Matcher, Method, Real
{at_import}

@dataclasses.dataclass
class Part:
    share: float = 0.5

calls = []

class Mine({base}):
    name = {name}
    {attribute}

    def {function}:
        calls.append(0)
        {before}
        return {result}
"""
# Labels that a test can predict.
ROUND_ROBIN = "np.arange(len(X)) % n_clusters"
# Expressions for what a method returns, some of them valid. Values are grouped so that the formatter keeps several on a line.
RESULTS = any_of(
    *[ROUND_ROBIN] * 3,
    *("np.arange(len(X)) % n_clusters + 0.0", "list(range(len(X)))", "np.eye(n_clusters, dtype=bool)[groups]", "X", "-groups"),
    *("random_state.integers(n_clusters, size=len(X))", "None", "'abc'", "[]", "np.full(len(X), np.nan)", "{}", "(yield)"),
    *("[[0], [1, 2]]", "np.zeros((len(X), 0), dtype=bool)", "iter(groups)", "Part()", "groups + 2**60", "groups * 1j"),
)
STATEMENTS = any_of(
    *("pass", "pass", "pass", "sys.exit(0)", "exit()", "raise SystemExit", "raise BaseException", "1 / 0", "raise MemoryError"),
    *("os.chdir('/')", "os.chdir('/'); 1 / 0", "import nothing_of_that_name", "warnings.warn('careful')", "assert False"),
    *("X[:] = 0", "groups[:] = 0", "X.flags.writeable = True; X[:] = 7", "np.seterr(all='warn')", "raise ValueError('a\\nb')"),
    "raise NoClusteringError('infeasible', 'no luck')",
    "class Odd(Exception):\n            __str__ = None\n        raise Odd",
)
ATTRIBUTES = any_of(
    *("pass", "pass", "pass", "parameters = {'share': [0.1, 0.5]}", "parameters = {'share': Real(0, 1)}", "parameters = 5"),
    *("parameters = {'share': [1, 1.0]}", "parameters = {'share': [float('nan')]}", "parameters = {'other': [1]}"),
    *("outputs = ('a', 'b')", "outputs = 'ab'", "needs = None", "most_groups = 1", "most_rows = '9'", "is_random = False"),
    *("role = 'winner'", "stream = -1", "faults = None", "libraries = ('numba',)", "def __init__(self, a): pass"),
    "def faults(self, n_clusters, **p): sys.exit(0)",
    "def unsupported(self, rows, n_groups): return 'no'",
    "@staticmethod\n    def unsupported(rows, n_groups): return ''",
)
FILE_PARTS = st.fixed_dictionaries(
    {
        "future": any_of("", "from __future__ import annotations"),
        "at_import": any_of("", "", "", "sys.exit(0)", "os.chdir('/')", "1 / 0", "def f(:", "raise KeyError('a')", "exit('b')"),
        "base": any_of("Method", "Method", "Method", "Matcher", "object", "Method, Part"),
        "name": any_of("'mine'", "'mine'", "'mine'", "'a/b'", "''", "5", "'clusterlets'", "'FRAC'"),
        "attribute": ATTRIBUTES,
        "function": any_of(
            *["fit(self, X, groups, n_clusters, random_state, share=0.5)"] * 4,
            *(
                "fit(self, X, groups, n_clusters, random_state, **more)",
                "fit(self)",
                "fit(self, X, groups, n_clusters, random_state, share)",
            ),
            "match(self, clusterlets, random_state)",
        ),
        "before": STATEMENTS,
        "result": RESULTS,
    }
)


@pytest.fixture
def people_csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # otherwise the check for __pycache__ could not fail
    rows = [f"{n % 7 + n / 10},{n * n % 31},{'wm'[n % 2]}\n" for n in range(N_ROWS)]
    Path("people.csv").write_text("".join(["age,income,sex\n", *rows]))


def check_method_file(example):
    file_parts, n_clusters, parameters, output = example
    with restored_folder():
        Path("mine.py").write_text(FILE_TEMPLATE.format(**file_parts))
        arguments = ["people.csv", "--sensitive", "sex", "--method", "mine.py", "-k", str(n_clusters), "-o", output]
        outcome = command("cluster", *arguments, *(["--parameters", parameters] if parameters else []))
        if outcome.status:
            assert has_reason_in_one_line(outcome, "cluster"), outcome.err
            return
        assert output == "labels.csv"
        header, *rows = csv.reader(Path(output).read_text().splitlines())
        assert header == ["row", "cluster"] and {int(row) for row, _ in rows} == set(range(N_ROWS))
        clusters = {int(cluster) for _, cluster in rows}
        assert clusters == set(range(len(clusters)))
        if file_parts["result"] == ROUND_ROBIN:
            assert [(int(row), int(cluster)) for row, cluster in rows] == [(row, row % n_clusters) for row in range(N_ROWS)]
        assert not Path("__pycache__").exists()


def test_a_method_file_gives_every_row_a_cluster_or_is_refused_in_one_line(fuzz, people_csv):
    parameters = (
        any_of("", "", "", "share=0.5", "share=1_0", "share=inf", "self=1", "X=1", "other=2", "share=0,share=1") | ODD_STRINGS
    )
    parameters = parameters.filter(lambda text: not text.startswith("-"))
    output = any_of(*["labels.csv"] * 6, "mine.py", "people.csv")
    example = st.tuples(FILE_PARTS, st.integers(1, N_ROWS), parameters, output)
    fuzz(check_method_file, example, n_examples=40)


# ---- command lines ---------------------------------------------------------------------------------------------------

# Writes its arguments to a file, and puts every row into cluster 0.
PROGRAM = """#!/bin/sh
for argument in "$@"; do printf '%s\\0' "$argument"; done > arguments
for argument in "$@"; do case "$argument" in */labels.csv) labels=$argument;; esac; done
{ echo cluster; yes 0 | head -n 24; } > "$labels"
"""
PIECES = any_of(
    "{style}", "{style}", "{size}", "{k}", "{seed}", "{styel}", "${k}", "${HOME}", "{ print }", "a", "-x", "{}", "{{k}}"
)
WORDS = st.lists(PIECES, min_size=1, max_size=3).map("".join)
QUOTED = st.builds(lambda quote, word: quote + word + quote, any_of("", "", "", "'", '"'), WORDS)
PARAMETER_VALUES = st.lists(
    ODD_STRINGS
    | any_of("a b", "it's", "{k}", "{labels}", "'; touch hit; '", '"', "$HOME", "plain", 0, 0.5, 1e-5, 1e300, True, None),
    min_size=1,
    max_size=2,
    unique_by=repr,
)
COMMANDS = st.fixed_dictionaries(
    {
        "words": st.lists(QUOTED, min_size=1, max_size=4),
        "parameters": st.dictionaries(
            any_of("style", "style", "size", "k", "labels", "seed", "X", "n_clusters"), PARAMETER_VALUES, max_size=2
        ),
    }
)


def check_command(example):
    with restored_folder():
        method = {"name": "mine", "command": " ".join(["./program", *example["words"], "{table}", "{labels}"])}
        if example["parameters"]:
            method["parameters"] = example["parameters"]
        Path("mine.yaml").write_text(yaml.safe_dump({"methods": [method], "datasets": ["iris"], "k": [3]}))
        files_before = sorted(Path().iterdir())
        try:
            config = read_configuration("mine.yaml")
        except ClusterletsError as error:
            headline, *faults = str(error).split("\n")
            assert all(fault.startswith("  - ") for fault in faults) and "Traceback" not in headline
            assert sorted(Path().iterdir()) == files_before
            return
        grid = config["method_settings"]["mine"]
        calls = [run_and_check_arguments(grid, values, example["words"]) for values in combinations(grid["parameters"])]
        pairs = itertools.combinations(calls, 2)
        assert all(first != second for first, second in pairs), "two configurations run the same command"
        assert not Path("hit").exists()  # no shell ran the `touch hit` in a value


def run_and_check_arguments(grid, parameters, words):
    """Run the command with these parameters, and check the arguments that it gets. Return those made from ``words``."""
    labels = load_method({"name": "mine", **grid})().fit(X, GROUPS, 3, np.random.default_rng(0), **parameters)
    assert labels.tolist() == [0] * N_ROWS
    *arguments, table_path, _ = Path("arguments").read_text().split("\0")[:-1]
    values = {**{name: as_text(value) for name, value in parameters.items()}, "k": "3"}
    assert arguments == expected_arguments(words, values) and table_path.endswith("/table.csv")
    return arguments


def as_text(value):
    """The value of a parameter as a command gets it: as YAML writes it, but with 1e+300 and not 1.0e+300."""
    # safe_dump ends a bare scalar with a line "...".
    return value if isinstance(value, str) else yaml.safe_dump(value).split("\n")[0].replace("1.0e", "1e")


def expected_arguments(words, values):
    """The arguments of the command, with ``{seed}`` and each ``{name}`` in ``values`` replaced. Braces in a value stay."""
    replacements = {**values, "seed": str(int(np.random.default_rng(0).integers(2**31)))}

    def replacement(placeholder):
        return replacements.get(placeholder[1], placeholder[0])

    return [re.sub(r"\{(\w+)\}", replacement, word) for word in shlex.split(" ".join(words))]


def test_a_command_gets_the_configured_values_or_is_refused(fuzz, people_csv, monkeypatch):
    monkeypatch.setenv("HOME", "${HOME}")  # a string that stays the same if a shell expands it
    Path("program").write_text(PROGRAM)
    Path("program").chmod(0o755)
    fuzz(check_command, COMMANDS, n_examples=40)
