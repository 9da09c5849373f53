"""Reported against reproduced numbers: which values are compared, which are counted, and which are not comparable."""

from datetime import date

import pandas as pd
import pytest
from synthetic_runs import compared_runs, some_runs, synthetic_runs

from clusterlets.benchmark.paper import comparison, reported


@pytest.fixture(scope="module")
def compared_cells():
    return compared_runs(synthetic_runs())


def cell(compared_cells: pd.DataFrame, table: str, row: str, quantity: str) -> pd.Series:
    """The cell of the table whose name begins with ``table``."""
    rows = compared_cells[compared_cells["table"].str.startswith(table) & (compared_cells["row"] == row)]
    (match,) = rows[rows["quantity"] == quantity].to_dict("records")
    return pd.Series(match)


def is_selected_by(compared_cells: pd.DataFrame, entry: dict) -> pd.Series:
    """For each compared cell, whether this entry of ``explanations.yaml`` or ``not_comparable.yaml`` applies to it."""
    required = {column: values if isinstance(values, list) else [values] for column, values in entry["cells"].items()}
    return compared_cells[list(required)].isin(required).all(axis=1)


def test_every_printed_number_has_one_row(compared_cells):
    key_columns = (["matcher"], ["dataset"], ["dataset"], ["dataset", "method"], ["coefficient", "x", "y"])
    printed_tables = [reported.table(name).drop(columns=key) for name, key in zip(reported.TABLES, key_columns, strict=True)]
    n_printed = sum(int(table.count().sum()) for table in printed_tables)
    # Cohesion is also compared as the silhouette: 6 numbers of table 5, and 2 of table 1.
    is_silhouette = (compared_cells["row"] + compared_cells["quantity"]).str.contains("centroid_silhouette")
    assert (~is_silhouette).sum() == n_printed and is_silhouette.sum() == 6 + 2
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
    assert deviation["difference"] == pytest.approx(0.0001)
    assert cell(compared_cells, "table2", "pima", "k")["verdict"] != "reproduced"
    assert cell(compared_cells, "table3", "pima", "matcher")["verdict"] != "differs"
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
    assert not compared_cells[(compared_cells["row"] + compared_cells["quantity"]).str.contains("silhouette")]["counted"].any()


def test_the_papers_cohesion_of_c_is_also_read_as_the_silhouette(compared_cells):
    printed = cell(compared_cells, "table1", "C", "cohesion")["reported"]
    as_silhouette = cell(compared_cells, "table1", "C", "centroid_silhouette")
    assert (printed, as_silhouette["reported"]) == (".836", ".836")
    assert float(as_silhouette["reproduced"]) == pytest.approx(synthetic_runs()["centroid_silhouette"].mean())


def test_a_missing_dataset_is_given_as_the_reason(compared_cells):
    missing = cell(compared_cells, "table2", "nbfi", "deviation_mean")
    assert (missing["verdict"], missing["reason"]) == ("not comparable", "Dataset nbfi is not among the runs.")
    average = cell(compared_cells, "table1", "C", "cohesion")
    assert average["verdict"] != "not comparable"
    assert average["reason"].startswith(
        "Our number is over 10 of the paper's 11 datasets, without nbfi. To agree, the value on nbfi would have to be"
    )


@pytest.mark.parametrize(("n_datasets", "is_comparable"), [(1, False), (5, False), (6, True)])
def test_averages_are_compared_only_on_more_than_half_of_the_papers_datasets(n_datasets, is_comparable):
    compared_cells = compared_runs(synthetic_runs((*reported.datasets()[:n_datasets], "iris", "wine"), seeds=2, ks=(5, 10)))
    averages = compared_cells[compared_cells["table"].isin(["table1_matchers", "table5_correlations"])]
    averages = averages[~averages["matcher"].isin(["B-PB", "G-D-PB"])]
    assert set(averages["verdict"] != "not comparable") == {is_comparable}
    if is_comparable:
        reason = f"Our number is over {n_datasets} of"
    else:
        reason = f"Only {n_datasets} of the paper's 11 datasets {'is' if n_datasets == 1 else 'are'} among the runs. Averages"
    assert averages["reason"].str.contains(reason, regex=False).all()
    assert (comparison.closer_reading(compared_cells) is not None) == is_comparable
    assert cell(compared_cells, "table2", "adult", "deviation_mean")["verdict"] != "not comparable"


def test_missing_runs_are_given_as_the_reason():
    runs = synthetic_runs(seeds=1, ks=(5,))
    compared_cells = compared_runs(runs.query("not method.str.startswith('FRAC') and matcher != 'C'"))
    for table, row in (("table4", "pima FRAC"), ("table1", "C")):
        assert cell(compared_cells, table, row, "cohesion")["reason"].startswith("No run of ours gives this value.")
        assert cell(compared_cells, table, row, "cohesion")["verdict"] == "not comparable"


def test_datasets_that_are_not_in_the_paper_change_nothing(compared_cells):
    with_iris = compared_runs(pd.concat([synthetic_runs(), synthetic_runs(("iris",))], ignore_index=True))
    pd.testing.assert_frame_equal(with_iris, compared_cells)


def test_without_the_papers_datasets_nothing_is_comparable():
    compared_cells = compared_runs(synthetic_runs(("iris", "wine"), seeds=1, ks=(2,)))
    assert set(compared_cells["verdict"]) == {"not comparable"}
    assert comparison.closer_reading(compared_cells) is None


@pytest.mark.parametrize("entry", reported.explanations(), ids=lambda entry: "-".join(map(str, entry["cells"].values())))
def test_every_explanation_matches_cells_and_is_given_only_where_they_differ(compared_cells, entry):
    assert (is_selected_by(compared_cells, entry) & compared_cells["counted"]).any()
    explained = compared_cells["reason"].str.contains(entry["explanation"], regex=False)
    assert set(compared_cells.loc[explained, "verdict"]) <= {"differs"}


def test_an_explanation_changes_no_verdict(monkeypatch, compared_cells):
    monkeypatch.setattr(reported, "explanations", lambda: ())
    assert compared_runs(synthetic_runs())["verdict"].tolist() == compared_cells["verdict"].tolist()


def test_every_entry_of_not_comparable_matches_cells_and_gives_a_reason(compared_cells):
    for entry in reported.not_comparable():
        assert set(entry) - {"of_code"} == {"cells", "date", "reason"} and entry["date"] >= date(2026, 11, 21)  # first commit
        assert is_selected_by(compared_cells, entry).any()
        cells_with_runs = compared_cells[is_selected_by(compared_cells, entry) & (compared_cells["dataset"] != "nbfi")]
        assert (cells_with_runs["verdict"] == "not comparable").all()
    assert cell(compared_cells, "table4", "adult FRAC", "cohesion")["reason"].startswith("0.680 is below")
    assert cell(compared_cells, "table2", "heloc", "cohesion")["verdict"] != "not comparable"


def test_the_counts_of_verdicts_add_up(compared_cells):
    counts = comparison.counts(compared_cells).set_index("table")
    assert list(counts.index) == [*reported.TABLES, "all"]
    assert (counts[list(comparison.VERDICTS)].sum(axis=1) == counts["counted"]).all()
    assert counts.loc["all", ["counted", "only_shown"]].sum() == len(compared_cells)
    assert counts.loc["table1_matchers", ["counted", "only_shown"]].tolist() == [44, 8]


def test_with_one_seed_all_verdicts_are_undecided_and_say_why():
    compared_cells = compared_runs(synthetic_runs(seeds=1, ks=(5, 10)))
    judged = comparison.counted_cells(compared_cells)
    assert set(judged["verdict"]) == {"undecided"} and judged["tail"].isna().all()
    assert judged["reason"].str.startswith("How much our number varies between seeds").all()


def test_the_closer_reading_of_cohesion_has_the_smaller_mean_difference():
    rows = [("pearson cohesion omega", 0.3), ("pearson centroid_silhouette omega", -0.1), ("pearson omega deviation", 0.0)]
    compared_cells = pd.DataFrame(rows, columns=["row", "difference"]).assign(table="table5_correlations", verdict="differs")
    assert comparison.closer_reading(compared_cells) == ("centroid_silhouette", pytest.approx(0.1))
