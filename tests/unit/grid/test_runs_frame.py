"""Runs as pandas reads them; the synthetic runs of the tests have the same columns."""

from synthetic_runs import synthetic_runs

from clusterlets.grid import runs_frame
from clusterlets.grid.runs_table import COLUMNS


def test_the_synthetic_runs_have_the_columns_of_runs():
    assert tuple(synthetic_runs(("iris",), seeds=1, ks=(2,)).columns) == COLUMNS


def test_reading_keeps_values_and_types(tmp_path):
    runs = synthetic_runs(("iris",), seeds=2, ks=(2, 5))
    runs.to_csv(tmp_path / "runs.csv", index=False)
    read = runs_frame.read_runs(tmp_path / "runs.csv")
    assert list(read.columns) == list(runs.columns)
    assert (read["deviation_mean"] == runs["deviation_mean"]).all()
    assert read["hops"].dtype == float and read["dataset"].dtype == object and read["note"].isna().all()
    assert read["parameters"].fillna("").tolist() == runs["parameters"].fillna("").tolist()
