"""The step that fits a method: no method can change the table that all are scored by."""

import json

import numpy as np
import pytest

from clusterlets.grid.artifacts import SeedBlock
from clusterlets.steps.fitting import fit_method
from clusterlets.storage import save_arrays

HALVES = """
from clusterlets.methods import Method

class Halves(Method):
    name = "halves"
    is_random = {is_random}

    def fit(self, X, groups, n_clusters, random_state):
        labels = (X[:, 0] > X[:, 0].mean()).astype(int)
        X[:], groups[:] = 0, 0
        return labels
"""


@pytest.mark.parametrize("is_random", [True, False])
def test_a_fit_cannot_change_its_table(tmp_path, is_random):
    (tmp_path / "halves.py").write_text(HALVES.format(is_random=is_random))
    arrays = {"X": np.arange(8.0)[:, None], "groups": np.arange(8) % 2, "group_names": np.array(["a", "b"])}
    save_arrays(str(tmp_path / "data.npz"), arrays)
    fit_method(
        str(tmp_path / "data.npz"),
        json.dumps({"path": str(tmp_path / "halves.py")}),
        "eight",
        2,
        "{}",
        "0-2",
        0,
        "{}",
        str(tmp_path / "pieces.npz"),
        str(tmp_path / "labels.npz"),
    )
    labels, pieces = (SeedBlock.load(str(tmp_path / f"{name}.npz")) for name in ("labels", "pieces"))
    for block in (labels, pieces):
        assert not block.values and set(block.failures) == {"0", "1", "2"}
        assert all(status == "failed" and "read-only" in note for status, note in block.failures.values())
