"""Fuzz tests of configurations, valid and nearly valid. Each runs as requested, or is refused with a readable message."""

import importlib
import json
import math
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from from_schema import spoilt_values, valid_values
from fuzzing import ODD_STRINGS, any_of
from hypothesis import assume
from hypothesis import strategies as st

from clusterlets import __main__ as command_line
from clusterlets import methods
from clusterlets.errors import ClusterletsError
from clusterlets.grid.cells import cells, number_of_cells
from clusterlets.grid.configuration import read_configuration
from clusterlets.methods import PARTS
from clusterlets.steps.options import STEPS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text(encoding="utf-8"))
BUNDLED = ("iris", "wine", "breast_cancer", "digits")

# The schema does not list the names of datasets and methods, so these strategies do.
DATASETS = st.one_of(
    any_of(*BUNDLED, "adult", {"name": "adult", "sensitive": "sex"}, {"name": "adult", "sensitive": ["class", "race"]}),
    any_of(*({"name": name, "id": f"{name}_b", "scaling": "standard"} for name in BUNDLED)),
    any_of(
        {"name": "people", "path": "people.csv", "sensitive": "city"},
        {"name": "people", "path": "people.csv", "sensitive": ["city", "sex"], "features": ["age"], "separator": ","},
        {"name": "people", "path": "people.csv", "sensitive": "sex", "id": "men", "features": "numeric"},
    ),
)
METHODS = st.one_of(
    any_of(*methods.names()),
    any_of(
        {"name": "FRAC", "parameters": {"tau": ["balanced", 0.01], "init": ["random", "k-means++"]}},
        {"name": "FRAC", "parameters": {"tau": [0.5], "max_iter": [7], "tol": [0]}},
        {"name": "D", "parameters": {"hops": [7]}},
        {"name": "G-B", "parameters": {"hops": [1, 2], "scope": ["last", "cluster"]}},
        {"name": "C", "parameters": {"omega": [0.125]}},
        {
            "name": "mine",
            "command": "mine {table} {k} {seed} {style} {labels}",
            "parameters": {"style": ["a b", "", "0.5", True]},
        },
        {"name": "mine", "command": "mine {table} it's > {labels}"},
        {"path": "own.py", "parameters": {"share": [0.1, 1e-300]}},
        {"path": "own.py"},
    ),
)
OWN_METHOD = """
from clusterlets.methods import Method

class Own(Method):
    name = "own"
    parameters = {"share": [1]}

    def fit(self, X, groups, n_clusters, random_state, share=1):
        return [0] * len(X)
"""


def method_name(method):
    """The name of the method that an entry of ``methods`` describes."""
    return method if isinstance(method, str) else method.get("name", "own")


# Strategies for the keys whose values name datasets and methods.
NAMING_KEYS = {
    "datasets": st.lists(DATASETS, min_size=1, max_size=3, unique_by=json.dumps),
    "methods": st.lists(METHODS, min_size=1, max_size=4, unique_by=method_name),
    "exclude": any_of([], "", None, "wine", ["wine"], "wine, digits"),
}
# A strategy for the values of each key.
VALUES = {key: valid_values(part, SCHEMA) for key, part in SCHEMA["properties"].items() if key not in NAMING_KEYS} | NAMING_KEYS


def configurations(**fixed_keys):
    """A strategy for configurations with these keys and any others of the schema. Each key has a strategy for its values."""
    return st.fixed_dictionaries(fixed_keys, optional={key: values for key, values in VALUES.items() if key not in fixed_keys})


@pytest.fixture(autouse=True)
def work_beside_the_files_that_configurations_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN_METHOD)
    Path("people.csv").write_text("age,b,city,sex\n1,2,Rom,w\n2,1,Bonn,m\n3,3,Rom,m\n")


def read_if_accepted(requested):
    """Write the requested configuration to a file and read it. If it is refused, check the message and return None."""
    Path("requested.yaml").write_text(yaml.safe_dump(requested, allow_unicode=True))
    try:
        return read_configuration("requested.yaml")
    except ClusterletsError as error:
        headline, *faults = str(error).split("\n")
        assert len(str(error)) < 5000 and "Traceback" not in str(error)
        assert faults or "Configuration cannot be used" not in headline
        assert all(fault.startswith("  - ") and len(fault) > 10 for fault in faults), str(error)
        return None


def assert_runs_as_requested(requested, config):
    """Assert that the cells are those of the requested values and no others, and that no path needs quotes in a shell."""
    for key in ("k", "hops", "omega"):
        values = requested.get(key, config[key])
        assert sorted(config[key]) == sorted(values) and all(math.isfinite(value) for value in values)
        assert key == "omega" or all(type(value) is int for value in config[key])
    for key in ("base_seed", "sample_size"):
        assert type(config[key]) is int and config[key] == requested.get(key, config[key])
    assert json.loads(json.dumps(config)) == config
    # If every cluster must get a part of each group, all the parts together are at most the group.
    taus = config["method_settings"].get("FRAC", {"parameters": {}})["parameters"].get("tau", [])
    assert all(k * PARTS.resolve(tau, k) <= 1 + 1e-12 for tau in taus for k in config["k"])
    assume(number_of_cells(config) < 3000)
    grid_cells = list(cells(config))
    assert len({cell.path for cell in grid_cells}) == len(grid_cells)
    assert all(re.fullmatch(r"[\w./+%-]+", cell.path) for cell in grid_cells)
    entries = {method_name(method): method for method in requested.get("methods", config["methods"])}
    if "C" in entries:
        own_parameters = entries["C"].get("parameters", {}) if isinstance(entries["C"], dict) else {}
        omegas = {float(cell.configuration.partition("_omega")[2]) for cell in grid_cells if cell.method == "C"}
        assert omegas == set(own_parameters.get("omega", config["omega"]))
    assert {cell.method for cell in grid_cells} == set(config["methods"]) == set(entries)
    assert {cell.dataset for cell in grid_cells} == set(config["tables"])


def check_configuration(requested):
    config = read_if_accepted(requested)
    if config:
        assert_runs_as_requested(requested, config)


def test_a_valid_configuration_runs_as_requested_or_is_refused(fuzz):
    fuzz(check_configuration, configurations(), n_examples=60)


def test_a_nearly_valid_configuration_is_refused_or_runs_as_requested(fuzz):
    fuzz(check_configuration, spoilt_values(configurations()), n_examples=100)


def check_yaml(text):
    Path("requested.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        config = read_configuration("requested.yaml")
    except ClusterletsError:
        return
    json.dumps(config)  # the rules pass a configuration on as JSON


def test_any_yaml_is_read_or_refused(fuzz):
    tokens = ["k: ", "omega: ", "5", ".nan", "[", "]", "{", "}", ": ", ", ", "\n", "\n  ", "- ", "? ", "#", "|", "&a ", "*a"]
    pieces = st.lists(ODD_STRINGS | any_of(*tokens, "!!python/name:os", "2020-13-45"))
    fuzz(check_yaml, pieces.map("".join), n_examples=60)


# Small enough to plan quickly: the paper's grid has thousands of jobs.
SMALL_GRID = {
    "datasets": NAMING_KEYS["datasets"],
    "seeds": st.fixed_dictionaries({"count": st.integers(1, 3), "batch": st.integers(1, 10**6)}),
    "k": st.lists(st.integers(2, 10**6), min_size=1, max_size=2, unique=True),
    "hops": st.lists(st.integers(1, 10**6), min_size=1, max_size=2, unique=True),
    "omega": VALUES["omega"],
    "methods": VALUES["methods"],
}


def plan_commands(config_file):
    """The arguments of every command that the workflow would run, from a dry run."""
    snakemake = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    options = ["--dry-run", "--quiet=host", "--printshellcmds", "--configfile", config_file]
    process = subprocess.run([*snakemake, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.returncode == 0, process.stdout
    commands = re.findall(r"^Shell command: clusterlets (.*) > (?:\S+\.log|'.*\.log') 2>&1$", process.stdout, re.MULTILINE)
    # The target rule, which runs no command, has such a line too.
    assert len(commands) == process.stdout.count("Shell command: ") - 1, process.stdout
    return [shlex.split(command) for command in commands]


def step_arguments(name, options):
    """The arguments that the function of a step gets from the options of a command line."""
    module, function = STEPS[name].split(":")
    step_function = getattr(importlib.import_module(f"clusterlets.steps.{module}"), function)
    return vars(command_line._parser(name, step_function).parse_args(options))


def check_planned_commands(requested):
    config = read_if_accepted(requested)
    assume(config is not None)
    steps = [(name, step_arguments(name, options)) for name, *options in plan_commands("requested.yaml")]
    for _, arguments in steps:
        expected_values = {"base_seed": config["base_seed"], "budget": "$BUDGET", "sample_size": config["sample_size"]}
        assert all(arguments[key] == value for key, value in expected_values.items() if key in arguments)
        assert "config" not in arguments or json.loads(arguments["config"])["seeds"] == config["seeds"]
    cell_jobs = [job for name, job in steps if name == "score-method" and "/variants/" not in job["output"]]
    for job in cell_jobs:
        method = json.loads(job["method"])
        grid = config["method_settings"][method["name"]]
        assert all(method.get(key) == grid.get(key) for key in ("path", "command"))
        assert json.loads(job["settings"]) == {name: config[key] for name, key in grid["settings"].items()}
    planned_cells = [
        (job["dataset"], json.loads(job["method"])["name"], job["k"], job["parameters"], job["seeds"]) for job in cell_jobs
    ]
    grid_cells = [(cell.dataset, cell.method, cell.k, json.dumps(cell.parameters), cell.seeds) for cell in cells(config)]
    assert Counter(planned_cells) == Counter(grid_cells)


def test_the_planned_commands_agree_with_the_accepted_configuration(fuzz):
    fuzz(check_planned_commands, configurations(**SMALL_GRID), n_examples=3)
