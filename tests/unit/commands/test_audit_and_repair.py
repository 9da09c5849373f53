"""The commands for clusters that people already have: audit shows them, and repair changes as few rows as possible."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.preprocessing import scale

from clusterlets import SavedClustering


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, pay = rng.normal(size=(2, 600))
    frame = pd.DataFrame(
        {
            "id": np.arange(600) + 1000,
            "age": age,
            "pay": pay,
            "sex": np.where(rng.random(600) < 0.3 + 0.3 * (age > 0), "f", "m"),
            "born": rng.choice(["early", "late"], 600),
            "segment": np.where(age > 0.5, "premium", np.where(pay > 0, "basic", "none at all")),
        }
    )
    frame.loc[[3, 17], "segment"] = None
    frame.to_csv("people.csv", index=False)
    return frame.dropna()


OPTIONS = ("people.csv", "--labels", "segment", "--sensitive", "sex", "--id", "id")


def shares_of_women(frame, segments):
    return (frame["sex"] == "f").groupby(segments).mean()


def test_audit_prints_sizes_shares_broken_limits_and_the_price(people, run):
    status, output, error = run("audit", *OPTIONS, "--sensitive", "born", "--max-deviation", "0.05", "--report", "page.html")
    assert status == 0, error
    assert "2 rows of 600 without a label left out" in output
    share, shares = (people["sex"] == "f").mean(), shares_of_women(people, people["segment"])
    n_premium = (people["segment"] == "premium").sum()
    too_many = np.ceil(n_premium * (shares["premium"] - share - 0.05))
    assert f"breaks      cluster premium: {too_many:.0f} rows of sex = f too many" in output
    assert f"limits      broken by {((shares - share).abs() > 0.05).sum()} cluster" in output and "price of fairness" in output
    assert "age" in output.partition("what stands out")[2]
    table_of_sex = output.partition("sex by itself")[2].partition("born by itself")[0]
    assert f"{shares['premium']:.1%}" in table_of_sex and "early" in output.partition("born by itself")[2]
    page = Path("page.html").read_text(encoding="utf-8")
    assert "none at all" in page and "sex by itself" in page and "born by itself" in page
    # The features are scaled by the rows with a label alone.
    X = scale(people[["age", "pay"]])
    costs = [((X[rows] - X[rows].mean(axis=0)) ** 2).sum() for rows in people.groupby("segment").indices.values()]
    price = sum(costs) / KMeans(3, n_init=50, random_state=0).fit(X).inertia_
    people_and_gaps = pd.read_csv("people.csv").assign(age=lambda frame: frame["age"].where(frame["segment"].notna(), 50))
    people_and_gaps.to_csv("people.csv", index=False)
    assert f"price of fairness  {price:.3f} " in run("audit", *OPTIONS)[1]
    # Nothing is said about combinations of the columns unless they are asked for.
    assert "f + early" not in output + page and "worst" not in output
    assert "f + early" in run("audit", *OPTIONS, "--sensitive", "born", "--all-scores")[1].partition("combinations\n")[2]


@pytest.mark.parametrize("objective", ["moves", "cost"])
def test_repair_writes_labels_within_the_limit_and_what_moved(people, run, objective):
    command = ("repair", *OPTIONS, "--max-deviation", "0.05", "--objective", objective, "-o", "repaired.csv")
    status, output, error = run(*command)
    assert status == 0, error
    repaired = pd.read_csv("repaired.csv")
    assert list(repaired) == ["row", "id", "before", "cluster", "moved"]
    assert repaired["id"].tolist() == people["id"].tolist() and repaired["before"].tolist() == people["segment"].tolist()
    assert (repaired["moved"] == (repaired["before"] != repaired["cluster"])).all()
    deviations = shares_of_women(people.reset_index(), repaired["cluster"]) - (people["sex"] == "f").mean()
    assert len(deviations) == 3 and deviations.abs().max() <= 0.05
    given = (shares_of_women(people, people["segment"]) - (people["sex"] == "f").mean()).abs().max()
    X, prices = scale(people[["age", "pay"]]), []
    for labels in (people["segment"].to_numpy(), repaired["cluster"].to_numpy()):
        costs = [((X[labels == name] - X[labels == name].mean(axis=0)) ** 2).sum() for name in set(labels)]
        prices.append(sum(costs) / KMeans(3, n_init=50, random_state=0).fit(X).inertia_)
    assert output.splitlines()[1:4] == [
        "limits      kept by every cluster now   (max_deviation 0.05)",
        f"deviation   {given:.3f} before, {deviations.abs().max():.3f} now   (the largest from the shares of this table)",
        f"price       {prices[0]:.3f} before, {prices[1]:.3f} now   (cost over that of plain k-means)",
    ]
    assert f"moved       {repaired['moved'].sum()} rows" in output and " must move)" in output and "cost        " in output
    moves = repaired[repaired["moved"]].assign(sex=people["sex"].to_numpy()[repaired["moved"]])
    counts = moves.groupby(["before", "cluster", "sex"]).size()
    for (before, after, sex), n in counts.items():
        assert f" of {sex} from {before} to {after}" in output and f"    {n} row" in output


def test_repair_needs_no_features_and_the_result_passes_an_audit(people, run):
    people[["id", "sex", "segment"]].to_csv("people.csv", index=False)
    command = ("repair", *OPTIONS, "--no-features", "--max-deviation", "0.05", "-o", "repaired.csv")
    status, output, error = run(*command)
    assert status == 0, error
    assert "cost" not in output and "deviation   " in output.splitlines()[2]
    repaired = pd.read_csv("repaired.csv")
    people.assign(segment=repaired["cluster"].to_numpy()).to_csv("people.csv", index=False)
    assert "limits      kept by every cluster" in run("audit", *OPTIONS, "--max-deviation", "0.05")[1]


@pytest.mark.parametrize("options", [[], ["--no-features"]])
def test_moves_name_groups_so_that_one_knows_what_they_are(people, run, options):
    frame = people.assign(city=np.where(people["born"] == "early", "yes", "no"), sex=(people["sex"] == "f").astype(int))
    frame.to_csv("people.csv", index=False)
    output = run("repair", *OPTIONS, "--max-deviation", "0.03", *options)[1]
    assert re.search(r"    \d+ rows? of sex = [01] from ", output)
    output = run("repair", *OPTIONS, "--sensitive", "city", "--max-deviation", "0.03", *options)[1]
    assert re.search(r"    \d+ rows? of sex = [01] \+ city = (yes|no) from ", output)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--labels", "segmnt"), "has no column 'segmnt' (did you mean 'segment'?)"),
        (("--labels", "sex"), "--labels sex is also a sensitive column or a feature"),
        (("--labels", "segment", "--max-deviation", "0.05", "--min-ratio", "0.8"), "two kinds of bound"),
        (("--labels", "segment", "--max-deviation", "3"), "max_deviation"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "repair"])
def test_wrong_options_are_refused_with_the_reason(people, run, command, options, message):
    status, _, error = run(command, "people.csv", "--sensitive", "sex", *options)
    assert status == 1 and message in error and "Traceback" not in error


def test_repair_gives_the_proof_if_no_labels_keep_the_limit(people, run):
    people.iloc[:4].assign(sex=list("fmmm"), segment=list("aabb")).to_csv("people.csv", index=False)
    status, _, error = run("repair", *OPTIONS, "--max-deviation", "0.01")
    assert status == 1 and "No 2 clusters keep the limits (proved); at most 1 is possible" in error


def test_audit_leads_with_a_verdict_and_is_strict_if_asked(people, run):
    status, output, _ = run("audit", *OPTIONS, "--max-deviation", "0.05", "--strict", "--report", "page.html")
    assert status == 3
    verdict = output.splitlines()[1]
    share, shares = (people["sex"] == "f").mean(), shares_of_women(people, people["segment"])
    worst = (shares - share).abs().idxmax()
    assert verdict.startswith(f"Limits broken by {((shares - share).abs() > 0.05).sum()} cluster")
    assert f"Largest deviation {abs(shares[worst] - share):.3f}, cluster {worst} (" in verdict and "the cost is " in verdict
    page = Path("page.html").read_text(encoding="utf-8")
    assert f'<p class="lead">{verdict}</p>' in page and "A fair clustering" not in page
    assert page.index('id="picture"') < page.index('id="clusters"')
    assert run("audit", *OPTIONS, "--max-deviation", "0.9", "--strict")[0] == 0
    status, _, error = run("audit", *OPTIONS, "--strict")
    assert status == 1 and "--strict needs a limit" in error


def test_repaired_clusters_are_saved_with_their_limits_and_can_be_assigned_to_and_audited(people, run):
    options = ("--max-deviation", "0.05", "--max-cluster-size", "220", "-o", "repaired.csv")
    status, output, error = run("repair", *OPTIONS, *options, "--save", "people.json", "--report", "page.html")
    assert status == 0, error
    assert "limits      kept by every cluster now   (max_deviation 0.05)" in output
    assert output.splitlines()[-2:] == ["clustering: people.json", "report: page.html"]
    repaired = pd.read_csv("repaired.csv")
    assert repaired["cluster"].value_counts().max() <= 220
    assert "Limits kept by every cluster: max_deviation 0.05." in Path("page.html").read_text(encoding="utf-8")
    saved = SavedClustering.load("people.json")
    assert saved.parameters == {"max_deviation": 0.05, "min_cluster_size": 1, "max_cluster_size": 220}
    sizes = repaired["cluster"].value_counts().sort_index()
    assert saved.counts.sum(axis=0).tolist() == sizes.tolist()
    X = scale(people[["age", "pay"]])
    means = [X[repaired["cluster"] == name].mean(axis=0) for name in sizes.index]
    assert saved.centres == pytest.approx(np.array(means))
    # New rows, of another population, are judged by the shares of the table that was repaired.
    rng = np.random.default_rng(1)
    new = pd.DataFrame({"age": rng.normal(size=80), "pay": rng.normal(size=80), "sex": np.repeat(["f", "m"], [60, 20])})
    new.assign(segment="all").to_csv("new.csv", index=False)
    status, output, _ = run("assign", "people.json", "new.csv", "-o", "labels.csv", "--save", "later.json")
    assigned, later = pd.read_csv("labels.csv")["cluster"].value_counts(), SavedClustering.load("later.json")
    assert status == 0 and later.cluster_names == sizes.index.tolist()
    assert (later.counts.sum(axis=0) - sizes == assigned.reindex(sizes.index, fill_value=0)).all()
    assert re.search(rf"^ *none at all +{sizes['none at all']} +{assigned.get('none at all', 0)} ", output, re.MULTILINE)
    pd.concat([new] * 5).assign(sex="f").to_csv("women.csv", index=False)
    output = run("assign", "later.json", "women.csv")[1]
    assert re.search("the largest miss is in cluster (basic|none at all|premium): ", output)
    assert re.search("^breaks      cluster (basic|none at all|premium): ", output, re.MULTILINE)
    audit = ("audit", "new.csv", "--labels", "segment", "--sensitive", "sex", "--strict")
    assert run(*audit, "--max-deviation", "0.05")[0] == 0
    status, output, _ = run(*audit, "--clustering", "people.json")
    share = (people["sex"] == "f").mean()
    too_many = np.ceil(80 * (0.75 - share - 0.05))
    assert status == 3 and f"breaks      cluster all: {too_many:.0f} rows of " in output
    assert "by the shares of the table of people.json" in output
    status, _, error = run("repair", *audit[1:-1], "--clustering", "people.json")
    assert status == 1 and "even one cluster of all rows breaks them" in error
