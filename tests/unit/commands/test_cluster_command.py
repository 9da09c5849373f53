"""``clusterlets cluster`` prints and writes the clusters of an estimator, and refuses faulty options in plain words."""

import math
import re
import shlex
import struct
import sys
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import silhouette_score

from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.estimators import FRAC, FRACOE, ClusterletClustering, FairLimit, fairness_report
from clusterlets.tables.table import standardise

COMPILING_NOTE = "clusterlets cluster: compiling once for this machine; this may take half a minute.\n"


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A frame of 300 people, also written to ``people.csv`` in the working directory."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(40, 10, 300), 1),
            "income": np.round(rng.normal(30, 4, 300) + np.tile([0, 30, 60], 100), 2),
            "sex": np.where(rng.random(300) < 0.3, "female", "male"),
            "race": rng.choice(["black", "white", "asian"], 300),
            "job": rng.choice(["nurse", "clerk"], 300),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


@pytest.fixture
def cluster(run, people):
    """A function that runs the command on ``people.csv`` with sex as the sensitive column."""
    return lambda *options: run("cluster", "people.csv", "--sensitive", "sex", *options)


def test_the_output_that_is_shown_is_named(cluster):
    for which, shown in (([], "fair"), (["--which", "nearest"], "nearest")):
        assert f"FRAC ({shown}), k = 5, seed 0: 5 clusters" in cluster("--method", "FRAC", *which)[1]
    status, _, error = cluster("--method", "FRAC", "--which", "far")
    assert status == 2 and "--which: invalid choice: 'far' (choose from" in error


@pytest.mark.parametrize(
    ("options", "estimator", "sensitive"),
    [
        ([], FairLimit(5, random_state=0), ["race", "sex"]),
        (["--clusters", "3", "--max-deviation", "0.1"], FairLimit(3, max_deviation=0.1, random_state=0), ["sex"]),
        (
            ["--method", "G-B", "--clusterlets", "6", "--hops", "2", "--seed", "5"],
            ClusterletClustering(6, hops=2, random_state=5),
            ["race", "sex"],
        ),
        (["--method", "g-b", "-k", "4"], ClusterletClustering(n_clusters=4, random_state=0), ["sex"]),
        (
            ["--method", "C", "--omega", "0", "--clusterlets", "4"],
            ClusterletClustering(4, matcher="C", omega=0, random_state=0),
            ["sex"],
        ),
        (["--method", "frac", "-k", "4", "--tau", "0.1"], FRAC(4, tau=0.1, random_state=0), ["sex"]),
        (["--method", "frac", "-k", "4", "--which", "nearest"], FRAC(4, output="nearest", random_state=0), ["sex"]),
        (["--method", "frac-oe", "-k", "4", "--n-init", "3"], FRACOE(4, n_init=3, random_state=0), ["sex"]),
    ],
)
def test_the_output_file_contains_the_clusters_of_the_estimator(people, run, tmp_path, options, estimator, sensitive):
    sensitive_options = [argument for name in sensitive for argument in ("--sensitive", name)]
    common_options = ["people.csv", *sensitive_options, "--scaling", "standard", "--features", "income,age", "-o", "new/l.csv"]
    status, output, _ = run("cluster", *common_options, *options)
    X = standardise(people[["income", "age"]].to_numpy())
    rows, clusters = estimator.fit(X, sensitive_features=people[sensitive]).memberships_.nonzero()
    written = pd.read_csv(tmp_path / "new" / "l.csv")
    assert status == 0 and all(f"; {name}: " in output for name in sensitive) and list(written) == ["row", "cluster"]
    assert written.to_numpy().tolist() == [[*pair] for pair in zip(rows, clusters)]


@pytest.fixture
def five_clusters(people):
    """The features, the labels of five clusters and their fairness report."""
    X = people[["age", "income"]].to_numpy()
    labels = FairLimit(5, random_state=0).fit_predict(X, sensitive_features=people["sex"])
    return X, labels, fairness_report(X, labels, people["sex"])


def test_the_printed_scores_are_those_of_the_fairness_report(people, cluster, five_clusters):
    output = cluster("-k", "5", "--scaling", "none", "--all-scores")[1]
    X, labels, report = five_clusters
    lines = {line.split()[0]: line for line in output.splitlines() if line}
    numbers = {name: [float(text) for text in re.findall(r"-?\d+\.\d+", line)] for name, line in lines.items()}
    share = (people["sex"] == "female").mean()
    assert f"300 rows, 2 features (as they are); sex: female {share:.1%}, male {1 - share:.1%}" in output
    assert numbers["deviation"] == [round(report[f"deviation_{statistic}"], 3) for statistic in ("mean", "std", "max")]
    assert numbers["cohesion"][0] == round(report["cohesion"], 3)
    labels_of_starts = (kmeans_labels(X, report["n_clusters"], np.random.default_rng(seed)) for seed in range(50))
    plain_cost = min(moments_by_label(X, labels, report["n_clusters"])[1].sum() for labels in labels_of_starts)
    assert numbers["price"] == [round(report["kmeans_cost"] / plain_cost, 3)]
    assert numbers["silhouette"] == [round(silhouette_score(X, labels), 3)] == [round(report["silhouette"], 3)]
    assert numbers["bounds"] == [round(report["delta_min"], 3)]
    assert f", {report['additive_violation']} rows off " in lines["bounds"]
    costs = [float(f"{report[name]:.4g}") for name in ("social_cost", "kmedian_cost", "kcenter_cost")]
    assert [float(text) for text in re.findall(r"(?:social|k-median|k-center) ([\d.e+]+)", lines["costs"])] == costs


def test_each_cluster_is_listed_with_its_size_deviation_and_shares(people, cluster, five_clusters):
    output = cluster("-k", "5", "--scaling", "none")[1]
    _, labels, report = five_clusters
    share = (people["sex"] == "female").mean()
    for label in range(report["n_clusters"]):
        sex_of_cluster = people["sex"][labels == label]
        (cells,) = re.findall(rf"^ *{label} +(\d+) +(\S+) +(\S+)% +(\S+)%$", output, re.MULTILINE)
        share_of_women = (sex_of_cluster == "female").mean()
        assert [float(cell) for cell in cells] == [
            len(sex_of_cluster),
            round(abs(share_of_women - share), 3),
            round(100 * share_of_women, 1),
            round(100 - 100 * share_of_women, 1),
        ]


def violation_of_delta(composition, group_counts, delta):
    """The largest number of instances, unrounded, by which a cluster's count of a group is outside the bounds of ``delta``.

    For a cluster of n and a group with share r of the table, the bounds are n r (1 - delta) and n r / (1 - delta).
    """
    expected = composition.sum(axis=1, keepdims=True) * group_counts / group_counts.sum()
    return max((composition - expected / (1 - delta)).max(), (expected * (1 - delta) - composition).max())


def violation_of_tau(composition, group_counts, tau):
    """The largest number of instances, unrounded, by which a cluster holds less than the share ``tau`` of a group."""
    return (tau * group_counts - composition).max()


METHOD_THAT_BREAKS_ITS_BOUND = """
import numpy as np
from clusterlets.methods import PARTS, Method, Real

class Careless(Method):
    name = "careless"
    parameters = {"tau": Real(0, 1, bound=PARTS)}

    def fit(self, X, groups, n_clusters, random_state, tau=0):
        return np.arange(len(X)) // 50
"""


@pytest.mark.parametrize(
    ("options", "requested", "violation", "bound"),
    [
        (["--method", "fair-flow", "--parameters", "delta=0.1"], "delta 0.1", violation_of_delta, 0.1),
        (["--method", "frac", "--tau", "0.1"], "tau 0.1", violation_of_tau, 0.1),
        (["--method", "FRAC"], "tau 1/4", violation_of_tau, 0.25),
        (["--method", "careless.py", "--parameters", "tau=0.25"], "tau 0.25", violation_of_tau, 0.25),
    ],
)
def test_the_output_says_whether_the_requested_bound_is_kept(people, run, tmp_path, options, requested, violation, bound):
    (tmp_path / "careless.py").write_text(METHOD_THAT_BREAKS_ITS_BOUND)
    output = run("cluster", "people.csv", "--sensitive", "race", "-k", "4", *options, "-o", "l.csv")[1]
    labels = pd.read_csv("l.csv")["cluster"]
    composition = pd.crosstab(labels, people["race"]).to_numpy()
    n_rows_off = max(0, int(np.ceil(violation(composition, composition.sum(axis=0), bound) - 1e-9)))
    verdict = {0: "kept", 1: "kept up to whole rows, 1 row off"}.get(n_rows_off, f"not kept, {n_rows_off} rows off")
    assert f"\nasked for   {requested}: {verdict}   (" in output
    assert (n_rows_off > 1) == (options[1] == "careless.py")


def test_the_output_names_a_requested_balance_instead_of_its_delta(people, cluster):
    options = ["-k", "3", "--method", "fair-flow", "--parameters", "balance=0.4", "-o", "l.csv"]
    output = cluster(*options)[1]
    composition = pd.crosstab(pd.read_csv("l.csv")["cluster"], people["sex"]).to_numpy()
    assert (composition.min(axis=1) >= 0.4 * composition.max(axis=1)).all()
    assert "\nasked for   balance 0.4: kept   (" in output and "asked for   delta" not in output


def test_the_output_mentions_no_bound_for_methods_without_one(cluster):
    for options in (["--method", "G-B"], ["--method", "k-means"]):
        output = cluster("-k", "4", *options)[1]
        assert "\nasked for" not in output and output.splitlines()[1].startswith("No limit was asked for. Largest deviation 0.")


@pytest.mark.parametrize("method", [["scaff-tree"], ["frac", "--tau", "0"]])
def test_fewer_clusters_than_requested_are_noted_on_standard_output(people, cluster, method):
    people["age"] = people["income"] = np.arange(300) % 3
    people.to_csv("people.csv", index=False)
    status, output, error = cluster("-k", "5", "--method", *method)
    assert status == 0 and error.replace(COMPILING_NOTE, "") == ""
    assert "note: 3 clusters instead of the requested 5\n" in output


COMPILING_METHOD = """
from numba import njit
import numpy as np
from clusterlets.methods import Method

class Compiling(Method):
    name = "compiling"

    def fit(self, X, groups, n_clusters, random_state):
        return np.arange(len(X)) % njit(lambda x: x)(njit(lambda x: 2 * x)(1))
"""


def test_compiling_is_announced_once_even_if_several_kernels_are_compiled(cluster, tmp_path):
    (tmp_path / "compiling.py").write_text(COMPILING_METHOD)
    cluster("--method", "k-means", "-k", "2")  # compiles or loads all other kernels
    status, _, message = cluster("--method", "compiling.py", "-k", "2")
    assert status == 0 and message == COMPILING_NOTE
    assert cluster("--method", "k-means", "-k", "2")[2] == ""


def test_of_many_clusters_only_the_twenty_that_deviate_most_are_listed(people, cluster):
    output = cluster("--method", "D", "--clusterlets", "40", "--hops", "1")[1]
    deviations = [float(deviation) for deviation in re.findall(r"^ *\d+ +\d+ +(0\.\d+) ", output, re.MULTILINE)]
    (n_unlisted,) = re.findall(r"and (\d+) more, deviating less", output)
    (n_clusters,) = re.findall(r": (\d+) clusters$", output, re.MULTILINE)
    assert len(deviations) == 20 and deviations == sorted(deviations, reverse=True) and int(n_unlisted) == int(n_clusters) - 20
    assert "price of fairness  not defined where clusters overlap" in output
    assert re.search(r"^silhouette  -?0\.\d+   \(over rows, each in the nearest of its clusters;", output, re.MULTILINE)


# Part of the message -> options that are refused for people.csv.
OPTION_ERRORS = {
    "column 'job' holds": "--features age,job",
    "-k 301 is more than the 300 rows": "-k 301",
    "--clusterlets 301 is more than the 300 rows": "--method C --clusterlets 301",
    "--hops needs --clusterlets": "--method B --clusters 4 --hops 2",
    "(did you mean 'G-B'?)": "--method GB",
    "--parameters: FRAC has no parameter 'hops'; its parameters: tau, ": "--method frac --parameters hops=2",
    "FRAC does not accept these parameters: tau: 0.3; with 4 clusters it must be a number from 0 to 1/4": (
        "--method frac -k 4 --tau 0.3"
    ),
    "--sensitive names 'sex' twice": "--sensitive sex",
    "--features names 'age' twice": "--features age,income,age",
    "'delta' is given twice": "--method fair-flow --parameters delta=0.2 --parameters delta=0.3",
    "'max-deviation' cannot be the name of a parameter": "--method fair-flow --parameters max-deviation=0.2",
    "the separator 'ab' cannot separate cells": "--separator ab",
    "must end in .png": "--plot people.bmp",
    "must end in .html": "--report page.txt",
}
# Part of the message -> arguments that are refused.
ERRORS = {
    "there is no file": "nobody.csv --sensitive sex",
    "line 4: column 'age' is empty": "gap.csv --sensitive sex",
    "line 6: column 'age' holds 'old'": "word.csv --sensitive sex",
    "every row has the same group": "women.csv --sensitive sex --method frac",
    "no column 'sxe' (did you mean 'sex'?)": "people.csv --sensitive sxe",
    "cannot be both sensitive and a feature": "people.csv --sensitive age --features age,income",
    "column 'joined': 300 rows have 200 different values": "dates.csv --sensitive joined --method fair-limit",
    **{message: f"people.csv --sensitive sex {options}" for message, options in OPTION_ERRORS.items()},
}


@pytest.mark.parametrize("message", ERRORS)
def test_an_error_has_a_readable_message_and_leaves_no_output_file(people, run, tmp_path, message):
    for name, row, value in (("gap", 2, None), ("word", 4, "old")):
        broken = people.astype({"age": object})
        broken.loc[row, "age"] = value
        broken.to_csv(f"{name}.csv", index=False)
    people.assign(sex="female").to_csv("women.csv", index=False)
    people.assign(joined=[f"day {number % 200}" for number in range(300)]).to_csv("dates.csv", index=False)
    status, _, error = run("cluster", *ERRORS[message].split(), "-o", "labels.csv")
    assert status == 1 and message in error and "Traceback" not in error
    assert not (tmp_path / "labels.csv").exists()


@pytest.mark.parametrize("names", [("a.png", "./b/../a.png"), ("link.png", "a.png")])
@pytest.mark.parametrize("exists", [True, False])
def test_writing_clusters_and_picture_to_one_file_is_refused(cluster, tmp_path, names, exists):
    (tmp_path / "b").mkdir()
    (tmp_path / "link.png").symlink_to("a.png")
    if exists:
        (tmp_path / "a.png").write_text("before")
    status, output, error = cluster("-o", names[0], "--plot", names[1])
    assert (status, output) == (1, "") and "are the same file, so one would be lost" in error
    assert not exists or (tmp_path / "a.png").read_text() == "before"


@pytest.mark.parametrize(
    ("options", "own_parameters"),
    [("--tau 0.1", "fair-limit: --max-deviation, "), ("--method frac --clusterlets 9", "FRAC: --tau, "), ("--max-dev 0.1", "")],
)
def test_an_option_that_the_method_lacks_is_refused_with_those_that_it_has(cluster, options, own_parameters):
    status, _, error = cluster(*options.split())
    assert status == 2 and f"unrecognized arguments: {' '.join(options.split()[-2:])}; the parameters of " in error
    assert own_parameters in error


def test_the_help_lists_the_parameters_of_the_method_last_and_fits_two_screens(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for method, parameter in (("FRAC", "--tau VALUE"), ("D", "--clusterlets N"), ("fair-limit", "--n-init VALUE")):
        _, output, _ = run("cluster", "--method", method, "--help")
        groups = re.findall(r"^([a-z][\w -]*?)(?: \(.*\))?:$", output, re.MULTILINE)
        own = f"other parameters of {method}"
        assert groups in (["options", "table", "clusters", *limits, "output", own] for limits in ([], ["limits"]))
        assert f"  {parameter} " in output and "a whole number from 1 to" in output
    _, output, _ = run("cluster", "--help")
    groups = re.findall(r"^([a-z][\w -]*?):$", output, re.MULTILINE)
    assert groups == ["options", "table", "clusters", "limits", "output", "examples"]
    assert n_rows_on_screen(output) <= 66 and "--max-deviation" in output and "--n-init" not in output
    assert n_rows_on_screen(run("tune", "--help")[1]) <= 60


def n_rows_on_screen(text):
    return sum(max(1, math.ceil(len(line) / 80)) for line in text.splitlines())


def test_the_help_of_an_own_method_lists_its_parameters(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from clusterlets.methods import Method\nfrom clusterlets.parameters import Real\n"
        "class Mine(Method):\n    name = 'mine'\n"
        "    parameters = {'share': [0.1], 'weight': Real(0, 2, meaning='Weight of 50 % or more.')}\n"
        "    def fit(self, X, groups, n_clusters, random_state, share=0.5, weight=1):\n        return groups\n"
    )
    status, output, _ = run("cluster", "--method", str(tmp_path / "mine.py"), "--help")
    assert status == 0
    assert output.partition("\nparameters of mine, set by --parameters:\n")[2].splitlines()[:2] == [
        "  share: (anything; default: 0.5)",
        "  weight: Weight of 50 % or more. (a number from 0 to 2; default: 1)",
    ]


def test_a_table_with_a_single_group_is_warned_about(people, cluster):
    people.assign(sex="female").to_csv("people.csv", index=False)
    assert "warning: every row has the same value of sex, so no clustering" in cluster("-k", "2")[1]


@pytest.mark.parametrize("option", ["-k 0", "-k 1_0", f"-k {'9' * 20}", "--seed -1", "--seed 4294967296"])
def test_a_bad_number_is_refused_before_any_file_is_read(option, run):
    status, _, error = run("cluster", "nobody.csv", "--sensitive", "sex", *option.split())
    assert status == 2 and f"{option.split()[1][:60]!r} is no" in error


def test_an_empty_value_of_an_option_is_refused(cluster):
    status, _, error = cluster("-o", "")
    assert status == 2 and "argument -o/--output: it is empty" in error


def test_the_examples_in_the_help_text_run(people, run, tmp_path):
    examples = re.findall(r"^  clusterlets cluster (.*)$", run("cluster", "--help")[1], re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        assert run("cluster", *shlex.split(example))[0] == 0, example
    assert (tmp_path / "labels.csv").exists() and (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("option", "file"), [("--plot", "p.png"), ("--report", "p.html")])
def test_without_matplotlib_plots_and_reports_are_refused_before_clustering_starts(cluster, monkeypatch, option, file):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, output, error = cluster(option, file)
    assert (status, output) == (1, "") and "needs matplotlib" in error and "'.[tables]'" in error


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_names_of_groups_are_drawn_literally_and_cut_if_too_long(people, run, tmp_path, suffix):
    odd_names = ["$0-$20k", "$\\frac{$", "_hidden", "a & b < c", "x" * 20_000]
    people["race"] = [odd_names[row % 5] for row in range(300)]
    people.to_csv("people.csv", index=False)
    assert run("cluster", "people.csv", "--sensitive", "race", "-k", "3", "--plot", f"p.{suffix}")[0] == 0
    picture = (tmp_path / f"p.{suffix}").read_bytes()
    if suffix == "png":
        width, height = struct.unpack(">II", picture[16:24])
        assert width == 12.5 * 150 and height < width  # 12.5 inches at 150 dots per inch
    if suffix == "svg":
        assert [odd_name for odd_name in odd_names[:4] if f"<!-- {escape(odd_name)} -->".encode() not in picture] == []
        assert b"<!-- " + 17 * b"x" + "…".encode() in picture


def test_the_title_gives_the_number_of_groups_if_the_legend_cannot_hold_them(people, run, monkeypatch):
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *args, **kwargs: figures.append(figure))
    for n_groups in (18, 19):
        people["race"] = [f"town {row % n_groups:02}" for row in range(300)]
        people.to_csv("people.csv", index=False)
        assert run("cluster", "people.csv", "--sensitive", "race", "-k", "3", "--plot", "p.png")[0] == 0
    with_legend, without_legend = figures
    assert [text.get_text() for text in with_legend.legends[0].get_texts()] == [f"town {number:02}" for number in range(18)]
    assert not without_legend.legends and "(19 groups, from left to right" in without_legend.axes[0].get_title()


def test_where_plain_k_means_keeps_the_limit_its_clusters_are_a_start_and_nothing_costs_more(people, cluster):
    people["sex"] = np.where(np.arange(300) % 2, "female", "male")
    people.to_csv("people.csv", index=False)
    output = cluster("-k", "2", "--max-deviation", "0.2")[1]
    assert "note: plain k-means, which does not know the groups, keeps the limit too" in output
    assert "start_deviation=1" in output and float(re.findall(r"^price of fairness  (\S+)", output, re.M)[0]) <= 1
    assert "plain k-means, which does not" not in cluster("-k", "2", "--max-deviation", "0")[1]


def test_k_means_has_as_many_starts_as_the_reference_of_its_price(cluster):
    output = cluster("--method", "k-means", "-k", "6")[1]
    assert "k-means, k = 6, n_init=50" in output
    assert float(re.findall(r"^price of fairness  (\S+)", output, re.M)[0]) == pytest.approx(1, abs=0.02)


def test_a_limit_that_lets_a_cluster_lack_a_small_group_is_warned_about(people, cluster):
    people["sex"] = ["rare"] * 3 + ["female", "male", "male"] * 99
    people.to_csv("people.csv", index=False)
    warning = "warning: max_deviation lets a cluster have none of sex = rare (1.0%): so small a share is within it"
    assert warning in cluster("-k", "2")[1] and warning not in cluster("-k", "2", "--max-deviation", "0.009")[1]


def test_the_second_line_is_the_verdict_with_named_groups_and_rare_scores_need_an_option(people, cluster):
    people["sex"] = (people["sex"] == "female").astype(int)
    people.to_csv("people.csv", index=False)
    output = cluster("-k", "3", "--max-deviation", "0.1", "-o", "labels.csv")[1]
    labels, sex = pd.read_csv("labels.csv")["cluster"], people["sex"]
    shares = sex.groupby(labels).mean()
    worst = (shares - sex.mean()).abs().idxmax()
    values = [f"{value:.1%}" for value in (1 - shares[worst], 1 - sex.mean())]
    (price,) = re.findall(r"^price of fairness  (\S+)", output, re.M)
    assert output.splitlines()[1] == (
        f"Limits: max_deviation 0.1 kept. Largest deviation {abs(shares[worst] - sex.mean()):.3f}, cluster {worst} "
        f"({(labels == worst).sum()} rows): sex = 0 makes up {values[0]} in place of {values[1]}; the cost is {price} times "
        "that of plain k-means."
    )
    rare = ("delta", "k-median", "k-center", "social")
    assert not any(name in output for name in rare)
    assert all(name in cluster("-k", "3", "--all-scores")[1] for name in rare)


def test_parameters_of_several_options_are_joined(cluster):
    options = ["--method", "fair-flow", "-k", "4", "--parameters", "delta=0.2", "--parameters", "n_init=2"]
    assert "fair-flow, k = 4, delta=0.2,n_init=2, seed 0" in cluster(*options)[1]


def test_groups_that_differ_only_in_case_give_a_warning(people, cluster):
    people.assign(sex=np.where(np.arange(300) < 3, "Male", people["sex"])).to_csv("people.csv", index=False)
    status, output, errors = cluster("--method", "k-means", "-k", "2")
    assert status == 0 and "these groups look alike: 'Male' and 'male'" in output and "look alike" not in errors
