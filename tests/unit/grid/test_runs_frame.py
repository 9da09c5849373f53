"""Runs that are written and read again keep their values and types."""

import numpy as np
from synthetic_runs import synthetic_runs

from clusterlets.grid import runs_frame
from clusterlets.grid.runs_table import COLUMNS


def test_reading_keeps_values_and_types(tmp_path):
    runs = synthetic_runs(("iris",), seeds=2, ks=(2, 5))
    runs.loc[0, "vfc_error"] = np.inf
    runs.to_csv(tmp_path / "runs.csv", index=False)
    read_back = runs_frame.read_runs(tmp_path / "runs.csv")
    assert tuple(read_back.columns) == tuple(runs.columns) == COLUMNS
    assert (read_back["deviation_mean"] == runs["deviation_mean"]).all()
    assert np.isinf(read_back["vfc_error"][0]) and read_back["note"].isna().all()
    assert read_back["hops"].dtype == float and read_back["dataset"].dtype == object
    assert read_back["parameters"].fillna("").tolist() == runs["parameters"].fillna("").tolist()
