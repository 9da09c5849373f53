"""Which runs there are, what they are called, and that their randomness is theirs alone."""

import copy
from pathlib import Path

import numpy as np
import pytest
import yaml

from clusterlets.benchmark.configuration import check_configuration
from clusterlets.benchmark.grid import cells, random_stream, seed_blocks, seeds_of
from clusterlets.errors import ClusterletsError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
PAPER = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def changed(**values):
    return {**copy.deepcopy(PAPER), **values}


def test_the_papers_grid_has_the_papers_number_of_configurations_and_runs():
    grid = list(cells(PAPER))
    clusterlets = [cell for cell in grid if cell.method in ("C", "G-B", "D", "B", "G-D")]
    frac = [cell for cell in grid if cell.method == "FRAC"]
    assert len(clusterlets) == 1100 and len(frac) == 55
    assert len(set(cell.path for cell in grid)) == len(grid)
    assert sum(len(seeds_of(cell.seeds)) for cell in clusterlets + frac) == 11550


def test_no_path_holds_what_snakemake_or_a_shell_would_split():
    assert not any(character in cell.path for cell in cells(PAPER) for character in ",=: ")


def test_further_seeds_are_further_blocks():
    assert seed_blocks(10, 10) == ["0-9"]
    assert seed_blocks(30, 10) == ["0-9", "10-19", "20-29"]
    assert seed_blocks(3, 1) == ["0-0", "1-1", "2-2"]
    assert seed_blocks(5, 4) == ["0-3", "4-4"]
    assert list(seeds_of("10-12")) == [10, 11, 12]


def test_streams_differ_in_every_part_and_repeat():
    base = (0, "pima", 5, 3, "extraction")
    others = [(1, *base[1:]), (0, "bank", *base[2:]), (0, "pima", 10, 3, "extraction"), (0, "pima", 5, 4, "extraction")]
    others.append((*base[:4], "frac"))
    draws = [random_stream(*parts).integers(2**63) for parts in [base, *others]]
    assert len(set(draws)) == len(draws)
    assert random_stream(*base).integers(2**63) == draws[0]


def test_streams_stay_what_they_are():
    """Renumbered steps, another hash or another bit generator would change every result without a word."""
    assert random_stream(0, "credit", 5, 0, "extraction").integers(2**32, size=2).tolist() == [764375616, 2367990136]


def test_the_papers_configuration_passes():
    assert check_configuration(PAPER, SCHEMA)["datasets"] == PAPER["datasets"]


@pytest.mark.parametrize("exclude", ["nbfi, adult", ["nbfi", "adult"]])
def test_excluded_datasets_are_left_out(exclude):
    checked = check_configuration(changed(exclude=exclude), SCHEMA)
    assert checked["exclude"] == ["nbfi", "adult"]
    assert set(PAPER["datasets"]) - set(checked["datasets"]) == {"nbfi", "adult"}


FAULTS = {
    "unknown key": ({"hopps": [1]}, ["hopps: unknown key", "did you mean 'hops'"]),
    "unknown key inside": ({"frac": {**PAPER["frac"], "taus": 1}}, ["frac.taus: unknown key", "did you mean 'tau'"]),
    "unknown matcher": ({"matchers": ["C", "GB"]}, ["there is no 'GB'", "did you mean 'G-B'"]),
    "unknown dataset": ({"datasets": ["pimma"]}, ["there is no 'pimma'", "did you mean 'pima'"]),
    "unknown exclude": ({"exclude": "nbfl"}, ["exclude: there is no 'nbfl'", "did you mean 'nbfi'"]),
    "k below 2": ({"k": [5, 1]}, ["k.1: 1 is less than the minimum of 2", "whole number of at least 2"]),
    "k of text": ({"k": ["five"]}, ["k.0: 'five' is not of type 'integer'"]),
    "no hop": ({"hops": [0]}, ["hops.0: 0 is less than the minimum of 1"]),
    "omega above 1": ({"omega": [1.5]}, ["omega.0: 1.5 is greater than the maximum of 1"]),
    "no dataset left": ({"datasets": ["nbfi"], "exclude": "nbfi"}, ["every dataset is excluded"]),
    "scope": ({"pinball_scope": "lst"}, ["pinball_scope: 'lst' is not one of"]),
    "block": ({"seeds": {"count": 10, "block": 0}}, ["seeds.block: 0 is less than the minimum of 1"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_said_in_plain_words(fault):
    change, said = FAULTS[fault]
    with pytest.raises(ClusterletsError) as caught:
        check_configuration(changed(**change), SCHEMA)
    assert all(words in str(caught.value) for words in said), str(caught.value)


def test_a_missing_key_is_named():
    config = changed()
    del config["sample_size"]
    with pytest.raises(ClusterletsError, match="'sample_size' is a required property"):
        check_configuration(config, SCHEMA)


def test_several_faults_are_all_named():
    with pytest.raises(ClusterletsError) as caught:
        check_configuration(changed(k=[1], hopps=3), SCHEMA)
    assert "hopps" in str(caught.value) and "k.0" in str(caught.value)


def test_the_comments_of_the_configuration_cover_every_key_of_the_schema():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(PAPER) == set(schema["required"])
    assert all("description" in value for value in schema["properties"].values())
    assert np.all([key in PAPER["frac"] for key in schema["properties"]["frac"]["properties"]])
