"""New rows are assigned to fitted clusters. Old and new rows together keep the guarantee, in memory and from a file."""

import datetime
import itertools
import json
import re
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clusterlets import FRAC, Coreset, FairFlow, FairLimit, FairLP, InvalidInput, MethodClustering, SavedClustering

RNG = np.random.default_rng(0)
N, N_NEW, K = 300, 90, 3
SEX = RNG.choice(["f", "m"], N + N_NEW, p=[0.4, 0.6])
X = RNG.normal(size=(N + N_NEW, 2)) + np.where(SEX == "f", 1.0, 0.0)[:, None]

DELTA = Fraction(1, 5)
ESTIMATORS = {
    "fair-limit": FairLimit(K, max_deviation=0.05, random_state=0),
    "shares": FairLimit(K, shares={"f": (0.3, 0.5)}, random_state=0),
    "ratio": FairLimit(K, min_ratio="4/5", random_state=0),
    "fair-flow": FairFlow(K, delta=0.2, random_state=0),
    "fair-lp": FairLP(K, delta=0.2, random_state=0),
    "coreset": Coreset(K, delta=0.2, random_state=0),
    "FRAC": FRAC(K, tau=0.2, random_state=0),
}


def fit(name, n=N):
    return ESTIMATORS[name].fit(X[:n], sensitive_features=SEX[:n])


def keeps_guarantee(name, labels, sex, share):
    """Whether every cluster keeps the guarantee of the estimator. ``share`` is the share of women among the fitted rows."""
    for cluster in range(K):
        size, women = int((labels == cluster).sum()), int((sex[labels == cluster] == "f").sum())
        deviation = abs(Fraction(women, size) - share)
        ratio = Fraction(women, size - women) / (share / (1 - share))
        by_name = {
            "fair-limit": deviation <= Fraction(5, 100),
            "shares": Fraction(3, 10) <= Fraction(women, size) <= Fraction(1, 2),
            "ratio": Fraction(4, 5) <= ratio <= Fraction(5, 4),
            "FRAC": all(5 * count >= (sex == group).sum() for group, count in (("f", women), ("m", size - women))),
        }
        within_delta = [
            size * overall * (1 - DELTA) - 1 < count < size * overall / (1 - DELTA) + 1
            for overall, count in ((share, women), (1 - share, size - women))
        ]
        if not by_name.get(name, all(within_delta)):
            return False
    return True


@pytest.mark.parametrize("name", ESTIMATORS)
def test_old_and_new_rows_together_keep_the_guarantee(name):
    model = fit(name)
    share = Fraction(int((SEX[:N] == "f").sum()), N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = model.assign(X[N:], sensitive_features=SEX[N:])
    assert keeps_guarantee(name, np.concatenate([model.labels_, new]), SEX, share)
    nearest = model.predict(X[N:])
    assert (new == nearest).mean() > 0.3 and not np.array_equal(
        model.assign(X[N:][::-1], sensitive_features=SEX[N:][::-1]), new
    )


@pytest.mark.parametrize("name", ["fair-limit", "shares"])
def test_a_few_new_rows_get_the_cheapest_labels_within_the_limits(name):
    """Brute force over all labels of five rows."""
    model, share = fit(name), Fraction(int((SEX[:N] == "f").sum()), N)
    rows, sex = X[N : N + 5], SEX[N : N + 5]
    costs = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    allowed_costs = [
        costs[np.arange(5), labels].sum()
        for labels in map(list, itertools.product(range(K), repeat=5))
        if keeps_guarantee(name, np.concatenate([model.labels_, labels]), np.concatenate([SEX[:N], sex]), share)
    ]
    labels = model.assign(rows, sensitive_features=sex)
    assert costs[np.arange(5), labels].sum() == pytest.approx(min(allowed_costs), rel=0.02)


def test_a_warning_says_by_how_much_the_limits_are_missed_if_no_labels_keep_them():
    model = fit("fair-limit")
    women = np.repeat("f", 200)
    with pytest.warns(UserWarning, match=r"worst share misses its limit by 0\.\d+") as caught:
        new = model.assign(np.tile(X[:1], (200, 1)), sensitive_features=women)
    missed = float(str(caught[0].message).rpartition(" by ")[2].rstrip("."))
    share, labels = np.mean(SEX[:N] == "f"), np.concatenate([model.labels_, new])
    sex = np.concatenate([SEX[:N], women])
    worst = max(abs(np.mean(sex[labels == cluster] == "f") - share) for cluster in range(K))
    assert missed == pytest.approx(worst - 0.05, rel=0.05)


def test_a_warning_names_groups_that_the_fit_did_not_have():
    model = fit("fair-flow")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.assign(X[N:], sensitive_features=np.char.upper(SEX[N:]))
        model.saved().assign(X[N:], np.char.upper(SEX[N:]))
    messages = [str(warning.message) for warning in caught if "no clusters of these rows" not in str(warning.message)]
    assert messages == 2 * ["the clustering knew no F, M; check the spelling, and which column is which"]


def test_new_rows_with_missing_or_too_large_values_are_refused():
    saved = fit("fair-limit").saved()
    for value, message in ((np.nan, "finite numbers"), (1e200, r"feature 1 holds 1e\+200")):
        with pytest.raises(InvalidInput, match=message):
            saved.assign([[0, value]], ["f"])


def test_only_remembered_rows_count_in_later_assignments():
    model = fit("fair-limit")
    before = model.saved().counts.copy()
    model.assign(X[N:], sensitive_features=SEX[N:])
    assert (model.saved().counts == before).all()
    labels = model.assign(X[N:], sensitive_features=SEX[N:], remember=True)
    assert (model.saved().counts.sum(axis=0) - before.sum(axis=0) == np.bincount(labels, minlength=K)).all()
    assert (fit("fair-limit").saved().counts == before).all()  # A new fit forgets remembered rows.


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_clustering_loaded_from_its_file_assigns_the_same_labels(name, tmp_path):
    model = fit(name)
    file = str(tmp_path / "model.json")
    model.saved().save(file)
    loaded = SavedClustering.load(file)
    labels, missed = loaded.assign(X[N:], SEX[N:])
    assert missed == 0 and (labels == model.assign(X[N:], sensitive_features=SEX[N:])).all()


def test_several_columns_and_numbers_as_groups_survive_the_file(tmp_path):
    groups = pd.DataFrame({"sex": SEX, "born": np.arange(N + N_NEW) % 2 + 1990})
    model = FairLimit(K, max_deviation={"sex": 0.05, "born": Fraction(1, 10)}, random_state=0)
    model.fit(X[:N], sensitive_features=groups[:N])
    file = str(tmp_path / "model.json")
    model.saved().save(file)
    labels, missed = SavedClustering.load(file).assign(X[N:], groups[N:])
    assert missed == 0 and (labels == model.assign(X[N:], sensitive_features=groups[N:])).all()


def test_pandas_columns_are_matched_by_name_and_different_indexes_are_refused():
    groups = pd.DataFrame({"sex": SEX, "born": np.arange(N + N_NEW) % 2 + 1990})
    old, new, frame = groups[:N], groups[N:], pd.DataFrame(X[N:], index=range(N, N + N_NEW))
    model = FairLimit(K, max_deviation=0.1, random_state=0).fit(X[:N], sensitive_features=old)
    assign_functions = [
        lambda sex: model.assign(frame, sensitive_features=sex),
        lambda sex: model.saved().assign(frame, sex)[0],
    ]
    for assign in assign_functions:
        assert (assign(new[["born", "sex"]]) == assign(new)).all()
        with pytest.raises(InvalidInput, match="sensitive_features has no column 'born'; the clustering has sex, born"):
            assign(new.rename(columns={"born": "year"}))
        with pytest.raises(InvalidInput, match="different indexes: row 0 .* is 300 in X and 0 in sensitive_features"):
            assign(new.set_axis(range(N_NEW)))
    assert (model.assign(X[N:], sensitive_features=new.to_numpy()) == model.assign(frame, sensitive_features=new)).all()


def test_a_clustering_that_cannot_be_saved_is_refused(tmp_path):
    plain = MethodClustering("k-means", K, random_state=0).fit(X, sensitive_features=SEX)
    with pytest.raises(InvalidInput, match="k-means cannot be saved, because it guarantees nothing for new rows; take FRAC, "):
        SavedClustering.of(plain)
    dates = [datetime.date(2020 + (sex == "f"), 1, 1) for sex in SEX]
    dated = FairLimit(K, max_deviation=0.05, random_state=0).fit(X, sensitive_features=dates)
    with pytest.raises(InvalidInput, match="cannot be saved"):
        dated.saved().save(str(tmp_path / "model.json"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.pop("format"),
        lambda content: content.pop("sha256"),
        lambda content: content.update(method="os.system"),
        lambda content: content["centres"][0].reverse(),
    ],
)
def test_a_file_that_was_changed_or_has_a_different_format_is_refused(tmp_path, spoil):
    file = tmp_path / "model.json"
    fit("fair-limit").saved().save(str(file))
    content = json.loads(file.read_text())
    spoil(content)
    file.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match="is no clustering that `clusterlets cluster --save` wrote"):
        SavedClustering.load(str(file))


# ---- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Writes ``old.csv``, and ``new.csv`` with its columns in a different order; returns the frame of both."""
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
    assert status == 0 and "limits      kept by old and new rows together" in output
    old, new = (pd.read_csv(name)["cluster"].to_numpy() for name in ("old_labels.csv", "labels.csv"))
    assert keeps_guarantee("fair-limit", np.concatenate([old, new]), SEX, Fraction(int((SEX[:N] == "f").sum()), N))
    assert np.sum(json.loads(Path("people.json").read_text())["counts"]) == N + N_NEW
    row = people.iloc[:1]
    row.to_csv("new.csv", index=False)  # a single row, so only one group
    status, output, _ = run("assign", "people.json", "new.csv")
    assert status == 0 and output.startswith("new.csv: 1 new row, 3 clusters of fair-limit\n")


def test_identifiers_are_kept_and_rows_that_lack_a_value_are_refused_or_dropped(people, run):
    """The rows keep their numbers from the file. The error for an empty cell names its line, and says what to do."""
    assert run(*SAVE_COMMAND, "--id", "person_id")[0] == 0
    labels = pd.read_csv("old_labels.csv")
    assert list(labels) == ["row", "person_id", "cluster"] and (labels["person_id"] == people["person_id"][:N]).all()
    new = pd.read_csv("new.csv").assign(person_id=people["person_id"][N:].to_numpy())
    new.loc[4, "pay"], new.loc[7, "sex"] = np.nan, None
    new.to_csv("new.csv", index=False)
    assign = ("assign", "people.json", "new.csv", "--id", "person_id", "-o", "labels.csv")
    status, _, error = run(*assign)
    assert status == 1 and "new.csv, line 6: column 'pay' is empty" in error
    assert "--drop-missing leaves out rows with empty cells" in error and "--features" not in error
    status, output, _ = run(*assign, "--drop-missing")
    assert status == 0 and f"note: 1 of {N_NEW} rows lacks a value and was left out: pay" in output
    assert f"note: 1 of {N_NEW - 1} rows has no sensitive value and was left out" in output
    labels, kept_rows = pd.read_csv("labels.csv"), np.delete(np.arange(N_NEW), [4, 7])
    assert list(labels) == ["row", "person_id", "cluster"] and (labels["row"] == kept_rows).all()
    assert (labels["person_id"] == people["person_id"][N:].to_numpy()[kept_rows]).all()


@pytest.mark.parametrize(
    "command", [("assign", "people.json", "new.csv"), SAVE_COMMAND, ("tune", "old.csv", "--sensitive", "sex")]
)
def test_identifiers_that_cannot_be_kept_are_refused(people, run, monkeypatch, command):
    monkeypatch.setattr("clusterlets.tuning.tune", None)
    assert run(*SAVE_COMMAND)[0] == 0
    status, _, error = run(*command, "--id", "person")
    assert status == 1 and "has no column 'person', which --id names" in error
    status, _, error = run(*command, "--id", "cluster")
    assert status == 1 and "the file with the clusters has a column of this name" in error


@pytest.mark.parametrize("cells", [("", "5"), ("3,5", "4,5")])
def test_messages_name_only_options_that_the_command_has_and_that_are_not_given(people, run, cells):
    assert run(*SAVE_COMMAND)[0] == 0
    for name in ("old.csv", "new.csv"):
        table = pd.read_csv(name).astype({"pay": object})
        table.loc[[3, 5], "pay"] = cells
        table.to_csv(name, index=False)
    for command in (("assign", "people.json", "new.csv"), ("cluster", "old.csv", "--sensitive", "sex")):
        parser_help = run(command[0], "--help")[1]
        for options in ((), ("--drop-missing",)):
            status, _, error = run(*command, *options)
            advised = set(re.findall(r"--[a-z-]+", error))
            # --drop-missing mends empty cells, but not a decimal comma.
            assert status == (cells[0] != "" or not options)
            assert advised <= set(re.findall(r"--[a-z-]+", parser_help)) - set(options)


def test_numbers_and_booleans_as_groups_match_those_of_a_file_if_the_clustering_was_saved_in_python(people, run):
    groups = pd.DataFrame({"born": np.arange(N) % 2 + 1990, "new": np.arange(N) % 3 == 0})
    model = FairLimit(K, max_deviation=0.1, random_state=0).fit(people[["age", "pay"]][:N], sensitive_features=groups)
    model.saved().save("people.json")
    people[:N].join(groups).to_csv("new.csv", index=False)
    status, output, _ = run("assign", "people.json", "new.csv", "-o", "labels.csv")
    assert status == 0 and "note: " not in output and "limits      kept" in output
    labels = model.assign(people[["age", "pay"]][:N], sensitive_features=groups)
    assert (pd.read_csv("labels.csv")["cluster"] == labels).all()


def test_methods_and_files_that_the_commands_cannot_use_are_refused_with_the_reason(people, run):
    options = [word if word != "fair-limit" else "k-means" for word in SAVE_COMMAND if word not in ("--max-deviation", "0.05")]
    status, _, error = run(*options)
    assert status == 1 and "--save has no effect with --method k-means" in error
    assert run(*SAVE_COMMAND)[0] == 0
    status, _, error = run("assign", "old.csv", "new.csv")
    assert status == 1 and "old.csv is no clustering" in error
    status, _, error = run("assign", "none.json", "new.csv")
    assert status == 1 and "none.json" in error and "Traceback" not in error
