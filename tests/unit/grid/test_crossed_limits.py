"""Cells that exceeded a limit rerun once under other limits; no other cell does."""

from pathlib import Path

import pytest

from clusterlets.grid.crossed_limits import exceeded_limits, record

OLD, NEW = '{"seconds": 1}', '{"seconds": 9}'


@pytest.fixture
def cell(tmp_path):
    return str(tmp_path / "seeds0-9.npz")


def run(cell, crossed, limits):
    """Run the cell as the workflow does, with the parameter that it has under these limits."""
    parameter = exceeded_limits(cell, limits)
    record(cell, crossed, limits, parameter)
    return parameter


def test_a_cell_within_its_limits_leaves_nothing_and_never_changes(cell, tmp_path):
    assert run(cell, False, OLD) == exceeded_limits(cell, OLD) == exceeded_limits(cell, NEW) == ""
    assert not list(tmp_path.iterdir())


def test_a_cell_that_crossed_a_limit_changes_only_with_the_limits(cell):
    first = run(cell, True, OLD)
    assert exceeded_limits(cell, OLD) == first
    assert exceeded_limits(cell, NEW) != first


@pytest.mark.parametrize("damage", [b"", b"\xff\x00", b"{}", None])
def test_a_cell_with_a_damaged_record_runs_again_once(cell, damage):
    run(cell, True, OLD)
    file = Path(f"{cell}.limits")
    content = file.read_bytes()
    file.write_bytes(content.replace(b"1", b"2") if damage is None else damage)
    assert exceeded_limits(cell, OLD) == OLD
    assert run(cell, False, OLD) == exceeded_limits(cell, OLD) == exceeded_limits(cell, NEW) == OLD


@pytest.mark.parametrize("crossed_again", [True, False])
def test_a_cell_that_crossed_a_limit_runs_again_once_under_new_limits(cell, crossed_again):
    run(cell, True, OLD)
    second = run(cell, crossed_again, NEW)
    assert exceeded_limits(cell, NEW) == second
    assert (exceeded_limits(cell, OLD) != second) == crossed_again
