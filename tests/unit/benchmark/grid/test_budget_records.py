"""A cell that exceeded its budget runs once more when the budget changes. Other cells do not."""

from pathlib import Path

import pytest

from clusterlets.benchmark.grid.budget_records import record, rerun_parameter

OLD_BUDGET, NEW_BUDGET = '{"seconds": 1}', '{"seconds": 9}'


@pytest.fixture
def cell(tmp_path):
    return str(tmp_path / "seeds0-9.npz")


def run(cell, exceeded, budget):
    """Do what the workflow does for a cell: get its parameter, and after the run record whether it exceeded its budget."""
    parameter = rerun_parameter(cell, budget)
    record(cell, exceeded, budget, parameter)
    return parameter


def test_a_cell_within_its_budget_has_no_record_and_never_runs_again(cell, tmp_path):
    assert run(cell, False, OLD_BUDGET) == ""
    assert rerun_parameter(cell, OLD_BUDGET) == ""
    assert rerun_parameter(cell, NEW_BUDGET) == ""
    assert not list(tmp_path.iterdir())


def test_a_cell_that_exceeded_its_budget_runs_again_only_if_the_budget_changes(cell):
    first_parameter = run(cell, True, OLD_BUDGET)
    assert rerun_parameter(cell, OLD_BUDGET) == first_parameter
    assert rerun_parameter(cell, NEW_BUDGET) != first_parameter


@pytest.mark.parametrize("damage", [b"", b"\xff\x00", b"{}", None])  # None: edited, so its checksum is wrong
def test_a_cell_with_a_damaged_record_runs_again_once(cell, damage):
    run(cell, True, OLD_BUDGET)
    record_path = Path(f"{cell}.budget")
    changed_content = record_path.read_bytes().replace(b"1", b"2")
    record_path.write_bytes(changed_content if damage is None else damage)
    assert rerun_parameter(cell, OLD_BUDGET) == OLD_BUDGET
    assert run(cell, False, OLD_BUDGET) == OLD_BUDGET
    assert rerun_parameter(cell, OLD_BUDGET) == OLD_BUDGET
    assert rerun_parameter(cell, NEW_BUDGET) == OLD_BUDGET


@pytest.mark.parametrize("exceeded_again", [True, False])
def test_a_cell_that_exceeded_its_budget_runs_again_once_with_a_new_budget(cell, exceeded_again):
    run(cell, True, OLD_BUDGET)
    second_parameter = run(cell, exceeded_again, NEW_BUDGET)
    assert rerun_parameter(cell, NEW_BUDGET) == second_parameter
    assert rerun_parameter(cell, OLD_BUDGET) == (OLD_BUDGET if exceeded_again else NEW_BUDGET)
