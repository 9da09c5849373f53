"""The cells of a grid, their names and random streams, and the checks of a configuration."""

import copy
import itertools
import json
import re
import string
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clusterlets import methods
from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid import variants
from clusterlets.benchmark.grid.cells import (
    EXTRACTION,
    PARTITIONS,
    cells,
    number_of_configurations,
    random_stream,
    seed_batches,
    seeds_of,
)
from clusterlets.benchmark.grid.configuration import (
    SOURCES,
    check_configuration,
    read_config_options,
    read_configuration,
)
from clusterlets.errors import ClusterletsError
from clusterlets.parameter_text import as_text, configuration, format_parameters, parse_parameters, parse_value

ROOT = Path(__file__).resolve().parents[4]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
PAPER = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
PAPER_GRID = check_configuration(PAPER, SCHEMA)
EXTENDED = read_configuration(ROOT / "workflow" / "configs" / "extended.yaml")


def check(**values):
    """Check the paper's configuration with these values replaced."""
    return check_configuration({**copy.deepcopy(PAPER), **values}, SCHEMA)


def test_the_papers_grid_has_the_papers_number_of_configurations_and_runs():
    grid = list(cells(PAPER_GRID))
    matcher_cells = [cell for cell in grid if cell.method in ("C", "G-B", "D", "B", "G-D")]
    frac_cells = [cell for cell in grid if cell.method == "FRAC"]
    assert len(matcher_cells) == 275 and len(frac_cells) == 55
    assert len({cell.path for cell in grid}) == len(grid)
    assert sum(len(cell.configurations) for cell in matcher_cells) == 1100
    assert sum(len(cell.configurations) * len(seeds_of(cell.seeds)) for cell in matcher_cells + frac_cells) == 11550


@pytest.mark.parametrize(
    "variant, methods_affected, cells_per_dataset",
    [
        ("pinball_cluster", {"D", "B"}, 10),
        ("greedy_last", {"G-D", "G-B"}, 10),
        ("equation_printed", {"C"}, 5),
        ("deviation_relative", {"C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"}, 40),
        ("scaling_standard", {"C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"}, 40),
    ],
)
def test_a_variant_runs_the_affected_cells_on_the_papers_seeds(variant, methods_affected, cells_per_dataset):
    paths = list(variants.cells_by_path(EXTENDED, variant))
    own_paths = [path for path in paths if path.startswith(f"results/variants/{variant}/")]
    assert len(own_paths) == 11 * cells_per_dataset and {path.split("/")[5] for path in own_paths} == methods_affected
    default_paths = [path for path in variants.cells_by_path(PAPER_GRID, "") if path.split("/")[3] in EXTENDED["methods"]]
    assert [path.replace(f"variants/{variant}/", "") for path in paths] == default_paths


@pytest.mark.parametrize("variant", EXTENDED["variants"])
def test_a_variant_changes_only_its_own_settings(variant):
    settings = variants.settings_of(EXTENDED, variant)
    changed = {key for key in PAPER if settings[key] != EXTENDED[key]} - {"variants", "tables"}  # settings_of replaces these
    assert changed == set(EXTENDED["variants"][variant])


def test_only_a_variant_that_changes_the_scaling_prepares_its_own_tables():
    with_own_tables = [name for name in EXTENDED["variants"] if variants.has_own_tables(EXTENDED, name)]
    assert with_own_tables == ["scaling_standard"] and variants.has_own_tables(EXTENDED, "")
    scalings = {table["scaling"] for table in variants.settings_of(EXTENDED, with_own_tables[0])["tables"].values()}
    assert scalings == {"standard"}
    assert variants.settings_of(EXTENDED, "greedy_last")["tables"] == EXTENDED["tables"]


@pytest.mark.parametrize("name", ["as_published", "extended", "smoke"])
def test_the_other_configurations_run_only_the_papers_methods_and_the_controls(name):
    grids = read_configuration(ROOT / "workflow" / "configs" / f"{name}.yaml")["method_settings"]
    methods_run = {method for grid in grids.values() for method in selection.paper_names(pd.Series(grid["names"]))}
    assert methods_run == set(selection.WITH_MATCHERS)


def test_a_variant_runs_every_batch_that_contains_a_seed_of_the_paper():
    config = {**EXTENDED, "seeds": {"count": 30, "batch": 7}}
    batches = {path.rsplit("seeds", 1)[1] for path in variants.cells_by_path(config, "greedy_last")}
    assert batches == {"0-6.csv", "7-13.csv"}  # the paper's seeds are 0 to 9
    batches_of_code = {path.rsplit("seeds", 1)[1] for path in variants.cells_by_path(config, "as_published")}
    assert len(batches_of_code) == 5  # all seeds, because the paper is compared with the published code as with the text


def test_the_variant_of_the_published_code_is_recognised_by_its_settings():
    assert variants.of_published_code(EXTENDED) == "as_published"
    code = dict(variants.OF_PUBLISHED_CODE)
    assert variants.of_published_code({"variants": {"a": code, "b": code | {"deviation": "first_group"}}}) == "b"
    assert variants.of_published_code({"variants": {"a": code}}) == "a"
    assert variants.of_published_code({"variants": {"a": {"pinball_scope": "published"}}}) == ""


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())
PARAMETERS = st.dictionaries(st.sampled_from(["omega", "hops", "a", "a2", "a_b", "b"]), VALUES)


@given(PARAMETERS)
def test_a_configurations_name_is_unambiguous_and_safe_in_paths_shells_and_columns(parameters):
    name, column = configuration(parameters), format_parameters(parameters)
    assert re.fullmatch("[A-Za-z0-9_%.+-]*", name) and re.fullmatch("[A-Za-z0-9_%.+,=-]*", column)
    parsed = parse_parameters(column)
    assert parsed == parameters
    assert [isinstance(value, bool) for value in parsed.values()] == [isinstance(value, bool) for value in parameters.values()]


@given(st.lists(st.sampled_from(["p", "p2", "p_2"]), unique=True, min_size=1), st.data())
def test_different_configurations_of_a_method_have_different_names(parameters, data):
    values = st.fixed_dictionaries(dict.fromkeys(parameters, VALUES))
    first, second = data.draw(values), data.draw(values)
    assert (configuration(first) == configuration(second)) == (format_parameters(first) == format_parameters(second))


def test_seeds_are_split_into_batches_and_the_last_may_be_smaller():
    assert seed_batches(10, 10) == ["0-9"]
    assert seed_batches(30, 10) == ["0-9", "10-19", "20-29"]
    assert seed_batches(3, 1) == ["0-0", "1-1", "2-2"]
    assert seed_batches(5, 4) == ["0-3", "4-4"]
    assert list(seeds_of("10-12")) == [10, 11, 12]


def test_a_random_stream_depends_on_each_of_its_parts_and_on_nothing_else():
    base = (0, "pima", 5, 3, EXTRACTION)
    different = [(1, *base[1:]), (0, "bank", *base[2:]), (0, "pima", 10, 3, EXTRACTION), (0, "pima", 5, 4, EXTRACTION)]
    other_steps = {PARTITIONS, *(methods.get(name).stream_number() for name in methods.names())}
    different += [(*base[:4], step) for step in other_steps]
    draws = [random_stream(*parts).integers(2**63) for parts in [base, *different]]
    assert len(set(draws)) == len(draws)
    assert random_stream(*base).integers(2**63) == draws[0]


def test_random_streams_never_change():
    # A different number, hash or bit generator would silently change every result.
    assert random_stream(0, "credit", 5, 0, EXTRACTION).integers(2**32, size=2).tolist() == [764375616, 2367990136]
    assert (EXTRACTION, PARTITIONS) == (0, 1)
    stream_numbers = {name: methods.get(name).stream_number() for name in methods.names()}
    declared_numbers = dict.fromkeys(("B", "C", "D", "G-B", "G-D"), 2) | {"FRAC": 3, "FRAC-OE": 3, "k-means": 4, "random": 5}
    hashed_names = {"coreset": 1211071705, "fair-lp": 1248757585, "vfc": 1210134835}
    assert stream_numbers.items() >= (declared_numbers | hashed_names).items()


def test_a_dataset_given_only_by_name_has_that_id_and_the_papers_settings():
    assert list(PAPER_GRID["tables"]) == PAPER_GRID["datasets"]
    defaults = {"sensitive": ["class"], "duplicates": "keep", "scaling": "none"}
    assert PAPER_GRID["tables"]["pima"] == {"id": "pima", "name": "pima", **defaults}
    assert PAPER_GRID["tables"]["breast"] == {"id": "breast", "name": "breast", **defaults, "duplicates": "drop"}
    assert json.loads(json.dumps(PAPER_GRID)) == PAPER_GRID


def user_table(tmp_path, **settings):
    (tmp_path / "people.csv").touch()
    return {"name": "people", "path": str(tmp_path / "people.csv"), "sensitive": "city", **settings}


def test_an_id_has_at_most_100_characters(tmp_path):
    longest = "x" * (100 - len("people."))
    assert check(datasets=[user_table(tmp_path, sensitive=longest)])["datasets"] == [f"people.{longest}"]
    assert check(datasets=[user_table(tmp_path, sensitive=longest + "x", id="short")])["datasets"] == ["short"]
    with pytest.raises(ClusterletsError, match=r"the id '.*'\.\.\. has 101 characters; give the entry an 'id' of at most 100"):
        check(datasets=[user_table(tmp_path, sensitive=longest + "x")])


def test_entries_for_different_tables_have_different_ids(tmp_path):
    entries = [
        "adult",
        {"name": "iris"},
        {"name": "pima", "sensitive": "class"},
        {"name": "adult", "sensitive": "sex"},
        {"name": "adult", "sensitive": ["sex", "race"]},
        {"name": "adult", "sensitive": ["class", "sex"]},
        {"name": "iris", "scaling": "standard", "id": "iris_std"},
        user_table(tmp_path),
        user_table(tmp_path, sensitive=["Größe, cm", "city"]),
        user_table(tmp_path, id="again"),
    ]
    checked = check(datasets=entries)
    ids = "adult iris pima adult.sex adult.sex+race adult.class+sex iris_std people.city people.Gr__e__cm+city again"
    assert checked["datasets"] == ids.split()
    paths = [cell.path for cell in cells(checked)]
    assert len(set(paths)) == len(paths) == len(entries) * len(list(cells({**PAPER_GRID, "datasets": ["adult"]})))
    assert not any(character in path for path in paths for character in ",=: ")
    assert [checked["tables"][name]["scaling"] for name in ("iris_std", "adult")] == ["standard", "none"]


@pytest.mark.parametrize(
    "exclude, remaining",
    [
        ("adult", ["iris"]),
        ("adult.sex", ["adult", "iris"]),
        (["iris", "adult.sex"], ["adult"]),
        ("iris, adult.sex", ["adult"]),
        *((empty, ["adult", "adult.sex", "iris"]) for empty in ("", None, " , ", [])),
    ],
)
def test_a_name_excludes_all_tables_of_a_dataset_and_an_id_only_one(exclude, remaining):
    entries = ["adult", {"name": "adult", "sensitive": "sex"}, "iris"]
    assert check(datasets=entries, exclude=exclude)["datasets"] == remaining


def test_whole_numbers_are_integers_however_yaml_writes_them():
    values = yaml.safe_load("{sample_size: 2.0e+4, k: [2.0, 5], hops: [1.0], omega: [0.0, 1.0, 0.5], base_seed: 3.0}")
    values |= {"seeds": {"count": 4.0, "batch": 2.0}, "budget": {"seconds": 60.0, "memory_mb": 1.0e3}}
    values["methods"] = ["C", {"name": "FRAC", "parameters": {"tau": [0.0], "max_iter": [7.0], "tol": [1.0]}}]
    checked = check(**values)
    integers = {"sample_size": 20000, "k": [2, 5], "hops": [1], "omega": [0, 1, 0.5], "base_seed": 3}
    integers |= {"seeds": {"count": 4, "batch": 2}, "budget": {"seconds": 60, "memory_mb": 1000}}
    integers["methods"] = ["C", {"name": "FRAC", "parameters": {"tau": [0], "max_iter": [7], "tol": [1]}}]
    assert json.dumps(checked) == json.dumps(check(**integers))
    names = {configuration(parameters) for cell in cells(checked) for parameters in cell.configurations}
    assert {"_omega0", "_tau0_max_iter7_tol1"} <= names


def test_a_tau_of_one_kth_is_accepted_for_every_k():
    for k in range(2, 200):
        entry = {"name": "FRAC", "parameters": {"tau": [1 / k, "balanced"]}}
        assert check(k=[k], methods=[entry])["method_settings"]["FRAC"]["parameters"] == {"tau": [1 / k, "balanced"]}


NUMERIC_KEYS = "base_seed sample_size k.0 hops.0 omega.0 seeds.count seeds.batch".split()
NUMERIC_KEYS += [f"budget.{name}" for name in PAPER["budget"]]
BAD_NUMBERS = [".nan", ".inf", "-.inf", "-1", "1.0e+300", "true", "'2'", "[]"]
FRACTIONAL_KEYS = {"budget.seconds", "budget.memory_mb"}  # may have any number above 0


def replacement(key, value):
    """Settings in which ``key``, such as base_seed, seeds.count or k.0, has the value."""
    setting, _, part = key.partition(".")
    if part == "":
        return {setting: value}
    if part == "0":
        return {setting: [value]}
    return {setting: PAPER[setting] | {part: value}}


@pytest.mark.parametrize(
    ("key", "value"),
    [*itertools.product(NUMERIC_KEYS, BAD_NUMBERS), *((key, "1.5") for key in NUMERIC_KEYS if key not in FRACTIONAL_KEYS)],
)
def test_a_bad_number_is_refused_in_a_line_that_gives_the_range(key, value):
    value = yaml.safe_load(value)
    with pytest.raises(ClusterletsError) as caught:
        check(**replacement(key, value))
    for line in str(caught.value).split("\n")[1:]:
        assert line.startswith(f"  - {key}: ") and repr(value) in line
        assert re.search(r"\b[01]\b|at least 2", line.partition(repr(value))[2]), line


@pytest.mark.parametrize("name", ["FRAC", "frac", "G-B", "Clusterlets", "clusterlets"])
def test_a_users_method_cannot_have_a_name_that_the_benchmark_uses(name, tmp_path):
    command = {"name": name, "command": "cp {table} {labels}"}
    file = tmp_path / "mine.py"
    file.write_text(f"from clusterlets.methods import Method\nclass Mine(Method):\n    name = {name!r}\n")
    for entry in (command, {"path": str(file)}):
        with pytest.raises(ClusterletsError, match=f"the benchmark already uses the name '{name}'; choose another"):
            check(methods=["random", entry])


@pytest.mark.parametrize("text", ["a: 2020-13-45", "[" * 5000, "k: [", "k: \ud800", "9" * 5000, "k: &a [2, *a]"])
def test_invalid_yaml_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "a.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ClusterletsError) as caught:
        read_configuration(tmp_path / "a.yaml")
    assert "\n" not in str(caught.value)


def test_a_grid_that_is_too_large_to_plan_is_refused():
    assert number_of_configurations(PAPER_GRID) == sum(len(cell.configurations) for cell in cells(PAPER_GRID))
    # 5 k, 45,000 batches of seeds, 4 configurations of C and 1 of random
    too_large = {"methods": ["C", "random"], "seeds": {"count": 45000, "batch": 1}}
    with pytest.raises(ClusterletsError, match="1,125,000 configurations .*, more than 1,000,000; use larger batches"):
        check(datasets=["iris"], k=[2, 3, 4, 5, 6], **too_large)


CHARACTERS = [*string.punctuation, *" \t\n\r\0\x7f\x85\u2028\ud800", *"aZ5éß漢\u0301"]


@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
@pytest.mark.parametrize("name", ["{}", "{}results", "res{}ults", "results{}"])
def test_a_results_folder_has_no_characters_that_shells_or_schedulers_interpret(character, name):
    results = name.format(character)
    if (character.isalnum() or character in "_.+-@/\u0301") and results not in ("-", "-results", ".", "/"):
        assert check(results=results)["results"] == results.rstrip("/")
    else:
        with pytest.raises(ClusterletsError) as caught:
            check(results=results)
        _, line = str(caught.value).split("\n")
        assert line.startswith("  - results: ")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git checkout")
def test_every_committed_folder_is_refused_as_a_place_for_results():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {file.split("/")[0] for file in files if "/" in file} <= {*SOURCES, "results"}


def test_results_never_lie_among_other_files(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(ROOT)
    refused = ["..", "../..", "/", ".git", "data", "data/raw/mine", ".snakemake/mine", "a_file/mine", "link/docs/mine"]
    (tmp_path / "a_file").write_text("")
    monkeypatch.chdir(tmp_path)
    for results in [*refused, str(ROOT), *(f"{ROOT}/{folder}" for folder in SOURCES), f"{ROOT}/docs/mine", f"{ROOT}/README.md"]:
        with pytest.raises(ClusterletsError, match="used:\n  - results: .*name a folder"):
            check(results=results)
    for results in ("results", "docs", ".results", f"{ROOT}/results/mine", f"{ROOT}/mine"):
        assert check(results=results)["results"] == results


@pytest.mark.parametrize("results", ["a/", "./a", "a//", "b/../a", "a/."])
def test_the_path_of_the_results_is_normalised(results):
    assert check(results=results)["results"] == "a"


FAULTS = {
    "unknown key": ({"hopps": [1]}, "hopps: unknown key (did you mean 'hops'?)"),
    "the former name of a key": ({"limits": PAPER["budget"]}, "limits: unknown key (it is called 'budget' now)"),
    "the former name of a size": (
        {"seeds": {"count": 2, "block": 2}},
        "seeds.block: unknown key (it is called 'batch' now)",
    ),
    "unknown key inside": ({"budget": {**PAPER["budget"], "secs": 1}}, "budget.secs: unknown key (did you mean 'seconds'?)"),
    "unknown method": ({"methods": ["C", "GB"]}, "There is no method 'GB' (did you mean 'G-B'?)"),
    "unknown name to exclude": ({"exclude": "nbfl"}, "exclude: there is no 'nbfl' (did you mean 'nbfi'?)"),
    "an omega twice": ({"omega": [0, 0.0]}, "omega: [0, 0] has non-unique elements"),
    "tau above 1/k": (
        {"k": [2, 30], "methods": [{"name": "FRAC", "parameters": {"tau": ["balanced", 0.1]}}]},
        "methods: FRAC: tau: 0.1; with 30 clusters it must be a number from 0 to 1/30, or balanced",
    ),
    "a parameter out of range": (
        {"methods": [{"name": "G-B", "parameters": {"hops": [10**7]}}]},
        "methods: G-B: hops: 10000000; it must be a whole number from 1",
    ),
    "the working directory": ({"results": "a/.."}, "results: it is the working directory itself; name a folder below"),
    "no dataset left": ({"datasets": ["nbfi"], "exclude": "nbfi"}, "every dataset is excluded"),
    "an unchanged variant": ({"variants": {"same": {"scaling": "none"}}}, "variants.same.scaling: it is already none"),
    "a variant with an unknown setting": ({"variants": {"few": {"k": [2]}}}, "variants.few.k: unknown key"),
    **{
        f"a variant called {name!r}": ({"variants": {name: {"equation": "printed"}}}, "- variants: ")
        for name in ("a/b", "a\n", 3, None, "a" * 101)
    },
    **{f"the mirror {mirror!a}": ({"mirror": mirror}, "no control character") for mirror in ("a\0b", "http://x/\n", "\ud800")},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_in_plain_words(fault):
    change, phrase = FAULTS[fault]
    with pytest.raises(ClusterletsError, match=re.escape(phrase)):
        check(**change)


def test_all_faults_are_reported_together():
    with pytest.raises(ClusterletsError, match=r"(?s)hopps.*k\.0|k\.0.*hopps"):
        check(k=[1], hopps=3)


def test_a_missing_key_is_named():
    with pytest.raises(ClusterletsError, match="'sample_size' is a required property"):
        check_configuration({key: value for key, value in PAPER.items() if key != "sample_size"}, SCHEMA)


PEOPLE = {"name": "people", "path": "x.csv", "sensitive": "a"}
FAULTY_ENTRIES = {
    "unknown key": ({"name": "adult", "color": "sex"}, "datasets.0.color: unknown key"),
    "no name": ({"path": "x.csv"}, "datasets.0: 'name' is a required property"),
    "unknown dataset": ({"name": "adlut"}, "there is no 'adlut' (did you mean 'adult'?)"),
    "only a name, of an unknown dataset": ({"name": "people"}, "a table of your own needs a 'path'"),
    "unknown group": ({"name": "adult", "sensitive": "rase"}, "adult has no sensitive column 'rase' (did you mean 'race'?)"),
    "a group twice": ({"name": "adult", "sensitive": ["sex", "sex"]}, "datasets.0.sensitive: ['sex', 'sex'] has non-unique"),
    "two entries with one name": ({"name": "iris", "scaling": "standard"}, "two entries have the name 'iris'"),
    "no such file": (PEOPLE, "people: there is no file x.csv"),
    "a name that is taken": ({**PEOPLE, "name": "adult"}, "'adult' is a dataset of the bench"),
    "an id that is taken": ({"name": "adult", "sensitive": "sex", "id": "adult"}, "the id 'adult' belongs to a dataset"),
    "another's id": ({"name": "adult", "id": "pima"}, "the id 'pima' belongs to a dataset"),
    "an id for a path": ({"name": "adult", "id": "../adult"}, "datasets.0.id: '../adult' does not match"),
    "no sensitive column": ({"name": "people", "path": "x.csv"}, "people: 'sensitive' is missing"),
    "features without a path": ({"name": "iris", "features": ["a"]}, "iris: 'features' is for tables of your own"),
    "sensitive and a feature": ({**PEOPLE, "features": ["b", "a"]}, "people: 'a' cannot be both sensitive and a feature"),
    "a word as features": (
        {**PEOPLE, "features": "all"},
        "numeric (every numeric or boolean column that is not sensitive)",
    ),
    "a line break in a name": ({"name": "iris\n"}, "- datasets.0.name: "),
    "a line break in an id": ({"name": "iris", "id": "mine\n"}, "- datasets.0.id: "),
    "a path with a lone surrogate": ({**PEOPLE, "path": "a\ud800.csv"}, "- datasets.0.path: "),
}


@pytest.mark.parametrize("fault", FAULTY_ENTRIES)
def test_a_fault_of_a_dataset_entry_is_reported_in_plain_words(fault):
    entry, phrase = FAULTY_ENTRIES[fault]
    with pytest.raises(ClusterletsError, match=re.escape(phrase)):
        check(datasets=[entry, "iris"])


def test_the_default_configuration_and_the_schema_have_the_same_keys():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(PAPER) == set(schema["required"])
    assert all("description" in value for value in schema["properties"].values())
    for inner in ("seeds", "budget"):
        assert set(schema["properties"][inner]["properties"]) == set(PAPER[inner])


def test_values_of_command_lines_are_numbers_truth_values_or_text():
    values = {"10": 10, "-0": 0, "+3": 3, "20.": 20, ".25": 0.25, "1e5": 100000, "1.5E-3": 0.0015, "010": 10, "true": True}
    values |= {
        "~": None,
        "'010'": "010",
        '"a"': "a",
        **{text: text for text in ("plain", "a-b", "1e", "1_0", "0x10", "no", "nan", "１")},
    }
    for text, value in values.items():
        (parsed,) = parse_parameters(f"x={text}").values()
        assert (parsed, type(parsed)) == (value, type(value))
        assert parse_parameters(f"x={as_text(parsed)}") == {"x": value}
    for text in ("inf", "1e400", "9" * 301):
        with pytest.raises(ClusterletsError, match="is not a finite number|at most 300 digits"):
            parse_parameters(f"x={text}")


@pytest.mark.parametrize("name", methods.names())
def test_the_values_of_default_grids_stay_the_same_when_written_and_parsed(name):
    for values in methods.get(name).grid().values():
        assert [str(value) for value in values] == [str(parse_value(as_text(value))) for value in values]


def test_inputs_among_the_results_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "people.csv").write_text("age,sex\n1,f\n2,m\n")
    table = {"name": "people", "path": "results/../results/people.csv", "sensitive": "sex"}
    with pytest.raises(ClusterletsError, match=r"datasets: results/../results/people.csv is in the folder of results"):
        check(datasets=[table])
    (tmp_path / "results" / "weights.csv").write_text("1\n")
    method = {"name": "mine", "command": "mine {table} {labels}", "files": ["results/weights.csv"]}
    with pytest.raises(ClusterletsError, match="methods: results/weights.csv is in the folder of results"):
        check(methods=[method])


def test_numbers_in_a_json_configuration_are_read_as_json(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"methods": [{"name": "fairkm", "parameters": {"penalty": [1e-05, 1E2]}}]}')
    assert read_configuration(path)["method_settings"]["fairkm"]["parameters"] == {"penalty": [1e-5, 100]}


def test_a_parameter_given_twice_is_refused_and_spaces_are_ignored():
    assert parse_parameters(" delta = 0.1 , n_init=2,") == {"delta": 0.1, "n_init": 2}
    with pytest.raises(ClusterletsError, match="'delta' is given twice"):
        parse_parameters("delta=0.1,n_init=2,delta=0.2")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("seed: 1\nk: [2]\nseed: 2\n", "line 1: "),
        ('{\n\t"seed": 1,\n\t"seed": 2}', ""),
        ("k:\n- {a: 1,\n b: 2,\n a: 3}\n", "line 2: "),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, text, where):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ClusterletsError, match=f"mine.yaml: {where}the key '(seed|a)' stands twice in one mapping"):
        read_configuration(tmp_path / "mine.yaml")


@pytest.mark.parametrize("pair", ["[*{0}, *{0}]", "{{a: *{0}, b: *{0}}}"])
def test_aliases_that_expand_beyond_all_memory_are_refused(tmp_path, pair):
    lines = [f"x{level}: &x{level} {pair.format(f'x{level - 1}')}\n" for level in range(1, 60)]
    (tmp_path / "mine.yaml").write_text("x0: &x0 [1]\n" + "".join(lines))
    with pytest.raises(ClusterletsError, match=r"mine.yaml: line 2: the alias \*x0 is not supported; write its value out"):
        read_configuration(tmp_path / "mine.yaml")


def test_values_of_config_options_are_read_as_in_a_file():
    """Snakemake gives the elements of lists and mappings as text."""
    given = {"hops": ["2"], "omega": ["0.5"], "seeds": {"count": "3", "base": 1}, "k": ["3"], "name": "people", "other": ["2"]}
    arguments = ["hops=[2]", "omega=[0.5]", "seeds={count: 3}", "k=[3]", "name=people"]
    expected = {"hops": [2], "omega": [0.5], "seeds": {"count": 3, "base": 1}, "k": [3], "name": "people", "other": ["2"]}
    assert read_config_options(given, arguments) == expected


def test_starts_that_depend_on_the_case_need_a_number_for_each_dataset_and_k():
    grid = {"datasets": ["iris", "wine"], "k": [3, 5], "starts": 4, "variants": {}}
    starts = {"iris": [3, 2], "wine": [1, 1]}
    settings = check(**grid, methods=[{"name": "fair-flow", "starts": starts}, "random"])["method_settings"]
    assert settings["fair-flow"]["starts"] == starts and settings["random"]["starts"] == 4
    assert "n_init" not in settings["fair-flow"]["parameters"]
    for incomplete in ({"iris": [3, 2]}, {"iris": [3, 2], "wine": [1]}):
        with pytest.raises(ClusterletsError, match="methods: FRAC: starts: wine needs 2 numbers, one for each k"):
            check(**grid, methods=[{"name": "FRAC", "starts": incomplete}])
