"""pandas reads runs unchanged, and the synthetic runs of the tests have the columns of real ones."""

import numpy as np
from synthetic_runs import synthetic_runs

from clusterlets.grid import runs_frame
from clusterlets.grid.runs_table import COLUMNS


def test_reading_keeps_values_and_types(tmp_path):
    runs = synthetic_runs(("iris",), seeds=2, ks=(2, 5))
    runs.loc[0, "vfc_error"] = np.inf
    runs.to_csv(tmp_path / "runs.csv", index=False)
    read = runs_frame.read_runs(tmp_path / "runs.csv")
    assert tuple(read.columns) == tuple(runs.columns) == COLUMNS
    assert (read["deviation_mean"] == runs["deviation_mean"]).all()
    assert np.isinf(read["vfc_error"][0]) and read["note"].isna().all()
    assert read["hops"].dtype == float and read["dataset"].dtype == object
    assert read["parameters"].fillna("").tolist() == runs["parameters"].fillna("").tolist()
