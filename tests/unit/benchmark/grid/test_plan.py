"""The plan of a run says from which files each file is made, for wildcards as Snakemake passes them."""

import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from clusterlets.benchmark.grid import paths, variants
from clusterlets.benchmark.grid.cells import cells
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.plan import Plan, results_settings
from clusterlets.errors import ClusterletsError
from clusterlets.parameter_text import configuration

ROOT = Path(__file__).resolve().parents[4]
PAPER = Plan(read_configuration())
FIELD = Plan(read_configuration(ROOT / "workflow" / "configs" / "field.yaml"))
EXTENDED = Plan(read_configuration(ROOT / "workflow" / "configs" / "extended.yaml"))
SCALED_FOLDER = "results/variants/scaling_standard"
RELATIVE_FOLDER = "results/variants/deviation_relative"


@functools.cache
def compiled_pattern(pattern, plan):
    """The regular expression that Snakemake builds from a pattern: each wildcard becomes a group with its constraint."""
    constraints = plan.wildcard_constraints()
    texts_and_wildcards = re.split(r"\{(\w+)\}", pattern)
    expression = re.escape(texts_and_wildcards[0])
    for wildcard, text in zip(texts_and_wildcards[1::2], texts_and_wildcards[2::2], strict=True):
        expression += f"(?P<{wildcard}>{constraints[wildcard]}){re.escape(text)}"
    return re.compile(expression)


def wildcards_of(path, pattern, plan):
    """The wildcards that Snakemake would find in a path, or None if the path does not match."""
    match = compiled_pattern(pattern, plan).fullmatch(path)
    return match and SimpleNamespace(**match.groupdict())


def cell_wildcards(path, plan=PAPER):
    return wildcards_of(path, paths.CELL, plan)


@pytest.mark.parametrize("plan", [PAPER, EXTENDED], ids=["paper", "extended"])
def test_every_cell_is_found_by_its_path_in_every_folder(plan):
    for cell in cells(plan.config):
        for folder in plan.variant_folders:
            wildcards = cell_wildcards(f"{folder}/{cell.path}", plan)
            assert wildcards.cells_of == folder and plan.cell(wildcards) == cell
            assert json.loads(plan.cell_parameters(wildcards)) == cell.parameters


def test_every_fit_is_found_by_its_path():
    for cell in cells(FIELD.config):
        if cell.method not in FIELD.matchers:
            files = paths.fitted_pieces(cell, "results/field")
            for file, parameters in zip(files, cell.configurations, strict=True):
                wildcards = wildcards_of(file, paths.fit_path("pieces"), FIELD)
                assert wildcards.parameters == configuration(parameters)
                assert json.loads(FIELD.fit_parameters(wildcards)) == parameters
            assert len(set(files)) == len(files)


def test_a_fit_outside_the_grid_is_refused():
    for parameters in ("", "_tau0.03", "_tau0.020"):
        path = f"results/field/pieces/pima/FRAC/k5{parameters}/seeds0-3.npz"
        with pytest.raises(ClusterletsError, match=f"FRAC with k5{parameters} is not in the configured grid. Add"):
            FIELD.fit_parameters(wildcards_of(path, paths.fit_path("pieces"), FIELD))
    unnamed = wildcards_of("results/pieces/pima/vfc/k5/seeds0-9.npz", paths.fit_path("pieces"), PAPER)
    for parameter in (PAPER.method_entry, PAPER.fit_parameters):
        with pytest.raises(ClusterletsError, match="vfc/k5/seeds0-9.csv is not in the configured grid. Add"):
            parameter(unnamed)


@pytest.mark.parametrize(
    "path",
    [
        "results/runs/pima/FRAC/k7/seeds0-9.csv",
        "results/runs/pima/FRAC/k5/seeds0-4.csv",
        "results/runs/pima/FRAC-OE/k5/seeds0-9.csv",
        "results/runs/pima/C/k5/seeds0-19.csv",
        "results/runs/wine/C/k5/seeds0-9.csv",
    ],
)
def test_a_path_outside_the_grid_is_refused_and_the_message_says_what_to_add(path):
    with pytest.raises(ClusterletsError, match="is not in the configured grid. Add its dataset, method, k"):
        PAPER.score_inputs(cell_wildcards(path))


@pytest.mark.parametrize(
    ("path", "inputs"),
    [
        (
            "results/runs/pima/D/k5/seeds0-9.csv",
            {
                "geometry": "results/geometry/pima.json",
                "data": "results/prepared/pima.npz",
                **{kind: f"results/{kind}/pima/clusterlets/k5/seeds0-9.npz" for kind in ("pieces", "labels", "distances")},
            },
        ),
        (
            "results/runs/pima/FRAC/k5/seeds0-9.csv",
            {"geometry": "results/geometry/pima.json", "pieces": ["results/pieces/pima/FRAC/k5/seeds0-9.npz"]},
        ),
        (
            f"{SCALED_FOLDER}/runs/pima/FRAC/k5/seeds0-9.csv",
            {
                "geometry": f"{SCALED_FOLDER}/geometry/pima.json",
                "pieces": [f"{SCALED_FOLDER}/pieces/pima/FRAC/k5/seeds0-9.npz"],
            },
        ),
        (
            f"{RELATIVE_FOLDER}/runs/pima/FRAC/k5/seeds0-9.csv",
            {"geometry": "results/geometry/pima.json", "pieces": ["results/pieces/pima/FRAC/k5/seeds0-9.npz"]},
        ),
    ],
)
def test_a_cell_is_scored_from_files_of_its_own_folder_or_of_the_main_grid(path, inputs):
    assert EXTENDED.score_inputs(cell_wildcards(path, EXTENDED)) == inputs


def test_exactly_one_pattern_matches_each_input_of_a_cell():
    patterns = [paths.GEOMETRY, paths.prepared_path("npz"), paths.prepared_path("json")]
    patterns += [path_of(kind) for path_of in (paths.batch_path, paths.fit_path) for kind in ("pieces", "labels")]
    patterns += [paths.batch_path(kind) for kind in ("distances", "partitions")]
    files = set()
    for cell in cells(EXTENDED.config):
        inputs = EXTENDED.score_inputs(cell_wildcards(f"{SCALED_FOLDER}/{cell.path}", EXTENDED))
        files.update(*([value] if isinstance(value, str) else value for value in inputs.values()))
    for file in files:
        assert sum(wildcards_of(file, pattern, EXTENDED) is not None for pattern in patterns) == 1, file


def test_a_variant_folder_collects_its_own_cells_and_all_others_from_the_main_grid():
    for folder, name in EXTENDED.variant_folders.items():
        assert EXTENDED.run_files(SimpleNamespace(cells_of=folder)) == list(variants.cells_by_path(EXTENDED.config, name))


def test_a_variant_folder_has_the_deviation_of_its_variant():
    relative, scaled = (EXTENDED.deviation(SimpleNamespace(cells_of=folder)) for folder in (RELATIVE_FOLDER, SCALED_FOLDER))
    assert relative == "relative" and scaled != "relative"


def test_a_variant_changes_only_the_parameters_of_the_affected_methods():
    folder = "results/variants/greedy_last"
    (varied,) = json.loads(EXTENDED.shared_settings(SimpleNamespace(cells_of=folder, method="G-B"))).values()
    (default,) = json.loads(EXTENDED.shared_settings(SimpleNamespace(cells_of="results", method="G-B"))).values()
    assert varied != default
    assert EXTENDED.shared_settings(SimpleNamespace(cells_of=folder, method="FRAC")) == "{}"


def test_a_table_has_the_scaling_of_its_folder():
    scaling = EXTENDED.table_setting("scaling")
    assert scaling(SimpleNamespace(tables_of=SCALED_FOLDER, dataset="pima")) == "standard"
    assert scaling(SimpleNamespace(tables_of="results", dataset="pima")) == "none"


def test_a_dataset_that_is_not_configured_is_refused():
    with pytest.raises(ClusterletsError, match="wine is not configured. Add it to 'datasets'"):
        EXTENDED.table_settings(SimpleNamespace(tables_of="results", dataset="wine"))


def test_a_users_table_is_identified_by_its_content_and_read_as_the_configuration_says(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age,city\n1,a\n2,b\n")
    settings_path = tmp_path / "settings.yaml"
    reading = {"separator": ";", "decimal": ",", "thousands": ".", "encoding": "cp1252", "missing": "drop"}
    reading["missing_group"] = "group"
    entry = {"name": "people", "path": str(table), "sensitive": "city", **reading}
    settings_path.write_text(json.dumps({"datasets": ["iris", entry]}))
    plan = Plan(read_configuration(settings_path))
    people = SimpleNamespace(tables_of="results", dataset="people.city")
    assert plan.user_tables == ["people.city"] and re.fullmatch(plan.user_tables_constraint(), "people.city")
    assert re.fullmatch("[0-9a-f]{64}", plan.user_table_hash(people))
    settings = {"sensitive": ["city"], "features": "numeric", "scaling": "none", "sheet": None, **reading}
    assert json.loads(plan.user_table_settings(people)) == settings
    assert not re.fullmatch(PAPER.user_tables_constraint(), "")


def test_the_mirror_and_the_order_of_settings_change_no_results():
    assert results_settings({"k": [2], "hops": [1], "mirror": "/somewhere"}) == results_settings({"hops": [1], "k": [2]})


def test_an_exclusion_without_effect_is_dropped_from_the_settings(tmp_path):
    (tmp_path / "settings.yaml").write_text("exclude: nbfi\ndatasets: [iris]\n")
    assert read_configuration(tmp_path / "settings.yaml")["exclude"] == []
    (tmp_path / "settings.yaml").write_text("exclude: nbfi\n")
    assert read_configuration(tmp_path / "settings.yaml")["exclude"] == ["nbfi"]


def test_starts_may_depend_on_the_dataset_and_k():
    starts = FIELD.config["method_settings"]["fair-flow"]["starts"]
    for dataset in ("magic", "breast"):
        for index, k in enumerate(FIELD.config["k"]):
            wildcards = SimpleNamespace(method="fair-flow", dataset=dataset, k=str(k))
            assert FIELD.starts(wildcards) == starts[dataset][index]
    assert starts["magic"] != starts["breast"] and FIELD.starts(SimpleNamespace(method="k-means")) == 1
