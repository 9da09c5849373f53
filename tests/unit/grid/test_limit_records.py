"""A cell that exceeded a limit runs once more when the limits change. Other cells do not."""

from pathlib import Path

import pytest

from clusterlets.grid.limit_records import record, rerun_parameter

OLD_LIMITS, NEW_LIMITS = '{"seconds": 1}', '{"seconds": 9}'


@pytest.fixture
def cell(tmp_path):
    return str(tmp_path / "seeds0-9.npz")


def run(cell, exceeded, limits):
    """Do what the workflow does for a cell: get its parameter, and after the run record whether it exceeded a limit."""
    parameter = rerun_parameter(cell, limits)
    record(cell, exceeded, limits, parameter)
    return parameter


def test_a_cell_within_its_limits_has_no_record_and_never_runs_again(cell, tmp_path):
    assert run(cell, False, OLD_LIMITS) == ""
    assert rerun_parameter(cell, OLD_LIMITS) == ""
    assert rerun_parameter(cell, NEW_LIMITS) == ""
    assert not list(tmp_path.iterdir())


def test_a_cell_that_exceeded_a_limit_runs_again_only_if_the_limits_change(cell):
    first_parameter = run(cell, True, OLD_LIMITS)
    assert rerun_parameter(cell, OLD_LIMITS) == first_parameter
    assert rerun_parameter(cell, NEW_LIMITS) != first_parameter


@pytest.mark.parametrize("damage", [b"", b"\xff\x00", b"{}", None])  # None: edited, so its checksum is wrong
def test_a_cell_with_a_damaged_record_runs_again_once(cell, damage):
    run(cell, True, OLD_LIMITS)
    record_path = Path(f"{cell}.limits")
    changed_content = record_path.read_bytes().replace(b"1", b"2")
    record_path.write_bytes(changed_content if damage is None else damage)
    assert rerun_parameter(cell, OLD_LIMITS) == OLD_LIMITS
    assert run(cell, False, OLD_LIMITS) == OLD_LIMITS
    assert rerun_parameter(cell, OLD_LIMITS) == OLD_LIMITS
    assert rerun_parameter(cell, NEW_LIMITS) == OLD_LIMITS


@pytest.mark.parametrize("exceeded_again", [True, False])
def test_a_cell_that_exceeded_a_limit_runs_again_once_under_new_limits(cell, exceeded_again):
    run(cell, True, OLD_LIMITS)
    second_parameter = run(cell, exceeded_again, NEW_LIMITS)
    assert rerun_parameter(cell, NEW_LIMITS) == second_parameter
    assert rerun_parameter(cell, OLD_LIMITS) == (OLD_LIMITS if exceeded_again else NEW_LIMITS)
