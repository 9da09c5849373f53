"""Fuzz tests of users' methods that are command lines: each gets the configured values, or is refused."""

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import yaml
from fuzzing import ODD_STRINGS, any_of, restored_folder
from hypothesis import strategies as st

from clusterlets.errors import ClusterletsError
from clusterlets.grid.cells import combinations
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.entries import load_method

N_ROWS = 24
X, GROUPS = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2), np.arange(N_ROWS) % 2

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


def test_a_command_gets_the_configured_values_or_is_refused(fuzz, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "${HOME}")  # a string that stays the same if a shell expands it
    Path("program").write_text(PROGRAM)
    Path("program").chmod(0o755)
    fuzz(check_command, COMMANDS, n_examples=40)
