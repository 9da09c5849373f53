"""Runs as pandas reads them, and that the synthetic ones of the tests have the documented columns."""

import re
from pathlib import Path

from synthetic_runs import synthetic_runs

from clusterlets.grid import runs_frame


def documented_columns() -> list[str]:
    text = (Path(__file__).parents[3] / "docs" / "results-format.md").read_text(encoding="utf-8")
    section = text.split("## `results/runs.csv`")[1].split("\n\n| ")[1]  # its first table
    names = re.findall(r"^\| ([a-z_, ]+) \|", section, flags=re.MULTILINE)
    return [name for cell in names if cell != "column" for name in cell.split(", ")]


def test_the_synthetic_runs_have_the_documented_columns():
    assert list(synthetic_runs(("iris",), seeds=1, ks=(2,)).columns) == documented_columns()


def test_reading_keeps_values_and_types(tmp_path):
    runs = synthetic_runs(("iris",), seeds=2, ks=(2, 5))
    runs.to_csv(tmp_path / "runs.csv", index=False)
    read = runs_frame.read_runs(tmp_path / "runs.csv")
    assert list(read.columns) == list(runs.columns)
    assert (read["deviation_mean"] == runs["deviation_mean"]).all()
    assert read["hops"].dtype == float and read["dataset"].dtype == object and read["note"].isna().all()
    assert read["parameters"].fillna("").tolist() == runs["parameters"].fillna("").tolist()
