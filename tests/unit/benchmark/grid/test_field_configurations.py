"""The configurations of the field, field.yaml and demo.yaml: their methods and datasets."""

from pathlib import Path

import pytest

from clusterlets import methods
from clusterlets.benchmark.analysis.leaderboard import MOST_RUNGS
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.parameter_text import combinations

ROOT = Path(__file__).resolve().parents[4]
FIELD, DEMO = (ROOT / "workflow/configs" / name for name in ("field.yaml", "demo.yaml"))
BUNDLED = {"breast_cancer", "wine", "iris", "digits"}


@pytest.mark.parametrize(("path", "max_configurations"), [(FIELD, 6), (DEMO, 2)])
def test_a_method_has_few_configurations_and_a_single_one_only_without_a_ladder(path, max_configurations):
    config = read_configuration(path)
    n_configurations = {name: len(list(combinations(grid["parameters"]))) for name, grid in config["method_settings"].items()}
    assert max(n_configurations.values()) == max_configurations
    for name, number in n_configurations.items():
        assert (number == 1) == (not methods.get(name).ladder()), name
    assert {tuple(config["budget"].values()), config["scaling"]} == {(60, 4000), "standard"}


def test_the_demo_of_the_field_has_the_methods_of_the_field():
    assert read_configuration(DEMO)["methods"] == read_configuration(FIELD)["methods"]


def test_the_starts_of_every_random_method_but_fair_limit_and_the_controls_are_set_for_each_case():
    config = read_configuration(FIELD)
    settings = config["method_settings"]
    rivals = {name for name, entry in settings.items() if entry["role"] == "rival"} - {"fair-limit", "fairlets"}
    assert {name for name, entry in settings.items() if isinstance(entry["starts"], dict)} == rivals
    for name in rivals:
        starts = settings[name]["starts"]
        assert list(starts) == config["datasets"] and "n_init" not in settings[name]["parameters"]
        assert all(1 <= number <= 128 for row in starts.values() for number in row)
    assert settings["fair-limit"]["parameters"]["n_init"] == [1]


def test_every_ladder_has_at_most_eight_values_and_the_method_allows_them():
    for method in map(methods.get, methods.names()):
        for name, values in method.ladder().items():
            assert 1 < len(values) <= MOST_RUNGS and not any(method.parameters[name].fault(name, value) for value in values)


def test_most_cases_of_the_field_are_attributes_of_people_and_no_table_has_more_than_a_sixth():
    config = read_configuration(FIELD)
    tables = [name.partition(".")[0] for name in config["datasets"]]
    by_class = [name for name, table in config["tables"].items() if table["sensitive"] == ["class"]]
    assert set(tables) == set(read_configuration()["datasets"]) - {"nbfi"} and 2 * len(by_class) <= len(tables)
    assert max(tables.count(table) for table in tables) <= len(tables) / 6
    assert config["seeds"] == {"count": 4, "batch": 4}
    assert {table["scaling"] for table in config["tables"].values()} == {"standard"}


def test_the_demo_of_the_field_needs_no_download():
    assert set(read_configuration(DEMO)["datasets"]) <= BUNDLED
