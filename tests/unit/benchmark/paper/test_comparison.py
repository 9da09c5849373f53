"""Reported against reproduced numbers: which values are compared, and which are counted."""

from pathlib import Path

import pandas as pd
import pytest
from synthetic_runs import compared_runs, some_runs, synthetic_runs

from clusterlets.benchmark.paper import comparison, reported, tables


@pytest.fixture(scope="module")
def compared_cells():
    return compared_runs(synthetic_runs())


def cell(compared_cells: pd.DataFrame, table: str, row: str, quantity: str) -> pd.Series:
    """The cell of the table whose name begins with ``table``."""
    rows = compared_cells[compared_cells["table"].str.startswith(table) & (compared_cells["row"] == row)]
    (match,) = rows[rows["quantity"] == quantity].to_dict("records")
    return pd.Series(match)


def is_selected_by(compared_cells: pd.DataFrame, entry: dict) -> pd.Series:
    """For each compared cell, whether this entry of ``explanations.yaml`` applies to it."""
    required = {column: values if isinstance(values, list) else [values] for column, values in entry["cells"].items()}
    return compared_cells[list(required)].isin(required).all(axis=1)


def test_every_printed_number_has_one_row(compared_cells):
    key_columns = (["matcher"], ["dataset"], ["dataset"], ["dataset", "method"], ["coefficient", "x", "y"])
    printed_tables = [reported.table(name).drop(columns=key) for name, key in zip(reported.TABLES, key_columns, strict=True)]
    n_printed = sum(int(table.count().sum()) for table in printed_tables)
    # In two more readings each: 6 numbers of table 5, and 2 of table 1.
    is_second_reading = compared_cells["reason"].str.contains("a second reading")
    assert (~is_second_reading).sum() == n_printed and is_second_reading.sum() == 2 * (6 + 2)
    assert not compared_cells.duplicated(["table", "row", "quantity"]).any()


def test_reproduced_values_come_from_the_runs_that_each_table_selects():
    runs = some_runs(
        {"k": 20, "deviation_mean": 0.0031},
        {"k": 20, "deviation_mean": 0.0031, "seed": 2},
        {"matcher": "D", "deviation_mean": 0.09, "cohesion": 0.95, "overlap": 0.2},
        {"method": "FRAC (nearest)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.14},
        {"method": "FRAC (fair)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.001},
    )
    compared_cells = compared_runs(runs)
    deviation = cell(compared_cells, "table2", "pima", "deviation_mean")
    assert (deviation["reported"], deviation["reproduced"]) == (".003", "0.0031")
    assert cell(compared_cells, "table2", "pima", "k")["reproduced"] == "20"
    assert cell(compared_cells, "table3", "pima", "matcher")["reproduced"] == "D-PB"
    assert cell(compared_cells, "table4", "pima FRAC", "deviation_mean")["reproduced"] == "0.14"


def test_zeros_by_definition_and_repeated_rows_are_shown_but_not_counted(compared_cells):
    assert not cell(compared_cells, "table1", "G-B", "overlap_std")["counted"]
    assert not cell(compared_cells, "table2", "pima", "overlap")["counted"]
    assert not cell(compared_cells, "table4", "pima FRAC", "overlap")["counted"]
    repeated = cell(compared_cells, "table4", "pima Clusterlets", "cohesion")
    assert not repeated["counted"] and "repeats table 2" in repeated["reason"]
    assert cell(compared_cells, "table1", "D-PB", "overlap")["counted"]
    assert cell(compared_cells, "table3", "pima", "overlap")["counted"]
    assert cell(compared_cells, "table4", "pima FRAC", "cohesion")["counted"]
    assert not compared_cells[compared_cells["row"].str.contains(" cohesion | centroid_silhouette ")]["counted"].any()
    assert compared_cells[compared_cells["row"].str.contains(" silhouette ")]["counted"].all()
    counted = compared_cells[compared_cells["counted"]]
    assert set(counted["matcher"].dropna()) == {"C", "G-B", "D-PB", "B-PB", "G-D-PB"}  # none is left out


def test_the_papers_cohesion_of_c_is_also_read_as_the_silhouette(compared_cells):
    printed = cell(compared_cells, "table1", "C", "cohesion")["reported"]
    as_silhouette = cell(compared_cells, "table1", "C", "centroid_silhouette")
    assert (printed, as_silhouette["reported"]) == (".836", ".836")
    assert float(as_silhouette["reproduced"]) == pytest.approx(synthetic_runs()["centroid_silhouette"].mean())


def test_a_missing_dataset_is_given_as_the_reason(compared_cells):
    missing = cell(compared_cells, "table2", "nbfi", "deviation_mean")
    assert (missing["inside"], missing["reason"]) == ("", "Dataset nbfi is not among the runs.")
    assert cell(compared_cells, "table1", "C", "cohesion")["inside"] != ""


@pytest.mark.parametrize(("n_datasets", "n_seeds", "is_comparable"), [(5, 2, False), (6, 12, True), (6, 2, False)])
def test_averages_are_compared_only_on_enough_of_the_papers_datasets(n_datasets, n_seeds, is_comparable):
    """Over half of them are enough for ranges of their own. The committed ranges are those of averages over ten."""
    runs = synthetic_runs((*reported.datasets()[:n_datasets], "iris"), seeds=n_seeds, ks=(5,))
    compared_cells = compared_runs(runs)
    averages = compared_cells[compared_cells["table"].isin(["table1_matchers", "table5_correlations"])]
    assert set(averages["inside"] != "") == {is_comparable}
    if not is_comparable:
        reason = "The committed ranges are" if n_datasets == 6 else f"Only {n_datasets} of the paper's 11 datasets"
        assert averages["reason"].str.startswith(reason).all()
    assert cell(compared_cells, "table2", "adult", "deviation_mean")["inside"] != ""


def test_missing_runs_are_given_as_the_reason():
    runs = synthetic_runs(seeds=1, ks=(5,))
    compared_cells = compared_runs(runs.query("not method.str.startswith('FRAC') and matcher != 'C'"))
    for table, row in (("table4", "pima FRAC"), ("table1", "C")):
        assert cell(compared_cells, table, row, "cohesion")["reason"].startswith("No run of ours gives this value.")
        assert cell(compared_cells, table, row, "cohesion")["inside"] == ""


def test_datasets_that_are_not_in_the_paper_change_nothing(compared_cells):
    with_iris = compared_runs(pd.concat([synthetic_runs(), synthetic_runs(("iris",))], ignore_index=True))
    pd.testing.assert_frame_equal(with_iris, compared_cells)


def test_without_the_papers_datasets_nothing_is_comparable():
    compared_cells = compared_runs(synthetic_runs(("iris", "wine"), seeds=1, ks=(2,)))
    assert set(compared_cells["inside"]) == {""} and set(compared_cells["inside_by_code"]) == {""}


@pytest.mark.parametrize("entry", reported.explanations(), ids=lambda entry: "-".join(map(str, entry["cells"].values())))
def test_every_explanation_matches_cells_and_is_given_only_outside(compared_cells, entry):
    assert set(entry) == {"cells", "explanation"}
    assert (is_selected_by(compared_cells, entry) & compared_cells["counted"]).any()
    explained = compared_cells["reason"].str.contains(entry["explanation"], regex=False)
    assert set(compared_cells.loc[explained, "inside"]) <= {"no"}


def test_an_explanation_moves_no_number_inside(monkeypatch, compared_cells):
    monkeypatch.setattr(reported, "explanations", lambda: ())
    assert compared_runs(synthetic_runs())["inside"].tolist() == compared_cells["inside"].tolist()


def test_the_published_codes_numbers_are_those_of_its_runs():
    runs = synthetic_runs(seeds=2, ks=(5,))
    on_paper = runs[runs["dataset"].isin(reported.datasets())]
    shifted = on_paper.assign(deviation_mean=on_paper["deviation_mean"] + 0.5 * (on_paper["matcher"] == "B"))
    compared_cells = comparison.compare(on_paper, tables.make(on_paper), shifted)
    by_text, by_code = cell(compared_cells, "table1", "B-PB", "deviation_mean")[["reproduced", "reproduced_by_code"]].astype(
        float
    )
    assert by_code == pytest.approx(by_text + 0.5)


def test_a_choice_says_how_often_the_repetitions_make_it(compared_cells):
    choice = cell(compared_cells, "table2", "pima", "k")
    assert choice["reason"].startswith(f"{100 * choice['chosen']:g} % of our repetitions choose it.")
    assert pd.isna(choice["low"]) and pd.isna(cell(compared_cells, "table2", "pima", "size")["chosen"])


def test_the_committed_ranges_have_all_columns_but_the_reasons():
    assert list(reported.ranges().columns) == comparison.COLUMNS[:-1]
    makefile = (Path(__file__).parents[4] / "Makefile").read_text(encoding="utf-8")
    assert f"cut -d, -f-{len(comparison.COLUMNS) - 1} $(RESULTS)/comparison.csv" in makefile
