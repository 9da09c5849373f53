"""Reported against reproduced numbers: the edges of the bands, what is counted, what is not comparable."""

from datetime import date

import pandas as pd
import pytest
from synthetic_runs import PAPER_WITHOUT_NBFI, compared_runs, some_runs, synthetic_runs

from clusterlets.paper import bands, chance, comparison, reported


@pytest.fixture(scope="module")
def compared():
    return compared_runs(synthetic_runs())


def cell(compared: pd.DataFrame, table: str, row: str, quantity: str) -> pd.Series:
    rows = compared[compared["table"].str.startswith(table) & (compared["row"] == row)]
    (match,) = rows[rows["quantity"] == quantity].to_dict("records")
    return pd.Series(match)


@pytest.mark.parametrize(
    ("quantity", "printed", "ours", "expected"),
    [
        ("cohesion", ".82", 0.83, "reproduced"),  # .83 - .82 is .010000000000000009 in floating point
        ("cohesion", ".82", 0.81, "reproduced"),
        ("cohesion", ".82", 0.8301, "close"),
        ("cohesion", ".82", 0.85, "close"),
        ("cohesion", ".82", 0.8501, "differs"),
        ("overlap", ".295", 0.305, "reproduced"),
        ("overlap_std", ".243", 0.2131, "close"),
        ("overlap", ".295", 0.3251, "differs"),
        ("deviation_mean", ".000", 0.002, "reproduced"),
        ("deviation_mean", ".000", 0.0021, "close"),
        ("deviation_mean", ".000", 0.005, "close"),
        ("deviation_mean", ".000", 0.0051, "differs"),
        ("deviation_max", ".200", 0.230, "reproduced"),
        ("deviation_max", ".200", 0.2301, "close"),
        ("deviation_std", ".200", 0.120, "close"),
        ("deviation_mean_std", ".200", 0.1199, "differs"),
        ("size", "4", 5, "reproduced"),
        ("size", "4", 6, "differs"),
        ("size", "40", 42, "reproduced"),
        ("size", "40", 44, "close"),
        ("size", "40", 45, "differs"),
        ("size_std", "14.2", 15.2, "reproduced"),
        ("correlation", "0.449", 0.469, "reproduced"),
        ("correlation", "0.449", 0.389, "close"),
        ("correlation", "0.029", -0.032, "differs"),
        ("k", "20", "20", "reproduced"),
        ("k", "20", "30", "differs"),
        ("matcher", "G-B", "G-B", "reproduced"),
        ("matcher", "G-B", "D-PB", "differs"),
        ("cohesion", ".82", float("nan"), "not comparable"),
    ],
)
def test_bands_at_their_edges(quantity, printed, ours, expected):
    assert bands.verdict(quantity, printed, ours) == expected


def test_every_printed_number_has_a_row(compared):
    printed = sum(
        int(reported.table(name).drop(columns=key).notna().sum().sum())
        for name, key in zip(
            reported.TABLES,
            (["matcher"], ["dataset"], ["dataset"], ["dataset", "method"], ["coefficient", "x", "y"]),
            strict=True,
        )
    )
    second_reading = (compared["row"] + compared["quantity"]).str.contains("centroid_silhouette")
    assert (~second_reading).sum() == printed and second_reading.sum() == 6 + 2
    assert not compared.duplicated(["table", "row", "quantity"]).any()


def test_values_come_from_the_right_cells():
    runs = some_runs(
        {"k": 20, "deviation_mean": 0.0031},
        {"matcher": "D", "deviation_mean": 0.09, "cohesion": 0.95, "overlap": 0.2},
        {"method": "FRAC (nearest)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.14},
        {"method": "FRAC (fair)", "matcher": None, "k": 5, "n_clusters": 5, "deviation_mean": 0.001},
    )
    compared = compared_runs(runs)
    deviation = cell(compared, "table2", "pima", "deviation_mean")
    assert (deviation["reported"], deviation["reproduced"], deviation["verdict_bands"]) == (".003", "0.0031", "reproduced")
    assert deviation["difference"] == pytest.approx(0.0001)
    assert cell(compared, "table2", "pima", "k")["verdict"] == "differs"
    assert cell(compared, "table3", "pima", "matcher")["verdict_bands"] == "reproduced"
    assert cell(compared, "table4", "pima FRAC", "deviation_mean")["reproduced"] == "0.14"


def test_structural_zeros_and_repeated_rows_are_shown_not_counted(compared):
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


def test_a_missing_dataset_is_the_reason(compared):
    missing = cell(compared, "table2", "nbfi", "deviation_mean")
    assert (missing["verdict"], missing["reason"]) == ("not comparable", "Dataset nbfi is not among the runs.")
    average = cell(compared, "table1", "C", "cohesion")
    assert average["verdict"] != "not comparable"
    assert average["reason"] == "Ours is over 10 of the paper's 11 datasets, without nbfi."


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


def test_a_missing_method_is_the_reason():
    some = synthetic_runs(PAPER_WITHOUT_NBFI, seeds=1, ks=(5,))
    runs = some.query("not method.str.startswith('FRAC') and matcher != 'C'")
    compared = compared_runs(runs)
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
def test_every_explanation_fits_cells_and_is_given_only_to_those_that_differ(compared, entry):
    fitting = compared[compared["counted"]]
    for column, values in entry["cells"].items():
        fitting = fitting[fitting[column].isin(values if isinstance(values, list) else [values])]
    assert len(fitting)
    explained = compared["reason"].str.contains(entry["explanation"], regex=False)
    assert set(compared.loc[explained, "verdict"]) <= {"differs"}


def test_an_explanation_changes_no_verdict(monkeypatch, compared):
    monkeypatch.setattr(reported, "explanations", lambda: ())
    assert compared_runs(synthetic_runs())["verdict"].tolist() == compared["verdict"].tolist()


def test_every_entry_of_not_comparable_fits_cells_and_gives_a_reason(compared):
    for entry in reported.not_comparable():
        assert set(entry) == {"cells", "date", "reason"} and entry["date"] >= date(2026, 11, 21)
        fits = pd.Series(True, index=compared.index)
        for column, value in entry["cells"].items():
            fits &= compared[column] == value
        assert fits.any()
        assert (compared.loc[fits & (compared["dataset"] != "nbfi"), "verdict"] == "not comparable").all()
    assert cell(compared, "table4", "adult FRAC", "cohesion")["reason"].startswith("0.680 is below")
    assert cell(compared, "table2", "heloc", "cohesion")["verdict"] != "not comparable"


def test_counts_add_up(compared):
    counts = comparison.counts(compared).set_index("table")
    assert list(counts.index) == [*reported.TABLES, "all"]
    assert (counts[list(comparison.VERDICTS)].sum(axis=1) == counts["counted"]).all()
    shares = counts[["reproduced", "close"]].sum(axis=1) / (counts["counted"] - counts["not comparable"])
    assert counts["share"].tolist() == pytest.approx(shares.tolist()) and (counts["share_by_chance"] < 2 * chance.LEVEL).all()
    judged = compared[compared["counted"] & (compared["verdict"] != "not comparable")]
    assert counts.loc["all", "share_bands"] == pytest.approx((judged["verdict_bands"] != "differs").mean())
    assert counts.loc["all", "share_bands_by_chance"] == pytest.approx(judged["chance_bands"].mean())
    assert counts.loc["all", ["counted", "only_shown"]].sum() == len(compared)
    assert counts.loc["table1_matchers", ["counted", "only_shown"]].tolist() == [44, 8]


def test_one_seed_reproduces_nothing_but_choices_and_says_why():
    compared = compared_runs(synthetic_runs(seeds=1, ks=(5, 10)))
    measured = compared[compared["counted"] & ~compared["quantity"].isin(["matcher", "k"])]
    assert set(measured["verdict"]) == {"uninformative", "not comparable"} and measured["tolerance"].isna().all()
    assert (
        measured.loc[measured["verdict"] == "uninformative", "reason"].str.startswith("How far ours moves between seeds").all()
    )
    choices = compared[compared["counted"] & compared["quantity"].isin(["matcher", "k"])]
    within = choices.loc[choices["verdict"] != "not comparable", "verdict"].isin(["reproduced", "uninformative"])
    shares = comparison.counts(compared).set_index("table")["share_within_tolerance"]
    assert shares["all"] == pytest.approx(within.mean()) and pd.isna(shares["table1_matchers"])


def test_the_closer_reading_of_s():
    rows = [("pearson cohesion omega", 0.3), ("pearson centroid_silhouette omega", -0.1), ("pearson omega deviation", 0.0)]
    compared = pd.DataFrame(rows, columns=["row", "difference"])
    compared = compared.assign(table="table5_correlations", verdict="differs")
    assert comparison.closer_reading(compared) == ("centroid_silhouette", pytest.approx(0.1))


def test_selection_noise_is_the_range_over_groups_of_ten_seeds():
    base = [{"seed": seed, "deviation_mean": 0.02 + seed / 1000} for seed in range(10)]
    further = [{"seed": 10 + seed, "deviation_mean": 0.001 + seed / 1000} for seed in range(10)]
    one_group, two_groups = compared_runs(some_runs(*base)), compared_runs(some_runs(*base, *further))
    assert one_group["within_selection_noise"].isna().all()
    assert two_groups["verdict"].tolist() == one_group["verdict"].tolist()
    within = cell(two_groups, "table2", "pima", "deviation_mean")  # .003 lies between the groups' best, .001 and .02
    assert within["within_selection_noise"] is True and within["verdict_bands"] == "differs"
    assert cell(two_groups, "table2", "pima", "cohesion")["within_selection_noise"] is False
    incomplete = compared_runs(some_runs(*base, *further[:9]))
    assert incomplete["within_selection_noise"].isna().all()
