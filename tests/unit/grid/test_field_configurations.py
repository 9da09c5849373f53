"""The configurations of the field, field.yaml and field-demo.yaml: their methods, datasets and cost."""

from pathlib import Path

import pytest

from clusterlets import methods
from clusterlets.datasets import describe
from clusterlets.grid import estimate
from clusterlets.grid.cells import combinations
from clusterlets.grid.configuration import read_configuration

ROOT = Path(__file__).resolve().parents[3]
FIELD, DEMO = (ROOT / "workflow/configs" / name for name in ("field.yaml", "field-demo.yaml"))
BUNDLED = {"breast_cancer", "wine", "iris", "digits"}
# Number of instances in each group, for tables with more than two groups.
GROUP_COUNTS = {
    "adult.race": [470, 1519, 4685, 406, 41762],
    "adult.sex+race": [185, 285, 517, 1002, 2308, 2377, 155, 251, 13027, 28735],
    "bank.marital": [5207, 27214, 12790],
    "compas.race": [2169, 27, 1638, 424, 10, 266],
}


def cost_of(config):
    costs = []
    for name, table in config["tables"].items():
        description = describe(table["name"])
        counts = GROUP_COUNTS.get(name, [description["rows"] // 2] * 2)
        costs.append(estimate.dataset_cost(description["rows"], description["features"], counts, config))
    return estimate.total_cost(costs)


@pytest.mark.parametrize(("path", "max_configurations"), [(FIELD, 4), (DEMO, 2)])
def test_a_method_has_few_configurations_and_a_single_one_only_without_a_ladder(path, max_configurations):
    config = read_configuration(path)
    assert set(config["methods"]) == set(methods.names())
    n_configurations = {name: len(list(combinations(grid["parameters"]))) for name, grid in config["grids"].items()}
    assert max(n_configurations.values()) == max_configurations
    for name, number in n_configurations.items():
        assert (number == 1) == (not methods.get(name).ladder()), name
    assert {tuple(config["limits"].values()), config["scaling"]} == {(60, 4000), "standard"}


def test_every_run_has_a_single_start():
    grids = read_configuration(FIELD)["grids"]
    starts = {name: grid["starts"] * grid["parameters"].get("n_init", [1])[0] for name, grid in grids.items()}
    assert set(starts.values()) == {1}
    assert all("n_init" in grids[name]["parameters"] for name in grids if "n_init" in methods.get(name).parameters)


def test_every_ladder_has_at_most_eight_values_and_the_method_allows_them():
    for method in map(methods.get, methods.names()):
        for name, values in method.ladder().items():
            assert 1 < len(values) <= 8 and not any(method.parameters[name].fault(name, value) for value in values)


def test_the_field_has_ten_datasets_by_class_and_six_by_other_groups():
    config = read_configuration(FIELD)
    by_class = {name for name, table in config["tables"].items() if table["sensitive"] == ["class"]}
    assert by_class == set(read_configuration()["datasets"]) - {"nbfi"} and len(by_class) == 10
    by_other_groups = {"adult.sex", "adult.race", "adult.sex+race", "bank.marital", "compas.race", "heart_failure.sex"}
    assert set(config["datasets"]) - by_class == by_other_groups
    assert config["k"] == [5, 10, 20] and config["seeds"] == {"count": 4, "block": 4}
    assert {table["scaling"] for table in config["tables"].values()} == {"standard"}


def test_the_field_takes_about_an_hour_and_the_demo_two_minutes_on_two_cores():
    assert cost_of(read_configuration(FIELD)).seconds / 2 < 65 * 60
    demo = read_configuration(DEMO)
    assert set(demo["datasets"]) <= BUNDLED and cost_of(demo).seconds / 2 < 120


def config_of_method(name):
    """The configuration of the field with this method alone."""
    config = read_configuration(FIELD)
    return {**config, "methods": [name], "grids": {name: config["grids"][name]}}


def test_no_time_for_fits_is_estimated_if_the_method_does_not_support_the_table():
    config = config_of_method("fairlets")
    supported, unsupported = (estimate.rule_costs(20_000, 5, config, n_groups)["fit_method"] for n_groups in (2, 3))
    (n_jobs, seconds), (n_jobs_unsupported, seconds_unsupported) = supported[:2], unsupported[:2]
    assert n_jobs == n_jobs_unsupported == 3
    # 12 fits: three k and four seeds
    assert seconds_unsupported < 3 < 12 * methods.get("fairlets")().seconds(20_000, 5, 5) < seconds
    assert estimate.rule_costs(60_000, 5, config)["fit_method"] == unsupported


def test_the_estimate_for_a_fit_is_at_most_its_time_limit():
    config = config_of_method("vfc")
    without_limit = {**config, "limits": {**config["limits"], "seconds": None}}
    bounded, unbounded = (estimate.rule_costs(10**7, 5, variant)["fit_method"][1] for variant in (config, without_limit))
    # Four weights and four seeds for each of three k make 48 fits, each of which is limited to 60 s.
    seconds_of_fits = 16 * sum(methods.get("vfc")().seconds(10**7, 5, k) for k in config["k"])
    assert unbounded - bounded == pytest.approx(seconds_of_fits - 48 * 60)
