"""Reported against reproduced numbers: which values are compared, which are counted, and which are not comparable."""

from datetime import date

import pandas as pd
import pytest
from synthetic_runs import compared_runs, some_runs, synthetic_runs

from clusterlets.paper import comparison, reported


@pytest.fixture(scope="module")
def compared():
    return compared_runs(synthetic_runs())


def cell(compared: pd.DataFrame, table: str, row: str, quantity: str) -> pd.Series:
    rows = compared[compared["table"].str.startswith(table) & (compared["row"] == row)]
    (match,) = rows[rows["quantity"] == quantity].to_dict("records")
    return pd.Series(match)


def cells_of_entry(compared: pd.DataFrame, entry: dict) -> pd.Series:
    """Whether each row of the comparison is a cell that the entry names by its columns' values."""
    cells = {column: values if isinstance(values, list) else [values] for column, values in entry["cells"].items()}
    return compared[list(cells)].isin(cells).all(axis=1)


def test_every_printed_number_has_a_row(compared):
    keys = (["matcher"], ["dataset"], ["dataset"], ["dataset", "method"], ["coefficient", "x", "y"])
    printed_tables = [reported.table(name).drop(columns=key) for name, key in zip(reported.TABLES, keys, strict=True)]
    n_printed = sum(int(table.count().sum()) for table in printed_tables)
    second_reading = (compared["row"] + compared["quantity"]).str.contains("centroid_silhouette")
    assert (~second_reading).sum() == n_printed and second_reading.sum() == 6 + 2
    assert not compared.duplicated(["table", "row", "quantity"]).any()


def test_values_come_from_the_right_cells():
    runs = some_runs(
        {"k": 20, "deviation_mean": 0.0031},
        {"k": 20, "deviation_mean": 0.0031, "seed": 2},
        {"matcher": "D", "deviation_mean": 0.09, "cohesion": 0.95, "overlap": 0.2},
        {"method": "FRAC (nearest)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.14},
        {"method": "FRAC (fair)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.001},
    )
    compared = compared_runs(runs)
    deviation = cell(compared, "table2", "pima", "deviation_mean")
    assert (deviation["reported"], deviation["reproduced"]) == (".003", "0.0031")
    assert deviation["difference"] == pytest.approx(0.0001)
    assert cell(compared, "table2", "pima", "k")["verdict"] != "reproduced"
    assert cell(compared, "table3", "pima", "matcher")["verdict"] != "differs"
    assert cell(compared, "table4", "pima FRAC", "deviation_mean")["reproduced"] == "0.14"


def test_zeros_by_definition_and_repeated_rows_are_shown_but_not_counted(compared):
    assert not cell(compared, "table1", "G-B", "overlap_std")["counted"]
    assert not cell(compared, "table2", "pima", "overlap")["counted"]
    assert not cell(compared, "table4", "pima FRAC", "overlap")["counted"]
    repeated = cell(compared, "table4", "pima Clusterlets", "cohesion")
    assert not repeated["counted"] and "repeats table 2" in repeated["reason"]
    assert cell(compared, "table1", "D-PB", "overlap")["counted"]
    assert cell(compared, "table3", "pima", "overlap")["counted"]
    assert cell(compared, "table4", "pima FRAC", "cohesion")["counted"]
    assert not compared[(compared["row"] + compared["quantity"]).str.contains("silhouette")]["counted"].any()


def test_the_papers_cohesion_of_c_is_also_read_as_the_silhouette(compared):
    printed = cell(compared, "table1", "C", "cohesion")["reported"]
    as_silhouette = cell(compared, "table1", "C", "centroid_silhouette")
    assert (printed, as_silhouette["reported"]) == (".836", ".836")
    assert float(as_silhouette["reproduced"]) == pytest.approx(synthetic_runs()["centroid_silhouette"].mean())


def test_a_missing_dataset_is_given_as_the_reason(compared):
    missing = cell(compared, "table2", "nbfi", "deviation_mean")
    assert (missing["verdict"], missing["reason"]) == ("not comparable", "Dataset nbfi is not among the runs.")
    average = cell(compared, "table1", "C", "cohesion")
    assert average["verdict"] != "not comparable"
    assert average["reason"].startswith(
        "Ours is over 10 of the paper's 11 datasets, without nbfi. To agree, nbfi would have to be"
    )


@pytest.mark.parametrize(("present", "is_comparable"), [(1, False), (5, False), (6, True)])
def test_averages_need_more_than_half_of_the_papers_datasets(present, is_comparable):
    compared = compared_runs(synthetic_runs((*reported.datasets()[:present], "iris", "wine"), seeds=2, ks=(5, 10)))
    averages = compared[compared["table"].isin(["table1_matchers", "table5_correlations"])]
    averages = averages[~averages["matcher"].isin(["B-PB", "G-D-PB"])]
    assert set(averages["verdict"] != "not comparable") == {is_comparable}
    verb = "is" if present == 1 else "are"
    too_few = averages["reason"].str.startswith(f"Only {present} of the paper's 11 datasets {verb} among the runs. Averages")
    assert too_few.all() if not is_comparable else averages["reason"].str.contains(f"Ours is over {present} of").all()
    assert (comparison.closer_reading(compared) is not None) == is_comparable
    assert cell(compared, "table2", "adult", "deviation_mean")["verdict"] != "not comparable"


def test_missing_runs_are_given_as_the_reason():
    runs = synthetic_runs(seeds=1, ks=(5,))
    compared = compared_runs(runs.query("not method.str.startswith('FRAC') and matcher != 'C'"))
    for table, row in (("table4", "pima FRAC"), ("table1", "C")):
        assert cell(compared, table, row, "cohesion")["reason"].startswith("No run of ours gives this value.")
        assert cell(compared, table, row, "cohesion")["verdict"] == "not comparable"


def test_other_datasets_change_nothing(compared):
    more = compared_runs(pd.concat([synthetic_runs(), synthetic_runs(("iris",))], ignore_index=True))
    pd.testing.assert_frame_equal(more, compared)


def test_without_the_papers_data_nothing_is_comparable():
    compared = compared_runs(synthetic_runs(("iris", "wine"), seeds=1, ks=(2,)))
    assert set(compared["verdict"]) == {"not comparable"}
    assert comparison.closer_reading(compared) is None


@pytest.mark.parametrize("entry", reported.explanations(), ids=lambda entry: "-".join(map(str, entry["cells"].values())))
def test_every_explanation_matches_cells_and_is_given_only_to_those_that_differ(compared, entry):
    assert (cells_of_entry(compared, entry) & compared["counted"]).any()
    explained = compared["reason"].str.contains(entry["explanation"], regex=False)
    assert set(compared.loc[explained, "verdict"]) <= {"differs"}


def test_an_explanation_changes_no_verdict(monkeypatch, compared):
    monkeypatch.setattr(reported, "explanations", lambda: ())
    assert compared_runs(synthetic_runs())["verdict"].tolist() == compared["verdict"].tolist()


def test_every_entry_of_not_comparable_matches_cells_and_gives_a_reason(compared):
    for entry in reported.not_comparable():
        assert set(entry) - {"of_code"} == {"cells", "date", "reason"} and entry["date"] >= date(2026, 11, 21)
        assert cells_of_entry(compared, entry).any()
        present = compared[cells_of_entry(compared, entry) & (compared["dataset"] != "nbfi")]
        assert (present["verdict"] == "not comparable").all()
    assert cell(compared, "table4", "adult FRAC", "cohesion")["reason"].startswith("0.680 is below")
    assert cell(compared, "table2", "heloc", "cohesion")["verdict"] != "not comparable"


def test_the_counts_of_verdicts_add_up(compared):
    counts = comparison.counts(compared).set_index("table")
    assert list(counts.index) == [*reported.TABLES, "all"]
    assert (counts[list(comparison.VERDICTS)].sum(axis=1) == counts["counted"]).all()
    assert counts.loc["all", ["counted", "only_shown"]].sum() == len(compared)
    assert counts.loc["table1_matchers", ["counted", "only_shown"]].tolist() == [44, 8]


def test_with_one_seed_all_verdicts_are_undecided_and_say_why():
    compared = compared_runs(synthetic_runs(seeds=1, ks=(5, 10)))
    judged = comparison.counted(compared)
    assert set(judged["verdict"]) == {"undecided"} and judged["tail"].isna().all()
    assert judged["reason"].str.startswith("How far ours moves between seeds").all()


def test_the_closer_reading_of_s_has_the_smaller_mean_difference():
    rows = [("pearson cohesion omega", 0.3), ("pearson centroid_silhouette omega", -0.1), ("pearson omega deviation", 0.0)]
    compared = pd.DataFrame(rows, columns=["row", "difference"]).assign(table="table5_correlations", verdict="differs")
    assert comparison.closer_reading(compared) == ("centroid_silhouette", pytest.approx(0.1))
