"""The verdict by the rule: rounding, tolerance, wrong pairs, and when passing is informative."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from clusterlets.paper import bands, chance

LETTERS = "abcdefghijk"


def group(printed, ours, spread=0.0, quantity="cohesion", counted=True) -> pd.DataFrame:
    """Cells of one table, method and quantity, one for each dataset."""
    frame = pd.DataFrame({"reported": list(printed), "reproduced": list(ours)}, dtype=object)
    frame["subject"] = list(LETTERS[: len(frame)])
    return frame.assign(table="t", method=np.nan, quantity=quantity, counted=counted, seed_spread=spread)


@pytest.mark.parametrize(
    ("printed", "half_a_digit"),
    [(".003", 0.0005), (".0518", 0.00005), ("0.0", 0.05), ("17.5", 0.05), ("0.33", 0.005), ("11", 0), ("-.1", 0.05)],
)
def test_rounding_is_half_of_the_last_printed_digit_and_counts_are_exact(printed, half_a_digit):
    assert chance.rounding(printed) == pytest.approx(half_a_digit, abs=1e-15)


@pytest.mark.parametrize(
    ("printed", "ours", "spread", "within"),
    [
        (".82", "0.825", 0.0, True),
        (".82", "0.815", 0.0, True),
        (".82", "0.82501", 0.0, False),
        (".82", "0.845", 0.02, True),
        (".82", "0.795", 0.02, True),
        (".82", "0.7949", 0.02, False),
        ("11", "12", 0.5, False),
        ("11", "12", 1.0, True),
        (".82", None, 0.1, False),
        (".82", "0.82", np.nan, False),
    ],
)
def test_the_tolerance_is_rounding_plus_spread_on_either_side(printed, ours, spread, within):
    assert chance.within_tolerance(group([printed], [ours], spread)).tolist() == [within]


def test_a_choice_has_no_tolerance():
    cells = group(["G-B", "C"], ["G-B", "D-PB"], np.nan, "matcher")
    assert chance.within_tolerance(cells).tolist() == [True, False] and chance.tolerance(cells).isna().all()


def test_shares_of_wrong_pairs_are_those_of_a_loop():
    rng = np.random.default_rng(3)
    printed = [f"{value:.2f}" for value in rng.uniform(0.5, 0.9, 8)]
    ours, spread = rng.uniform(0.5, 0.9, 8), rng.uniform(0, 0.1, 8)
    cells = group(printed, map(repr, map(float, ours)), spread)
    judged = chance.judge(cells)
    wrong = [(a, b) for a, b in product(range(8), repeat=2) if a != b]
    near = [abs(float(printed[a]) - ours[b]) <= 0.005 + spread[b] + 1e-9 for a, b in wrong]
    in_band = [bands.verdict("cohesion", printed[a], ours[b]) != "differs" for a, b in wrong]
    assert judged["chance"].tolist() == pytest.approx([np.mean(near)] * 8) and 0 < np.mean(near) < 1
    assert judged["chance_bands"].tolist() == pytest.approx([np.mean(in_band)] * 8)
    informative, band_informative = ((sum(passed) + 1) / (56 + 1) < chance.LEVEL for passed in (near, in_band))
    passed_rule = [informative if within else close and band_informative for within, close in zip(near, in_band, strict=True)]
    assert judged["chance_rule"].tolist() == pytest.approx([np.mean(passed_rule)] * 8)


def test_every_verdict():
    apart = [f"{0.05 + 0.08 * n:.2f}" for n in range(11)]
    ours = [*apart[:8], repr(float(apart[8]) + 0.006), repr(float(apart[9]) + 0.029), repr(float(apart[10]) + 0.035)]
    judged = chance.judge(group(apart, ours))
    assert judged["verdict"].tolist() == ["reproduced"] * 8 + ["close", "close", "differs"]
    assert judged["chance"].tolist() == [0] * 11
    alike = chance.judge(group([".50"] * 11, ["0.5"] * 10 + ["0.7"]))
    assert alike["verdict"].tolist() == ["uninformative"] * 10 + ["differs"]
    assert (alike["chance_rule"] == 0).all() and alike["chance"].tolist() == pytest.approx([10 / 11] * 11)


def test_beyond_the_tolerance_a_band_that_chance_passes_is_not_close():
    printed = [f".{50 + n}" for n in range(11)]
    judged = chance.judge(group(printed, [repr(float(value) + 0.0051) for value in printed]))
    assert (judged["chance_bands"] > chance.LEVEL).all() and set(judged["verdict"]) == {"differs"}


def test_the_level_counts_the_pair_itself():
    # 11 datasets have 110 wrong pairs: ten that pass are (10 + 1) / 111 = .0991, eleven are .108.
    def cells(passing):
        printed = [f"{0.1 * n:.3f}" for n in range(11)]
        spread = np.zeros(11)
        spread[0] = 0.1 * passing  # the first dataset's spread is so wide that other datasets' printed numbers lie within
        return group(printed, ["0.0", *printed[1:]], spread)

    assert chance.judge(cells(10))["verdict"].tolist() == ["reproduced"] * 11
    more = cells(10)
    more.loc[5, "seed_spread"] = 0.1
    assert chance.judge(more)["chance"].iloc[0] == pytest.approx(12 / 110)
    assert chance.judge(more)["verdict"].tolist() == ["uninformative"] * 11


@pytest.mark.parametrize(("n_datasets", "expected"), [(3, "uninformative"), (4, "reproduced")])
def test_fewer_than_ten_wrong_pairs_are_uninformative(n_datasets, expected):
    apart = [".1", ".3", ".5", ".7"][:n_datasets]
    assert set(chance.judge(group(apart, apart))["verdict"]) == {expected}


def test_wrong_pairs_use_all_of_the_papers_numbers_of_the_same_group():
    cells = pd.concat(
        [
            group([".1", ".2", ".3"], ["0.1", None, "0.3"]),
            group([".1", ".2"], ["0.1", "0.2"], quantity="overlap"),
            group([".1", ".2"], ["0.1", "0.2"], counted=False),
            group([".1", ".2"], ["0.1", "0.2"]).assign(table="u"),
            group([".1", ".2"], ["0.1", "0.2"]).assign(method="FRAC"),
        ],
        ignore_index=True,
    )
    pairs = chance.wrong_pairs(cells)
    of_group = pairs[(pairs["table"] == "t") & (pairs["method"] == "") & (pairs["quantity"] == "cohesion") & pairs["counted"]]
    assert sorted(zip(of_group["reported"], of_group["reproduced"], strict=True)) == [
        (".1", "0.3"),
        (".2", "0.1"),
        (".2", "0.3"),
        (".3", "0.1"),
    ]
    assert len(pairs) == 4 + 4 * 2


def test_numbers_of_the_same_subject_are_no_wrong_pair():
    cells = group([".1", ".1", ".5"], ["0.1", "0.1", "0.5"]).assign(subject=["s omega", "s omega", "omega deviation"])
    assert chance.judge(cells)["chance"].tolist() == [0] * 3 and len(chance.wrong_pairs(cells)) == 4


def test_an_unknown_spread_is_uninformative():
    apart = [f"{0.1 * n:.1f}" for n in range(1, 8)]
    judged = chance.judge(group(apart, [*apart[:6], "0.1"], np.nan))
    assert set(judged["verdict"]) == {"uninformative"} and judged["chance"].isna().all()
