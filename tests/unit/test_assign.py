"""New rows are assigned to fitted clusters. Old and new rows together keep the guarantee, in memory and from a file."""

import copy
import datetime
import functools
import json
import re
import warnings
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from clusterlets import (
    FRAC,
    Coreset,
    FairFlow,
    FairLimit,
    FairLP,
    InvalidInput,
    MethodClustering,
    SavedClustering,
    repair,
    tune,
)
from clusterlets.algorithms.limits import largest_deviation
from clusterlets.errors import LookAlikeGroups
from clusterlets.estimators import saved_file

RNG = np.random.default_rng(0)
N, N_NEW, K = 300, 90, 3  # of the N + N_NEW rows, the first N are fitted
SEX = RNG.choice(["f", "m"], N + N_NEW, p=[0.4, 0.6])
X = RNG.normal(size=(N + N_NEW, 2)) + np.where(SEX == "f", 1.0, 0.0)[:, None]
SHARE_OF_WOMEN = Fraction(int((SEX[:N] == "f").sum()), N)  # among the fitted rows

ESTIMATORS = {
    "fair-limit": FairLimit(K, max_deviation=0.05, random_state=0),
    "shares": FairLimit(K, shares={"f": (0.3, 0.5)}, random_state=0),
    "ratio": FairLimit(K, min_ratio="4/5", random_state=0),
    "fair-flow": FairFlow(K, delta=0.2, random_state=0),
    "fair-lp": FairLP(K, delta=0.2, random_state=0),
    "coreset": Coreset(K, delta=0.2, random_state=0),
    "FRAC": FRAC(K, tau=0.2, random_state=0),
}


@functools.cache
def fitted(name):
    return ESTIMATORS[name].fit(X[:N], sensitive_features=SEX[:N])


def fit(name):
    """A fitted estimator of the test's own, which may remember rows."""
    return copy.deepcopy(fitted(name))


def keeps_guarantee(name, women, men, all_women, all_men):
    """Whether a cluster with these numbers of women and men, out of all women and men, keeps the estimator's guarantee."""
    size = women + men
    if name == "fair-limit":
        return abs(Fraction(women, size) - SHARE_OF_WOMEN) <= Fraction(5, 100)
    if name == "shares":
        return Fraction(3, 10) <= Fraction(women, size) <= Fraction(1, 2)
    if name == "ratio":
        return Fraction(4, 5) <= Fraction(women, men) / (SHARE_OF_WOMEN / (1 - SHARE_OF_WOMEN)) <= Fraction(5, 4)
    if name == "FRAC":
        return women >= Fraction(all_women, 5) and men >= Fraction(all_men, 5)
    factor = Fraction(4, 5)  # 1 - delta; the other methods promise their delta up to one instance of each group
    return all(
        size * share * factor - 1 < count < size * share / factor + 1
        for share, count in ((SHARE_OF_WOMEN, women), (1 - SHARE_OF_WOMEN, men))
    )


def all_clusters_keep_guarantee(name, labels, sex):
    women, men = (np.bincount(labels[sex == group], minlength=K).tolist() for group in "fm")
    return all(keeps_guarantee(name, *counts, sum(women), sum(men)) for counts in zip(women, men, strict=True))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_old_and_new_rows_together_keep_the_guarantee(name):
    model = fit(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.assign(X[N:], sensitive_features=SEX[N:])
    assert all_clusters_keep_guarantee(name, np.concatenate([model.labels_, labels]), SEX)
    # Many rows stay in the nearest cluster, and the labels are in the order of the rows.
    assert (labels == model.predict(X[N:])).mean() > 0.3
    assert not np.array_equal(model.assign(X[N:][::-1], sensitive_features=SEX[N:][::-1]), labels)


def deviation_from_fit(labels, sex, fitted_sex=SEX[:N], k=K):
    """The largest deviation of a share in a cluster from the share in the fitted table."""
    counts = np.stack([np.bincount(labels[sex == value], minlength=k) for value in "fm"])
    fitted_counts = np.array([(fitted_sex == value).sum() for value in "fm"])
    return largest_deviation(counts, np.arange(2)[:, None], fitted_counts)


def test_a_warning_says_where_and_by_how_much_the_limits_are_missed_and_what_would_mend_them():
    model = fit("fair-limit")
    new_women, rows = np.repeat("f", 200), np.tile(X[:1], (200, 1))
    with pytest.warns(UserWarning, match=r"no labels of these rows keep the limits \(proved\)"):
        new_labels = model.assign(rows, sensitive_features=new_women)
    miss = model.saved().miss
    labels, sex = np.concatenate([model.labels_, new_labels]), np.concatenate([SEX[:N], new_women])
    assert miss.amount == pytest.approx(float(deviation_from_fit(labels, sex)) - 0.05, abs=1e-3)
    assert np.mean(sex[labels == miss.cluster] == "f") - SHARE_OF_WOMEN == pytest.approx(miss.amount + 0.05, abs=1e-3)
    assert (miss.group, miss.is_too_many, miss.missing_group, miss.is_proved) == ("f", True, "m", True)
    # If that many men joined the clusters that miss the limit, one man fewer would not do.
    upper_limit = SHARE_OF_WOMEN + Fraction(1, 20)
    women, men = (np.bincount(labels[sex == value], minlength=K) for value in "fm")
    assert miss.n_missing == sum(max(0, ceil(int(f) / upper_limit) - int(f + m)) for f, m in zip(women, men, strict=True))


@pytest.mark.filterwarnings("ignore::clusterlets.errors.LimitsMissed")
@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(any), max_size=6), st.integers(0, 99))
def test_after_any_batches_the_fitted_shares_are_kept_or_the_miss_is_told(batches, seed):
    rng = np.random.default_rng(seed)
    model = fit("fair-limit")
    saved, labels, sex = model.saved(), model.labels_, SEX[:N]
    for women, men in batches:
        new_sex = rng.permutation(["f"] * women + ["m"] * men)
        new_labels, miss = saved.assign(rng.normal(size=(women + men, 2)), new_sex, remember=True), saved.miss
        labels, sex = np.concatenate([labels, new_labels]), np.concatenate([sex, new_sex])
        excess = deviation_from_fit(labels, sex) - Fraction(1, 20)
        assert (miss is None) == (excess <= 0)
        assert miss is None or miss.amount == pytest.approx(float(excess), abs=1e-3)


def saved_of(groups, **limits):
    """A clustering of the first rows with these groups (N,)."""
    limits = limits or {"max_deviation": 0.5}
    return FairLimit(K, random_state=0, **limits).fit(X[:N], sensitive_features=groups).saved()


@pytest.mark.parametrize(
    ("fitted", "new"),
    [
        ([True, False], ["TRUE", "false"]),
        ([True, False], [1, 0]),
        ([True, False], ["1", "0"]),
        ([1.0, 2.0], [1, 2]),
        ([1.0, 2.0], ["1", "2.0"]),
        (["1", "2"], [1.0, 2.0]),
        (["f", "m"], ["F", " m "]),
        (["true", "false"], [True, False]),
    ],
)
def test_a_value_in_another_notation_is_the_group_of_the_fit(fitted, new):
    saved = saved_of(pd.Series(np.array(fitted, dtype=object)[np.arange(N) % 2]))
    labels = saved.assign(X[N:], pd.Series(np.array(fitted, dtype=object)[np.arange(N_NEW) % 2]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        new_labels = saved.assign(X[N:], pd.Series(np.array(new, dtype=object)[np.arange(N_NEW) % 2]), remember=True)
    assert (new_labels == labels).all() and len(saved.groups) == 2
    said = any("spelt differently than in the fit" in str(warning.message) for warning in caught)
    assert said == any(a != b and str(a) != str(b) for a, b in zip(fitted, new, strict=True))


def test_a_value_that_may_be_several_groups_and_new_values_that_look_alike_are_refused():
    with pytest.warns(LookAlikeGroups):
        saved = saved_of(np.array(["f", "F", "m"])[np.arange(N) % 3])
    assert len(saved.assign(X[N:], np.repeat("f", N_NEW))) == N_NEW  # spelt as in the fit
    with pytest.raises(InvalidInput, match="column 0: ' f' may be 'F' or 'f' of the fit; spell it as one of them"):
        saved.assign(X[N:], np.repeat(" f", N_NEW))
    with pytest.raises(InvalidInput, match="column 0: these groups look alike: 'x' and 'X'|'X' and 'x'"):
        saved.assign(X[N:], np.array(["x", "X"])[np.arange(N_NEW) % 2])


def test_named_columns_are_matched_by_name_whatever_their_values_and_order():
    groups = pd.DataFrame({"sex": SEX, "boss": SEX[::-1]})
    new = groups[N:].assign(boss=np.where(np.arange(N_NEW) % 2, "none", "f"))
    saved = saved_of(groups[:N])
    with pytest.warns(UserWarning, match="groups that did not occur in the fit: .*none.*; check the spelling"):
        saved.assign(X[N:], new)  # "f" and "none" are no sign of swapped columns
    numbered = pd.DataFrame({0: SEX, 1: np.where(np.arange(N + N_NEW) % 3, "a", "b")})
    saved = saved_of(numbered[:N])
    labels = saved.assign(X[N:], numbered[N:])
    assert (saved.assign(X[N:], numbered[N:][[1, 0]]) == labels).all()


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame(np.column_stack([SEX, SEX[::-1]]), columns=["g", "g"])
    model = FairLimit(K, max_deviation=0.5, random_state=0)
    for call in (
        lambda: model.fit(X, sensitive_features=twice),
        lambda: repair(X, np.arange(N + N_NEW) % K, sensitive_features=twice),
        lambda: tune(X, sensitive_features=twice),
        lambda: saved_of(SEX[:N]).assign(X, twice.set_axis([0, "0"], axis=1)),
    ):
        with pytest.raises(InvalidInput, match="two columns of the name"):
            call()


def test_limits_by_number_and_by_boolean_survive_the_file_and_a_name_in_two_spellings_is_refused(tmp_path):
    columns = pd.DataFrame({0: np.arange(N) % 3 == 0, 1: SEX[:N]})
    for limits in ({"max_deviation": {0: 0.3, 1: Fraction(1, 10)}}, {"shares": {0: {True: (0.1, 0.6), False: (0, 0.8)}}}):
        saved, file = saved_of(columns, **limits), str(tmp_path / "model.json")
        saved.save(file)
        loaded = SavedClustering.load(file)
        assert (loaded.assign(X[:N], columns) == saved.assign(X[:N], columns)).all()
        assert list(next(value for value in loaded.parameters.values() if isinstance(value, dict))) == list(
            next(iter(limits.values()))
        )
    both = pd.Series(np.array(["1", 1, 2], dtype=object)[np.arange(N) % 3])
    with pytest.warns(LookAlikeGroups):
        model = FairLimit(2, shares={"1": (0.3, 0.4), 1: (0.1, 0.9)}, random_state=0).fit(X[:N], sensitive_features=both)
    text, number = ([np.mean([v == value for v in both[model.labels_ == c]]) for c in range(2)] for value in ("1", 1))
    assert all(0.3 <= share <= 0.4 for share in text) and all(0.1 <= share <= 0.9 for share in number)
    with pytest.raises(InvalidInput, match="shares: '1', 1 name a group twice"):
        saved_of(np.arange(N) % 2, shares={"1": (0.3, 0.6), 1: (0.1, 0.9)})


def test_an_empty_batch_and_limits_of_too_many_digits_are_refused():
    model = fit("fair-limit")
    for assign in (lambda X, s: model.assign(X, sensitive_features=s), model.saved().assign):
        for rows in (np.empty((0, 2)), [], pd.DataFrame({"a": [], "b": []})):
            with pytest.raises(InvalidInput, match="X has no rows, so there is nothing to assign"):
                assign(rows, [])
    saved = saved_of(SEX[:N], min_ratio=1e-17)
    saved.assign(X[N:], SEX[N:])
    assert saved.miss is None
    for text in ("1.0e-99999999", "1" * 500, "1e-401"):
        with pytest.raises(InvalidInput, match="max_deviation"):
            saved_of(SEX[:N], max_deviation=text)


def test_new_rows_with_missing_or_too_large_values_are_refused():
    saved = fit("fair-limit").saved()
    for value, message in ((np.nan, "column 1 contains NaN"), (1e200, r"feature 1 holds 1e\+200")):
        with pytest.raises(InvalidInput, match=message):
            saved.assign([[0, value]], ["f"])


def test_only_remembered_rows_count_in_later_assignments_until_the_next_fit():
    model = fit("fair-limit")
    fitted_counts = model.saved().counts.copy()
    model.assign(X[N:], sensitive_features=SEX[N:])
    assert (model.saved().counts == fitted_counts).all()
    labels = model.assign(X[N:], sensitive_features=SEX[N:], remember=True)
    added_counts = model.saved().counts - fitted_counts
    assert (added_counts.sum(axis=0) == np.bincount(labels, minlength=K)).all()
    model.fit(X[:N], sensitive_features=SEX[:N])
    assert (model.saved().counts == fitted_counts).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_clustering_loaded_from_its_file_assigns_the_same_labels(name, tmp_path):
    model = fit(name)
    file = str(tmp_path / "model.json")
    model.saved().save(file)
    saved = SavedClustering.load(file)
    labels = saved.assign(X[N:], SEX[N:])
    assert saved.miss is None
    assert (labels == model.assign(X[N:], sensitive_features=SEX[N:])).all()


def test_pandas_columns_are_matched_by_name_and_different_indexes_are_refused():
    groups = pd.DataFrame({"sex": SEX, "born": np.arange(N + N_NEW) % 2 + 1990})
    new_groups, new_rows = groups[N:], pd.DataFrame(X[N:], index=range(N, N + N_NEW))
    model = FairLimit(K, max_deviation=0.1, random_state=0).fit(X[:N], sensitive_features=groups[:N])
    assign_functions = [
        lambda groups: model.assign(new_rows, sensitive_features=groups),
        lambda groups: model.saved().assign(new_rows, groups),
    ]
    for assign in assign_functions:
        labels = assign(new_groups)
        assert (assign(new_groups[["born", "sex"]]) == labels).all()
        with pytest.raises(InvalidInput, match="sensitive_features has no column 'born'; the clustering has sex, born"):
            assign(new_groups.rename(columns={"born": "year"}))
        with pytest.raises(InvalidInput, match="different indexes: row 0 .* is 300 in X and 0 in sensitive_features"):
            assign(new_groups.set_axis(range(N_NEW)))
        assert (model.assign(X[N:], sensitive_features=new_groups.to_numpy()) == labels).all()
        with pytest.raises(
            InvalidInput, match="column 0: it holds values of born; give the columns in the order of the fit, s"
        ):
            assign(new_groups[["born", "sex"]].to_numpy())


def test_an_estimator_of_any_method_can_assign_rows_if_the_method_guarantees_something_for_them():
    by_name = MethodClustering("fair-limit", K, parameters={"max_deviation": 0.05}, random_state=0)
    assert not any(hasattr(MethodClustering("k-means"), name) for name in ("assign", "saved"))
    with pytest.raises(NotFittedError):
        by_name.assign(X[N:], sensitive_features=SEX[N:])
    labels = by_name.fit(X[:N], sensitive_features=SEX[:N]).assign(X[N:], sensitive_features=SEX[N:])
    expected = fit("fair-limit")
    assert (labels == expected.assign(X[N:], sensitive_features=SEX[N:])).all()
    assert (labels == expected.saved().assign(X[N:], SEX[N:])).all()


def test_a_clustering_without_a_guarantee_for_new_rows_cannot_be_saved():
    model = MethodClustering("k-means", K, random_state=0).fit(X, sensitive_features=SEX)
    with pytest.raises(
        InvalidInput, match="k-means cannot be saved, because this method guarantees nothing for new rows; use FRAC, "
    ):
        SavedClustering.of(model)


def test_groups_that_json_cannot_hold_are_refused(tmp_path):
    dates = [datetime.date(2020 + (sex == "f"), 1, 1) for sex in SEX]
    model = FairLimit(K, max_deviation=0.05, random_state=0).fit(X, sensitive_features=dates)
    with pytest.raises(InvalidInput, match="cannot be saved"):
        model.saved().save(str(tmp_path / "model.json"))


DEEP = [[]]
for _ in range(400):
    DEEP = [DEEP]


def set_in(content, path, value):
    *path, last = path
    for key in path:
        content = content[key]
    content[last] = value


def setting(*path_and_value):
    return lambda content: set_in(content, path_and_value[:-1], path_and_value[-1])


# Each of them spoils the content of an intact file of two columns, two features and three clusters.
DAMAGES = {
    "no format": lambda content: content.pop("format"),
    "former format": setting("format", "clusterlets clustering 2"),
    "unknown part": setting("code", "os.system"),
    "unknown method": setting("method", "os.system"),
    "method that cannot be saved": setting("method", "k-means"),
    "other method": setting("method", "FRAC"),
    "unknown parameter": setting("parameters", {"keys": ["power"], "values": [1]}),
    "parameter of another type": setting("parameters", "values", 0, [DEEP]),
    "parameters no mapping": setting("parameters", [1, 2]),
    "unequal lists": setting("parameters", "keys", []),
    "tiny fraction": setting("parameters", {"keys": ["max_deviation"], "values": ["1.0e-99999999"]}),
    "long fraction": setting("parameters", {"keys": ["max_deviation"], "values": [f"1/{'9' * 5000}"]}),
    "negative limit": setting("parameters", {"keys": ["max_deviation"], "values": [-0.1]}),
    "limit of no column": setting(
        "parameters", {"keys": ["max_deviation"], "values": [{"keys": ["x", "born"], "values": [0.1, 0.1]}]}
    ),
    "centres without features": setting("centres", [[], [], []]),
    "NaN": setting("centres", 0, 0, float("nan")),
    "huge centre": setting("centres", 0, 0, 10**400),
    "text as a number": setting("centres", 0, 0, "1"),
    "true as a number": setting("centres", 0, 0, True),
    "deep nesting": setting("centres", 0, 0, DEEP),
    "fewer centres": lambda content: content["centres"].pop(),
    "no sensitive names": setting("sensitive_names", []),
    "a sensitive name twice": setting("sensitive_names", ["born", "born"]),
    "no groups": setting("groups", []),
    "a group twice": lambda content: set_in(content, ("groups", 0), content["groups"][1]),
    "a group of three values": lambda content: content["groups"][0].append("x"),
    "a group that is missing": setting("groups", 0, 0, None),
    "half a character": setting("groups", 0, 0, "\ud800"),
    "negative counts": setting("counts", 0, 0, -1),
    "counts of 1.5": setting("counts", 0, 0, 1.5),
    "fewer counts": lambda content: content["counts"].pop(),
    "an empty cluster": lambda content: [counts.__setitem__(0, 0) for counts in content["counts"]],
    "no fitted rows": lambda content: set_in(content, ("fitted_counts",), [0] * len(content["groups"])),
    "more fitted rows than rows": setting("fitted_counts", 0, 10**6),
    "a feature name twice": setting("feature_names", ["a", "a"]),
    "one feature name": setting("feature_names", ["a"]),
    "scale without mean": lambda content: content.update(mean=None, scale=[1.0, 1.0]),
    "negative scale": setting("scale", [1.0, -1.0]),
    "text columns that are no features": setting("text_columns", {"keys": ["color"], "values": [["red", None]]}),
    "a cluster name twice": setting("cluster_names", ["a", "b", "a"]),
    "two cluster names": setting("cluster_names", ["a", "b"]),
    "numbers as cluster names": setting("cluster_names", [0, 1, 2]),
    "text columns of numbers": setting("text_columns", {"keys": ["color"], "values": [[1]]}),
}


@pytest.fixture(scope="module")
def intact_file(tmp_path_factory):
    groups = pd.DataFrame({"sex": SEX, "born": np.arange(N + N_NEW) % 2 + 1990})
    model = FairLimit(K, max_deviation={"sex": 0.05, "born": 0.1}, random_state=0)
    model.fit(pd.DataFrame(X[:N], columns=["a", "b"]), sensitive_features=groups[:N])
    file = tmp_path_factory.mktemp("saved") / "model.json"
    SavedClustering.of(model, mean=np.zeros(2), scale=np.ones(2)).save(str(file))
    return file


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_with_wrong_content_is_refused_even_if_its_digest_is_right(intact_file, tmp_path, damage):
    content = json.loads(intact_file.read_text())
    del content["sha256"]
    DAMAGES[damage](content)
    content["sha256"] = saved_file._digest(content)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match="is not an intact clustering from `clusterlets cluster --save`"):
        SavedClustering.load(str(file))


def test_clusters_without_names_are_saved_as_before_they_could_have_names(intact_file):
    assert "cluster_names" not in json.loads(intact_file.read_text())
    saved = SavedClustering.load(str(intact_file))
    labels = saved.assign(X[N:], pd.DataFrame({"sex": SEX[N:], "born": np.arange(N_NEW) % 2 + 1990}))
    assert set(labels) == {0, 1, 2} and labels.dtype == np.int64


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace(b'"method"', b'"format"', 1),
        lambda text: text.replace(b'"sha256"', b'"method": "FRAC", "sha256"'),
        lambda text: text.replace(b"0.05", b"0.5", 1),
        lambda text: text.replace(b'"sha256": "', b'"sha256": "0'),
        lambda text: b"\xff" + text,
        lambda text: b"",
        lambda text: b"[" * 100_000,
    ],
)
def test_a_file_that_was_changed_is_refused(intact_file, tmp_path, spoil):
    file = tmp_path / "model.json"
    file.write_bytes(spoil(intact_file.read_bytes()))
    with pytest.raises(InvalidInput, match="is not an intact clustering from `clusterlets cluster --save`"):
        SavedClustering.load(str(file))


def test_names_that_look_like_those_of_the_fit_are_told_apart_by_their_code_points():
    composed, decomposed = "Köln", "Ko\u0308ln"
    frame, groups = pd.DataFrame(X, columns=[composed, "b"]), pd.DataFrame({composed: np.where(SEX == "f", composed, "Bonn")})
    saved = FairLimit(K, max_deviation=0.1, random_state=0).fit(frame[:N], sensitive_features=groups[:N]).saved()
    codes = r"'Ko\\u0308ln' (which|as|may)?.*'K\\xf6ln'"
    for own in (
        {"X": frame.rename(columns={composed: decomposed})},
        {"sensitive_features": groups.set_axis([decomposed], axis=1)},
    ):
        with pytest.raises(InvalidInput, match=f"no column '{composed}' .did you mean '{decomposed}', which is {codes}"):
            saved.assign(**{"X": frame, "sensitive_features": groups, **own})
    with pytest.warns(LookAlikeGroups, match=f"counted {codes}"):
        saved.assign(frame[N:], groups[N:].replace(composed, decomposed))
    with pytest.raises(InvalidInput, match="there is no group 'Ko\u0308ln' .did you mean 'Köln', which is 'K.xf6ln' and not"):
        FairLimit(K, shares={decomposed: (0.1, 0.6)}).fit(frame, sensitive_features=groups)


# ---- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path, monkeypatch):
    """The rows of ``old.csv`` and ``new.csv``. The two files have their columns in different orders."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"age": X[:, 0] * 10 + 40, "pay": X[:, 1], "person_id": np.arange(N + N_NEW), "sex": SEX})
    frame[:N].to_csv("old.csv", index=False)
    frame[N:][["sex", "pay", "age"]].to_csv("new.csv", index=False)
    return frame


SAVE_COMMAND = ("cluster", "old.csv", "--sensitive", "sex", "--scaling", "standard", "--method", "fair-limit", "-k", "3")
SAVE_COMMAND += ("--max-deviation", "0.05", "--save", "people.json", "-o", "old_labels.csv")


def test_the_commands_save_a_clustering_and_assign_rows_to_it(people, run):
    assert run(*SAVE_COMMAND)[0] == 0
    status, output, _ = run("assign", "people.json", "new.csv", "-o", "labels.csv", "--save", "people.json")
    assert status == 0
    assert output.splitlines()[1] == "limits      kept by old and new rows together" and "breaks" not in output
    labels = np.concatenate([pd.read_csv(name)["cluster"] for name in ("old_labels.csv", "labels.csv")])
    assert all_clusters_keep_guarantee("fair-limit", labels, SEX)
    assert np.sum(json.loads(Path("people.json").read_text())["counts"]) == N + N_NEW


def test_strict_refuses_rows_that_cannot_keep_the_limits_and_a_later_call_compares_with_the_fit(people, run):
    assert run(*SAVE_COMMAND)[0] == 0
    women = people[people["sex"] == "f"]
    women[["age", "pay", "sex"]].to_csv("new.csv", index=False)
    before = Path("people.json").read_bytes()
    command = ("assign", "people.json", "new.csv", "-o", "labels.csv", "--save", "people.json")
    status, output, _ = run(*command, "--strict")
    assert status == 1 and "limits      not kept: the population has changed since batch 1: sex = f makes up" in output
    assert Path("people.json").read_bytes() == before and not Path("labels.csv").exists()
    status, output, _ = run(*command)
    shares = f"f {float(SHARE_OF_WOMEN):.1%}, m {float(1 - SHARE_OF_WOMEN):.1%}"
    assert status == 0 and f"reference   shares of the table that was clustered: {shares}\n" in output
    people[people["sex"] == "m"][["age", "pay", "sex"]].to_csv("new.csv", index=False)
    output = run(*command)[1]
    assert "limits      kept by old and new rows together" in output and shares in output


def test_a_value_of_a_text_column_that_no_feature_stands_for_is_named(people, run):
    people[:N].assign(kind=np.array(["red", "blue"])[np.arange(N) % 2]).to_csv("old.csv", index=False)
    assert run(*SAVE_COMMAND, "--categorical", "onehot")[0] == 0
    people[N:].assign(kind=np.array(["red", "green"])[np.arange(N_NEW) % 2]).to_csv("new.csv", index=False)
    output = run("assign", "people.json", "new.csv")[1]
    assert "note: X, column 'kind': the fit had no rows with 'green', so these rows are no value of it" in output


@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_encoded_columns_and_filled_gaps_are_saved_and_new_rows_are_prepared_as_the_fit_was(people, run, scaling):
    kinds = np.array(["red", "blue", None])[np.arange(N + N_NEW) % 3]
    kinds[:2], kinds[N : N + 2] = ["rare", "odd"], ["rare", "never seen"]
    frame = people[["age", "pay", "sex"]].assign(kind=kinds)
    frame.loc[[3, 4, N + 5], "age"] = np.nan
    frame[:N].to_csv("old.csv", index=False)
    frame[N:].to_csv("new.csv", index=False)
    command = ("cluster", "old.csv", "--sensitive", "sex", "-k", "3", "--max-deviation", "0.05", "--categorical", "onehot")
    command += ("--missing", "median", "--scaling", scaling, "--save", "people.json")
    assert run(*command)[0] == 0
    status, output, error = run("assign", "people.json", "new.csv", "-o", "labels.csv")
    assert status == 0, error
    assert f"note: cells without a value, filled as in the fit: age (1), kind ({N_NEW // 3})" in output

    numbers = frame[["age", "pay"]].fillna({"age": frame["age"][:N].median()}).to_numpy()
    known = np.where(pd.isna(kinds), "missing", kinds)
    levels = ["blue", "missing", "red"]
    dummies = np.column_stack([*(known == level for level in levels), ~np.isin(known, levels)]).astype(float)
    features = np.hstack([numbers, dummies])
    if scaling == "standard":
        spread = np.append(numbers[:N].std(axis=0), np.repeat(np.sqrt(dummies[:N].var(axis=0).sum()), 4))
        features = (features - features[:N].mean(axis=0)) / spread
    by_hand = MethodClustering("fair-limit", 3, parameters={"max_deviation": 0.05}, random_state=0)
    expected = SavedClustering.of(by_hand.fit(features[:N], sensitive_features=SEX[:N])).assign(features[N:], SEX[N:])
    assert (pd.read_csv("labels.csv")["cluster"] == expected).all()
    saved = SavedClustering.load("people.json")
    assert (saved.assign(frame[N:], SEX[N:]) == expected).all()
    encoded = pd.DataFrame(np.hstack([numbers, dummies]), columns=saved.feature_names)
    assert (saved.assign(encoded[N:], SEX[N:]) == expected).all()
    with pytest.raises(InvalidInput, match="X has more than one column 'age'"):
        saved.assign(pd.concat([frame[N:], frame[N:][["age"]]], axis=1), SEX[N:])
    with pytest.raises(InvalidInput, match="X has no column 'kind'; the clustering has age, pay, kind"):
        saved.assign(frame[N:].drop(columns="kind"), SEX[N:])


def test_the_command_assigns_a_single_row_which_has_a_single_group(people, run):
    assert run(*SAVE_COMMAND)[0] == 0
    people.iloc[:1].to_csv("new.csv", index=False)
    status, output, _ = run("assign", "people.json", "new.csv")
    assert status == 0
    assert output.startswith("new.csv: 1 new row, 3 clusters of fair-limit\n")


def test_identifiers_are_kept_and_rows_that_lack_a_value_are_refused_or_dropped(people, run):
    assert run(*SAVE_COMMAND, "--id", "person_id")[0] == 0
    labels = pd.read_csv("old_labels.csv")
    assert list(labels) == ["row", "person_id", "cluster"]
    assert (labels["person_id"] == people["person_id"][:N]).all()

    new = pd.read_csv("new.csv").assign(person_id=people["person_id"][N:].to_numpy())
    new.loc[4, "pay"], new.loc[7, "sex"] = np.nan, None
    new.to_csv("new.csv", index=False)
    assign = ("assign", "people.json", "new.csv", "--id", "person_id", "-o", "labels.csv")
    status, _, error = run(*assign)
    assert status == 1
    assert "new.csv, line 6: column 'pay' is empty" in error
    assert "--missing drop leaves out 1 of 90 rows" in error
    assert "--features" not in error

    status, output, _ = run(*assign, "--missing=drop")
    assert status == 0
    assert f"note: 1 of {N_NEW} rows lacks a value and was left out: pay" in output
    assert f"note: 1 of {N_NEW - 1} rows has no sensitive value and was left out" in output
    labels, kept_rows = pd.read_csv("labels.csv"), np.delete(np.arange(N_NEW), [4, 7])
    assert list(labels) == ["row", "person_id", "cluster"]
    assert (labels["row"] == kept_rows).all()
    assert (labels["person_id"] == people["person_id"][N:].to_numpy()[kept_rows]).all()


@pytest.mark.parametrize(
    "command", [("assign", "people.json", "new.csv"), SAVE_COMMAND, ("tune", "old.csv", "--sensitive", "sex")]
)
def test_identifiers_that_cannot_be_kept_are_refused(people, run, monkeypatch, command):
    monkeypatch.setattr("clusterlets.tuning.tune", None)  # the command must fail before it tunes
    assert run(*SAVE_COMMAND)[0] == 0
    status, _, error = run(*command, "--id", "person")
    assert status == 1 and "has no column 'person'" in error
    status, _, error = run(*command, "--id", "cluster")
    assert status == 1 and "the file with the clusters has a column of this name" in error


def options_in(text):
    return set(re.findall(r"--[a-z-]+", text))


@pytest.mark.parametrize("command", [("assign", "people.json", "new.csv"), ("cluster", "old.csv", "--sensitive", "sex")])
@pytest.mark.parametrize(
    ("cell", "options", "status"), [("", [], 1), ("", ["--missing=drop"], 0), ("3,5", ["--missing=drop"], 1)]
)
def test_an_error_advises_only_options_that_exist_and_are_not_given(people, run, command, cell, options, status):
    assert run(*SAVE_COMMAND)[0] == 0
    for name in ("old.csv", "new.csv"):
        table = pd.read_csv(name).astype({"pay": object})
        table.loc[3, "pay"] = cell
        table.to_csv(name, index=False)
    actual_status, _, error = run(*command, *options)
    assert actual_status == status
    assert options_in(error) <= options_in(run(command[0], "--help")[1]) - set(options)


def test_groups_that_are_numbers_or_booleans_in_python_are_recognised_in_a_csv_file(people, run):
    groups = pd.DataFrame({"born": np.arange(N) % 2 + 1990, "new": np.arange(N) % 3 == 0})
    model = FairLimit(K, max_deviation=0.1, random_state=0).fit(people[["age", "pay"]][:N], sensitive_features=groups)
    model.saved().save("people.json")
    people[:N].join(groups).to_csv("new.csv", index=False)
    status, output, _ = run("assign", "people.json", "new.csv", "-o", "labels.csv")
    assert status == 0
    assert "note: " not in output
    assert "limits      kept" in output
    labels = model.assign(people[["age", "pay"]][:N], sensitive_features=groups)
    assert (pd.read_csv("labels.csv")["cluster"] == labels).all()


def test_methods_and_files_that_the_commands_cannot_use_are_refused_with_the_reason(people, run):
    k_means = ("cluster", "old.csv", "--sensitive", "sex", "--method", "k-means", "-k", "3", "--save", "people.json")
    status, _, error = run(*k_means)
    assert status == 1 and "--save cannot be used with --method k-means, which guarantees nothing for new rows" in error
    status, _, error = run("assign", "none.json", "new.csv")
    assert status == 1 and "there is no file none.json" in error


def test_a_population_that_has_left_the_limit_is_said_with_the_batch_and_may_become_the_reference(tmp_path):
    rng = np.random.default_rng(0)
    rows, sex = rng.normal(size=(300, 2)), np.repeat(["f", "m"], [90, 210])
    frame = pd.DataFrame({"sex": sex})
    saved = FairLimit(3, max_deviation=0.05, random_state=0).fit(rows, sensitive_features=frame).saved()
    as_fitted, men = pd.DataFrame({"sex": ["f", "m", "m"] * 10}), pd.DataFrame({"sex": ["m"] * 120})
    saved.assign(rng.normal(size=(30, 2)), as_fitted, remember=True)
    assert saved.miss is None and (saved.n_batches, saved.drifted_since) == (1, None)
    new_rows = rng.normal(size=(120, 2))
    for batch in (2, 3):
        with pytest.warns(UserWarning, match="the population has changed since batch 2: sex = "):
            saved.assign(new_rows, men, remember=True)
        assert (saved.n_batches, saved.drifted_since) == (batch, 2)
        share_of_men = (saved.counts[1].sum()) / saved.counts.sum()
        name, share = ("m", share_of_men) if "sex = m" in saved.miss.drift else ("f", 1 - share_of_men)
        assert f"sex = {name} makes up {share:.1%} of old and new rows" in saved.miss.drift
        assert "A new fit is due" in str(saved.miss) and "would mend it" not in str(saved.miss)
    saved.save(str(tmp_path / "saved.json"))
    saved = SavedClustering.load(str(tmp_path / "saved.json"))
    assert (saved.n_batches, saved.drifted_since) == (3, 2)
    labels = saved.assign(new_rows, men, reference="union")
    assert saved.miss is None
    counts = saved.counts + np.stack([np.zeros(3), np.bincount(labels, minlength=3)])
    shares = counts / counts.sum(axis=0)
    assert np.abs(shares - (counts.sum(axis=1) / counts.sum())[:, None]).max() <= 0.05 + 1e-9
    with pytest.raises(InvalidInput, match="reference='new' must be fit or union"):
        saved.assign(new_rows, men, reference="new")


def test_the_command_shows_the_limited_shares_of_each_column_and_takes_the_union_as_reference(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    old = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"]).assign(
        sex=rng.choice(["f", "m"], 200), old=rng.integers(0, 3, 200)
    )
    old.to_csv("old.csv", index=False)
    old[old["old"] == 0].to_csv("new.csv", index=False)
    options = ("--sensitive", "sex", "--sensitive", "old", "-k", "2", "--max-deviation", "0.1", "--save", "old.json")
    assert run("cluster", "old.csv", *options)[0] == 0
    status, output, error = run("assign", "old.json", "new.csv")
    assert status == 0, error
    assert re.search(r"size +sex = f +sex = m +old = 0 +old = 1 +old = 2$", output, re.M) and "f + 0" not in output
    assert "limits      not kept: the population has changed since batch 1: old = " in output
    output = run("assign", "old.json", "new.csv", "--reference", "union")[1]
    share = (2 * (old["old"] == 0).sum()) / (len(old) + (old["old"] == 0).sum())
    assert "reference   shares of old and new rows: sex = f " in output and f"old = 0 {share:.1%}" in output
    assert "limits      kept by old and new rows together" in output


def test_the_command_leads_with_the_verdict_and_lists_every_limit_that_is_missed(people, run):
    assert run(*SAVE_COMMAND)[0] == 0
    people[people["sex"] == "f"][["age", "pay", "sex"]].to_csv("new.csv", index=False)
    output = run("assign", "people.json", "new.csv", "-o", "labels.csv")[1]
    assert output.splitlines()[1].startswith("limits      not kept: the population has changed")
    old, new = pd.read_csv("old_labels.csv")["cluster"], pd.read_csv("labels.csv")["cluster"]
    women = np.bincount(old[SEX[:N] == "f"], minlength=3) + np.bincount(new, minlength=3)
    sizes = np.bincount(old, minlength=3) + np.bincount(new, minlength=3)
    too_many = [ceil(women[cluster] - sizes[cluster] * (SHARE_OF_WOMEN + Fraction("0.05"))) for cluster in range(3)]
    lines = re.findall(r"^breaks +cluster (\d): (\d+) rows of sex = f too many$", output, re.M)
    assert [(int(cluster), int(n)) for cluster, n in lines] == list(enumerate(too_many)) and min(too_many) > 1


def test_new_rows_in_other_units_are_noted(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"height": rng.normal(170, 10, 90).round(1), "sex": np.where(rng.random(90) < 0.5, "f", "m")})
    frame.to_csv("fit.csv", index=False)
    frame.head(20).to_csv("same.csv", index=False)
    frame.head(20).assign(height=frame["height"] / 100).to_csv("metres.csv", index=False)
    assert run("cluster", "fit.csv", "--sensitive", "sex", "-k", "2", "--max-deviation", "0.2", "--save", "fit.json")[0] == 0
    note = "note: most new rows lie more than 10 standard deviations from the fitted table in height; check the units"
    assert (
        note in run("assign", "fit.json", "metres.csv")[1] and "check the units" not in run("assign", "fit.json", "same.csv")[1]
    )
    frame = frame.assign(height=frame["height"].where(frame.index > 2))
    frame.to_csv("fit.csv", index=False)
    fit = ("cluster", "fit.csv", "--sensitive", "sex", "-k", "2", "--max-deviation", "0.2", "--missing", "median")
    assert run(*fit, "--save", "fit.json")[0] == 0
    frame.head(20).assign(height=frame["height"] / 100).to_csv("metres.csv", index=False)
    assert note in run("assign", "fit.json", "metres.csv")[1]  # although three gaps are filled in the units of the fit


@pytest.mark.parametrize("scaling", ["standard", "none"])
def test_labels_are_audited_by_the_features_of_the_saved_clustering(tmp_path, monkeypatch, run, scaling):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"height": rng.normal(170, 10, 90), "sex": rng.choice(["f", "m"], 90), "kind": rng.choice(["a", "b"], 90)}
    )
    frame.to_csv("fit.csv", index=False)
    fit = ("cluster", "fit.csv", "--sensitive", "sex", "-k", "2", "--max-deviation", "0.2", "--categorical", "onehot")
    output = run(*fit, "--scaling", scaling, "--save", "fit.json", "-o", "labels.csv")[1]
    (price,) = re.findall(r"^price of fairness +(\S+)", output, re.M)
    frame.assign(seg=pd.read_csv("labels.csv")["cluster"], weight=rng.normal(70, 9, 90)).to_csv("seg.csv", index=False)
    output = run("audit", "seg.csv", "--labels", "seg", "--sensitive", "sex", "--clustering", "fit.json")[1]
    assert "By the shares of the present table" in output and "\nfeatures: height, kind = a, kind = b\n" in output
    assert f"price of fairness  {price} " in output
