"""Which runs there are, what they are called, and that their randomness is theirs alone."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from clusterlets.benchmark import variants
from clusterlets.benchmark.configuration import check_configuration, read_configuration
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
    assert len({cell.path for cell in grid}) == len(grid)
    assert sum(len(seeds_of(cell.seeds)) for cell in clusterlets + frac) == 11550


EXTENDED = read_configuration(ROOT / "workflow" / "configs" / "extended.yaml")


@pytest.mark.parametrize("variant, matchers, of_a_dataset", [
    ("pinball_cluster", {"D", "B"}, 40), ("greedy_last", {"G-D", "G-B"}, 40), ("equation_printed", {"C"}, 20),
    ("deviation_relative", {"C", "G-B", "D", "B", "G-D", "FRAC", "yardsticks"}, 110),
    ("scaling_standard", {"C", "G-B", "D", "B", "G-D", "FRAC", "yardsticks"}, 110),
])  # fmt: skip
def test_a_variant_runs_the_touched_cells_on_the_papers_seeds(variant, matchers, of_a_dataset):
    paths = variants.paths(EXTENDED, variant)
    own = [path for path in paths if path.startswith(f"results/variants/{variant}/")]
    assert len(own) == 11 * of_a_dataset and {path.split("/")[5] for path in own} == matchers
    usual = variants.paths(check_configuration(PAPER, SCHEMA), "")
    assert [path.replace(f"variants/{variant}/", "") for path in paths] == usual  # in the same order, ten seeds each
    settings = variants.settings_of(EXTENDED, variant)
    differing = {key for key in PAPER if settings[key] != EXTENDED[key]} - {"variants", "tables"}
    assert differing == set(EXTENDED["variants"][variant])


def test_a_scaled_variant_scales_every_table_and_no_other_has_tables_of_its_own():
    own = [name for name in EXTENDED["variants"] if variants.has_own_tables(EXTENDED, name)]
    assert own == ["scaling_standard"] and variants.has_own_tables(EXTENDED, "")
    scalings = {table["scaling"] for table in variants.settings_of(EXTENDED, own[0])["tables"].values()}
    assert scalings == {"standard"}
    assert variants.settings_of(EXTENDED, "greedy_last")["tables"] == EXTENDED["tables"]


def test_the_extended_grid_takes_every_finished_cell_of_the_default():
    default = variants.paths(check_configuration(PAPER, SCHEMA), "")
    assert set(default) < set(variants.paths(EXTENDED, ""))


def test_blocks_that_hold_any_of_the_papers_seeds_are_in_a_variant():
    config = {**EXTENDED, "seeds": {"count": 30, "block": 7}}
    blocks = {path.rsplit("seeds", 1)[1] for path in variants.paths(config, "greedy_last")}
    assert blocks == {"0-6.csv", "7-13.csv"}


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


def test_plain_names_are_their_own_ids_and_the_paper_s_settings():
    checked = check_configuration(PAPER, SCHEMA)
    assert list(checked["tables"]) == checked["datasets"]
    assert checked["tables"]["pima"] == {"id": "pima", "name": "pima", "colour": ["class"], "scaling": "none"}
    assert json.loads(json.dumps(checked)) == checked


def own_table(tmp_path, **settings):
    (tmp_path / "people.csv").touch()
    return {"name": "people", "path": str(tmp_path / "people.csv"), "sensitive": "city", **settings}


def test_an_id_is_no_longer_than_the_name_of_a_file_may_be(tmp_path):
    most = 100 - len("people.")
    checked = check_configuration(changed(datasets=[own_table(tmp_path, sensitive="x" * most)]), SCHEMA)
    assert checked["datasets"] == ["people." + "x" * most]
    for settings in ({"sensitive": "x" * (most + 1)}, {"sensitive": ["x" * 50] * 1 + ["y" * 50]}, {"id": "x" * 101}):
        with pytest.raises(ClusterletsError, match=r"the id '.*'\.\.\. has \d+ letters; give the entry an 'id' of 100"):
            check_configuration(changed(datasets=[own_table(tmp_path, **settings)]), SCHEMA)
    long = own_table(tmp_path, sensitive="x" * 20_000, id="short")
    assert check_configuration(changed(datasets=[long]), SCHEMA)["datasets"] == ["short"]


def test_every_colour_has_an_id_of_its_own(tmp_path):
    entries = [
        *("adult", {"name": "iris"}, {"name": "pima", "colour": "class"}),
        *({"name": "adult", "colour": "sex"}, {"name": "adult", "colour": ["sex", "race"]}),
        *({"name": "adult", "colour": ["class", "sex"]}, {"name": "iris", "scaling": "standard", "id": "iris_std"}),
        *(own_table(tmp_path), own_table(tmp_path, sensitive=["Größe, cm", "city"]), own_table(tmp_path, id="again")),
    ]
    checked = check_configuration(changed(datasets=entries), SCHEMA)
    assert checked["datasets"] == [
        *("adult", "iris", "pima", "adult.sex", "adult.sex+race", "adult.class+sex", "iris_std"),
        *("people.city", "people.Gr__e__cm+city", "again"),
    ]
    paths = [cell.path for cell in cells(checked)]
    assert len(set(paths)) == len(paths) == len(entries) * 110
    assert not any(character in path for path in paths for character in ",=: ")
    assert [checked["tables"][name]["scaling"] for name in ("iris_std", "adult")] == ["standard", "none"]


def test_an_entry_s_scaling_goes_before_that_of_all():
    entries = ["iris", {"name": "wine", "scaling": "none"}]
    checked = check_configuration(changed(scaling="standard", datasets=entries), SCHEMA)
    assert [table["scaling"] for table in checked["tables"].values()] == ["standard", "none"]


@pytest.mark.parametrize("exclude, left", [
    ("adult", ["iris"]), ("adult.sex", ["adult", "iris"]), (["iris", "adult.sex"], ["adult"]),
])  # fmt: skip
def test_names_exclude_all_colours_and_ids_one(exclude, left):
    entries = ["adult", {"name": "adult", "colour": "sex"}, "iris"]
    assert check_configuration(changed(datasets=entries, exclude=exclude), SCHEMA)["datasets"] == left


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
    "a variant of nothing": ({"variants": {"same": {"scaling": "none"}}}, ["variants.same.scaling: it is none already"]),
    "a variant's setting": ({"variants": {"few": {"k": [2]}}}, ["variants.few.k: unknown key"]),
    "a variant's value": ({"variants": {"a": {"equation": "mine"}}}, ["variants.a.equation: 'mine' is not one of"]),
    "a variant's name": ({"variants": {"a/b": {"equation": "printed"}}}, ["'a/b' does not match", "paths hold"]),
    "block": ({"seeds": {"count": 10, "block": 0}}, ["seeds.block: 0 is less than the minimum of 1"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_said_in_plain_words(fault):
    change, said = FAULTS[fault]
    with pytest.raises(ClusterletsError) as caught:
        check_configuration(changed(**change), SCHEMA)
    assert all(words in str(caught.value) for words in said), str(caught.value)


FAULTY_ENTRIES = {
    "unknown key": ({"name": "adult", "color": "sex"}, "datasets.0.color: unknown key (did you mean 'colour'?)"),
    "no name": ({"path": "x.csv"}, "datasets.0: 'name' is a required property"),
    "a number": (3, "datasets.0: 3 is not of type 'string', 'object'"),
    "unknown dataset": ({"name": "adlut"}, "there is no 'adlut' (did you mean 'adult'?)"),
    "a name alone that is no dataset": ({"name": "people"}, "a table of your own needs a 'path'"),
    "unknown colour": ({"name": "adult", "colour": "rase"}, "adult has no colour 'rase' (did you mean 'race'?)"),
    "a colour twice": ({"name": "adult", "colour": ["sex", "sex"]}, "datasets.0.colour: ['sex', 'sex'] has non-unique"),
    "unknown scaling": ({"name": "adult", "scaling": "log"}, "datasets.0.scaling: 'log' is not one of"),
    "the same entry": ({"name": "iris", "scaling": "standard"}, "two entries go by 'iris'"),
    "no such file": ({"name": "people", "path": "no.csv", "sensitive": "a"}, "people: there is no file no.csv"),
    "a name that is taken": ({"name": "adult", "path": "x.csv", "sensitive": "a"}, "'adult' is a dataset of the bench"),
    "an id that is taken": ({"name": "adult", "colour": "sex", "id": "adult"}, "the id 'adult' stands for a dataset"),
    "another's id": ({"name": "adult", "id": "pima"}, "the id 'pima' stands for a dataset"),
    "an id for a path": ({"name": "adult", "id": "../adult"}, "datasets.0.id: '../adult' does not match"),
    "no sensitive column": ({"name": "people", "path": "x.csv"}, "people: 'sensitive' is missing"),
    "sensitive without a path": ({"name": "iris", "sensitive": "a"}, "iris: 'sensitive' is for tables of your own"),
    "a colour of one's own": (
        {"name": "people", "path": "x.csv", "sensitive": "a", "colour": "b"},
        "people: 'colour' is for the benchmark's datasets; your own have 'sensitive'",
    ),
    "sensitive and a feature": (
        {"name": "people", "path": "x.csv", "sensitive": "a", "features": ["b", "a"]},
        "people: 'a' cannot be sensitive and a feature too",
    ),
    "features of a word": (
        {"name": "people", "path": "x.csv", "sensitive": "a", "features": "all"},
        "numeric (every numeric or boolean column that is not sensitive), or a list",
    ),
    "a long separator": (
        {"name": "people", "path": "x.csv", "sensitive": "a", "separator": ", "},
        "datasets.0.separator: ', ' is too long",
    ),
}


@pytest.mark.parametrize("fault", FAULTY_ENTRIES)
def test_faults_of_an_entry_are_said_in_plain_words(fault):
    entry, said = FAULTY_ENTRIES[fault]
    with pytest.raises(ClusterletsError) as caught:
        check_configuration(changed(datasets=[entry, "iris"]), SCHEMA)
    assert said in str(caught.value)


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
