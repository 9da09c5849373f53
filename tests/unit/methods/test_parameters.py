"""Every way to call a method checks its declared parameters, and gives the same message."""

import copy
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml
from modules import loaded_by
from named_estimators import NAMED

from clusterlets import methods
from clusterlets.benchmark.grid.configuration import check_configuration
from clusterlets.commands import cluster
from clusterlets.errors import ClusterletsError
from clusterlets.estimators import ClusterletClustering, InvalidInput, MethodClustering
from clusterlets.methods import PARTS, RATIO, SHARES, Choice, Integer, Parameter, Real
from clusterlets.parameter_text import as_text
from clusterlets.parameters import SIZE

ROOT = Path(__file__).resolve().parents[3]
PAPER = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
METHODS_AND_PARAMETERS = [(name, parameter) for name in methods.names() for parameter in methods.get(name).parameters]


def wrong_values(parameter):
    """Values that the parameter does not allow: just outside its range, or of another type."""
    values = [None, True, "no such value"]
    if isinstance(parameter, Real):
        values += [parameter.least - 1, parameter.most + 1, *([parameter.least] if parameter.above else [])]
    if isinstance(parameter, Integer):
        values += [parameter.least + 0.5]
    if isinstance(parameter, Choice):
        values += [1, parameter.choices[0].upper()]
    return [value for value in values if value not in parameter.also or value is True]  # True equals 1, which may be allowed


@pytest.mark.parametrize(("name", "parameter"), METHODS_AND_PARAMETERS)
def test_a_wrong_value_is_refused_with_the_same_message_everywhere(name, parameter, tmp_path):
    method = methods.get(name)
    table = tmp_path / "t.csv"
    table.write_text("x,g\n" + "".join(f"{row},{'ab'[row % 2]}\n" for row in range(12)))
    X, groups = np.arange(12.0)[:, None], np.arange(12) % 2
    for value in wrong_values(method.parameters[parameter]):
        message = method.parameters[parameter].fault(parameter, value)
        assert message.startswith(f"{parameter}: {value!r}; it must be ")
        assert method().faults(4, **{parameter: value}) == [message]
        estimators = [MethodClustering(name, 4, parameters={parameter: value})]
        if name in NAMED:
            estimators.append(NAMED[name](4, **{parameter: value}))
        if method.is_matcher and value is not None:  # None stands for the matcher's default
            estimators.append(ClusterletClustering(4, matcher=name, **{parameter: value}))
        for estimator in estimators:
            with pytest.raises(InvalidInput) as error:
                estimator.fit(X, sensitive_features=groups)
            assert message in str(error.value)
        config = {**copy.deepcopy(PAPER), "methods": [{"name": name, "parameters": {parameter: [value]}}]}
        with pytest.raises(ClusterletsError) as error:
            check_configuration(config, ROOT / "workflow" / "schemas" / "config.schema.yaml")
        assert message in str(error.value)
        arguments = [str(table), "--sensitive", "g", "-k", "4", "--method", name]
        arguments += ["--clusterlets", "4"] if methods.get(name).is_matcher else []
        with pytest.raises(ClusterletsError) as error:
            cluster.main([*arguments, "--parameters", f"{parameter}={as_text(value)}"])
        assert message in str(error.value)


@pytest.mark.parametrize(("name", "parameter"), METHODS_AND_PARAMETERS)
def test_defaults_grids_ladders_and_special_values_are_allowed(name, parameter):
    method, declared = methods.get(name), methods.get(name).parameters[parameter]
    assert type(declared) is not Parameter, "every parameter of a built-in method needs a type such as Real or Choice"
    for value in (declared.default, *declared.grid, *declared.ladder, *declared.also):
        assert declared.fault(parameter, value) == "" and method().faults(4, **{parameter: value}) == []
    if isinstance(declared, Real) and not declared.above and parameter != "tau":  # tau is also limited to 1 / n_clusters
        assert declared.fault(parameter, declared.least) == declared.fault(parameter, declared.most) == ""


def test_only_parameters_with_a_default_grid_trade_fairness():
    for name, parameter in METHODS_AND_PARAMETERS:
        declared = methods.get(name).parameters[parameter]
        assert declared.grid or not declared.trades_fairness


def test_every_parameter_is_an_option_of_the_command(capsys):
    for name in methods.names():
        with pytest.raises(SystemExit):
            cluster.main(["--method", name, "--help"])
        help_text = " ".join(capsys.readouterr().out.split())
        options = [f"--{parameter.replace('_', '-')} VALUE" for parameter in methods.get(name).parameters]
        assert [option for option in options if option not in help_text] == []
        others = [parameter for parameter in methods.get(name).parameters.values() if not parameter.bound]
        assert (f"other parameters of {name} " in help_text) == bool(others)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--method", "D", "--clusterlets", "5", "--hops", "1.5"], "hops: 1.5; it must be a whole number"),
        (["--method", "C", "--omega", "0.2_5"], "omega: '0.2_5'; it must be a number from 0 to 1"),
        (["--method", "fair-flow", "--delta", "0.1", "--parameters", "delta=0.2"], "both set delta"),
    ],
)
def test_options_are_checked_before_any_file_is_read(option, message):
    with pytest.raises(ClusterletsError) as error:
        cluster.main(["no such table.csv", "--sensitive", "g", *option])
    assert message in str(error.value)


def test_each_kind_of_parameter_says_what_it_allows():
    assert Real(0, 0.5, also=[None, "auto"]).allowed == "a number from 0 to 0.5 or null or auto"
    assert Real(0, 1, above=True).fault("x", 0) == "x: 0; it must be a number above 0, at most 1"
    assert Integer(1, 10_000).allowed == "a whole number from 1 to 10,000"
    assert Choice(("a", "b")).fault("x", "c") == "x: 'c'; it must be a or b"
    assert Parameter().fault("x", object()) == ""


def test_missed_rows_equal_those_counted_by_hand():
    composition, counts = np.array([[3, 1], [1, 3]]), np.array([4, 4])
    assert [SHARES.missed_rows(delta, composition, counts) for delta in (0.0, 0.3, 0.5)] == [1, 1, 0]
    assert [PARTS.missed_rows(tau, composition, counts) for tau in (0.25, 0.5, 1.0, [0.25, 0.5])] == [0, 1, 3, 1]
    assert [RATIO.missed_rows(balance, composition, counts) for balance in (1 / 3, 1.0)] == [0, 1]


@pytest.mark.parametrize(
    ("tau", "value"), [(0.1, 0.1), ("balanced", Fraction(1, 4)), ("0.9x", Fraction(9, 40)), ("1x", Fraction(1, 4))]
)
def test_tau_may_be_a_number_or_a_multiple_of_one_over_the_number_of_clusters(tau, value):
    assert PARTS.resolve(tau, 4) == value


def test_listing_the_parameters_loads_no_numba():
    code = "from clusterlets import methods; [methods.get(name).parameters for name in methods.names()]"
    assert not {"numba", "sklearn", "pandas"} & loaded_by(code)


@pytest.mark.parametrize(
    ("bound", "value", "composition", "excess"),
    [
        # Of 9, 6 and 8 rows: 7 * 9/23 * 0.8 rows of the first group are the least in the first cluster, which has 1.
        (SHARES, 0.2, [[1, 2, 4], [5, 3, 2], [3, 1, 2]], 7 * 9 / 23 * 0.8 - 1),
        # 8 * 9/23 / 0.8 rows of the first group are the most in the first cluster, which has 6.
        (SHARES, 0.2, [[6, 1, 1], [3, 5, 7]], 6 - 8 * 9 / 23 / 0.8),
        (SHARES, 0.7, [[5, 0, 0], [4, 6, 8]], 5 * 8 / 23 * 0.3),  # no cluster may have more than all of one group
        (PARTS, 0.2, [[1, 2, 4], [5, 3, 2], [3, 1, 2]], 0.2 * 9 - 1),
        (SIZE, 9, [[1, 2, 4], [5, 3, 2], [3, 1, 2]], 3),
        (RATIO, 0.5, [[1, 4], [5, 3]], 5 / 3 - 1),
    ],
)
def test_the_rows_by_which_the_worst_cluster_misses_a_bound_are_those_worked_out_by_hand(bound, value, composition, excess):
    composition = np.array(composition)
    assert bound.excess(value, composition, composition.sum(axis=0)) == pytest.approx(excess)
    assert bound.missed_rows(value, composition, composition.sum(axis=0)) == math.ceil(excess)
