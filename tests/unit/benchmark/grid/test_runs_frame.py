"""Runs that are written and read again keep their values and types."""

import numpy as np
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.grid import runs_frame
from clusterlets.benchmark.grid.runs_columns import COLUMNS


def test_runs_that_are_written_and_read_again_keep_values_and_types(tmp_path):
    runs = synthetic_runs(("iris",), seeds=2, ks=(2, 5))
    runs.loc[0, "vfc_error"] = np.inf
    runs.to_csv(tmp_path / "runs.csv", index=False)
    restored = runs_frame.read_runs(tmp_path / "runs.csv")
    assert tuple(restored.columns) == tuple(runs.columns) == COLUMNS
    assert (restored["deviation_mean"] == runs["deviation_mean"]).all()
    assert np.isinf(restored["vfc_error"][0]) and restored["note"].isna().all()
    assert restored["hops"].dtype == float and restored["dataset"].dtype == object
    assert restored["parameters"].fillna("").tolist() == runs["parameters"].fillna("").tolist()
