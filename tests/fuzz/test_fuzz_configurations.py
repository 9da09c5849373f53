"""Configurations from the schema, valid and nearly valid: what is accepted is run as it was asked for, the rest refused."""

import importlib
import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from from_schema import fitting, spoilt
from fuzzing import ODD, fuzz, one_of_these
from hypothesis import assume
from hypothesis import strategies as st

from clusterlets import __main__ as command_line
from clusterlets.errors import ClusterletsError
from clusterlets.grid.cells import cells, number_of_cells
from clusterlets.grid.configuration import read_configuration

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text(encoding="utf-8"))
BUNDLED = ("iris", "wine", "breast_cancer", "digits")

# What the schema leaves open: which names there are.
ENTRIES = st.one_of(
    one_of_these(*BUNDLED, "adult", {"name": "adult", "colour": "sex"}, {"name": "adult", "colour": ["class", "race"]}),
    one_of_these(*({"name": name, "id": f"{name}_b", "scaling": "standard"} for name in BUNDLED)),
    one_of_these(
        {"name": "people", "path": "people.csv", "sensitive": "city"},
        {"name": "people", "path": "people.csv", "sensitive": ["city", "sex"], "features": ["age"], "separator": ","},
        {"name": "people", "path": "people.csv", "sensitive": "sex", "id": "men", "features": "numeric"},
    ),
)
NAMES = {
    "datasets": st.lists(ENTRIES, min_size=1, max_size=3, unique_by=json.dumps),
    "matchers": st.lists(st.sampled_from(sorted(MATCHERS)), unique=True),
    "exclude": one_of_these([], "", None, "wine", ["wine"], "wine, digits"),
}


KNOWN = {key: fitting(value, SCHEMA) for key, value in SCHEMA["properties"].items()} | NAMES


def configurations(**always):
    """Files for --configfile: any of the keys, and those that are always there."""
    return st.fixed_dictionaries(always, optional={key: values for key, values in KNOWN.items() if key not in always})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,b,city,sex\n1,2,Rom,w\n2,1,Bonn,m\n3,3,Rom,m\n")
    return tmp_path


def read(asked):
    """The configuration as it was accepted, or None."""
    Path("asked.yaml").write_text(yaml.safe_dump(asked, allow_unicode=True))
    try:
        return read_configuration("asked.yaml")
    except ClusterletsError as error:
        first, *faults = str(error).split("\n")
        assert len(str(error)) < 5000 and "Traceback" not in str(error)
        assert faults or "Configuration cannot be used" not in first
        assert all(fault.startswith("  - ") and len(fault) > 10 for fault in faults), str(error)
        return None


def runs_as_asked(asked, config):
    """Every number that was asked for has its own cells, and no other; every name is one that a shell leaves alone."""
    for key in ("k", "hops", "omega"):
        wanted = asked.get(key, config[key])
        assert sorted(config[key]) == sorted(wanted) and all(math.isfinite(value) for value in wanted)
        assert key == "omega" or all(type(value) is int for value in config[key])
    for key in ("base_seed", "sample_size"):
        assert type(config[key]) is int and config[key] == asked.get(key, config[key])
    assert json.loads(json.dumps(config)) == config
    tau = config["frac"]["tau"]
    assert tau == "balanced" or not config["frac"]["run"] or max(config["k"]) * tau <= 1 + 1e-12
    assume(number_of_cells(config) < 3000)
    found = list(cells(config))
    assert len({cell.path for cell in found}) == len(found)
    assert all(re.fullmatch(r"[\w./+-]+", cell.path) for cell in found)
    of_c = {cell.configuration.partition("_omega")[2] for cell in found if cell.method == "C"}
    assert {float(omega) for omega in of_c} == (set(config["omega"]) if "C" in config["matchers"] else set())
    assert {cell.dataset for cell in found} == set(config["tables"])


def test_what_fits_the_schema_is_accepted_or_refused_for_a_reason_that_only_code_can_know():
    def check(asked):
        config = read(asked)
        if config:
            runs_as_asked(asked, config)

    fuzz(0.07, check, configurations())


def test_what_nearly_fits_is_refused_or_run_as_asked():
    def check(asked):
        config = read(asked)
        if config:
            runs_as_asked(asked, config)

    fuzz(0.12, check, spoilt(configurations()))


def test_any_yaml_is_refused_in_words():
    def check(text):
        Path("asked.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            config = read_configuration("asked.yaml")
        except ClusterletsError:
            return
        json.dumps(config)

    tokens = ["k: ", "omega: ", "5", ".nan", "[", "]", "{", "}", ": ", ", ", "\n", "\n  ", "- ", "? ", "#", "|", "&a ", "*a"]
    pieces = st.lists(ODD | one_of_these(*tokens, "!!python/name:os", "2020-13-45"))
    fuzz(0.04, check, pieces.map("".join))


# The paper's grid would be many jobs.
SMALL = {
    "datasets": NAMES["datasets"],
    "seeds": st.fixed_dictionaries({"count": st.integers(1, 3), "block": st.integers(1, 10**6)}),
    "k": st.lists(st.integers(2, 10**6), min_size=1, max_size=2, unique=True),
    "hops": st.lists(st.integers(1, 10**6), min_size=1, max_size=2, unique=True),
    "omega": KNOWN["omega"],
}


def planned(config_file):
    """The words of every command that the workflow would run."""
    plan = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    options = ["--dry-run", "--quiet=host", "--printshellcmds", "--configfile", config_file]
    done = subprocess.run([*plan, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    commands = re.findall(r"^Shell command: clusterlets (.*) > (?:\S+\.log|'.*\.log') 2>&1$", done.stdout, re.MULTILINE)
    assert len(commands) == done.stdout.count("Shell command: ") - 1, done.stdout  # the target has none
    return [shlex.split(command) for command in commands]


def taken(name, options):
    """What the options of a step say to it."""
    module, function = command_line._STEPS[name].split(":")
    step = getattr(importlib.import_module(f"clusterlets.steps.{module}"), function)
    return vars(command_line._parser(name, step).parse_args(options))


def test_what_is_accepted_is_planned_with_commands_that_say_the_same():
    def check(asked):
        config = read(asked)
        assume(config is not None)
        steps = [(name, taken(name, options)) for name, *options in planned("asked.yaml")]
        frac = config["frac"]
        numbers = {
            "sample-partitions": {"sample_size": config["sample_size"]},
            "match-pinball": {"base_seed": config["base_seed"]},
            "cluster-frac": {"max_iter": frac["max_iter"], "tol": frac["tol"], "tau": str(frac["tau"])},
        }
        for name, step in steps:
            assert {key: step[key] for key in numbers.get(name, {})} == numbers.get(name, {})
        for step in (step for name, step in steps if name == "match-centroid"):
            assert step["omega"] in config["omega"] and float(re.search(r"_omega([^/]+)/", step["output"])[1]) == step["omega"]
        for key in ("settings", "config"):
            told = [json.loads(step[key]) for _, step in steps if key in step]
            assert all(one.get("seeds", config["seeds"]) == config["seeds"] for one in told)
        assert {step["name"] for name, step in steps if name == "prepare-user-table"} <= {"people"}
        assert {step["k"] for name, step in steps if name == "extract-clusterlets"} <= set(config["k"])

    fuzz(0.15, check, configurations(**SMALL))
