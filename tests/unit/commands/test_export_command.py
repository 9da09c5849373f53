"""export and recover-clusters give the clusters that the workflow scored. The tests run a small grid on iris."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tiny_grid
import yaml
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from clusterlets import __main__ as command_line
from clusterlets import methods
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.pinball import match_greedy_distance
from clusterlets.analysis import clusterings
from clusterlets.estimators import fairness_report
from clusterlets.grid.artifacts import INFEASIBLE, Prepared, SeedBatch
from clusterlets.grid.cells import cells, format_parameters, random_stream
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.recovery import Clusters
from clusterlets.grid.runs_table import read_cell, write_runs
from clusterlets.methods.g_d import GreedyDistance
from clusterlets.storage import load_text, save_text

ROOT = Path(__file__).resolve().parents[3]
RESULTS, SEEDS = "results/tiny", "2-3"
SETTINGS = {
    "results": RESULTS,
    "datasets": ["iris"],
    "k": [3],
    "seeds": {"count": 4, "batch": 2},
    "sample_size": 300,
    "budget": {"seconds": 60, "memory_mb": None},
}
SCORES = "n_clusters deviation_mean deviation_max balance cohesion overlap smallest largest kmeans_cost".split()


def path_of_batch(kind, source):
    return f"{RESULTS}/{kind}/iris/{source}/k3/seeds{SEEDS}.npz"


def path_of_cell(method, configuration):
    return f"{RESULTS}/runs/iris/{method}/{configuration}/seeds{SEEDS}.csv"


CELLS = [path_of_cell(matcher, f"k3_hops{hops}") for matcher in ("D", "B", "G-D", "G-B") for hops in (2, 4)]
CELLS += [path_of_cell("C", "k3_omega0.25"), *(path_of_cell(method, "k3") for method in ("FRAC", "k-means", "random"))]


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A folder with the results of the workflow for iris, k = 3 and two seeds."""
    folder = tmp_path_factory.mktemp("grid")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for job in tiny_grid.plan(folder, SETTINGS, CELLS):
            assert command_line.main(job) == 0
    return folder


@pytest.fixture
def export(grid, monkeypatch, run):
    """A function that runs export in the folder of the grid and returns its status, output and errors."""
    monkeypatch.chdir(grid)
    return lambda *options: run("export", "--config", "settings.json", "--dataset", "iris", "-k", "3", *options)


def blank_scores(line):
    """The line of a run with its scores emptied. The first 8 columns say which run it is."""
    fields = line.split(",")
    return ",".join(fields[:8] + [""] * len(fields[8:]))


CHANGED_ROWS = {
    "two rows": (lambda row: [row, row], "{path} holds 2 rows of D with seed 3, but should hold one. Remove it"),
    "another method": (
        lambda row: [row.replace("Clusterlets,D", "Clusterlets,B")],
        "{path} holds 0 rows of D with seed 3, but should hold one. Remove it",
    ),
    "no scores": (lambda row: [blank_scores(row)], "The recovered clusters are not those that were scored in {path}"),
}


@pytest.mark.parametrize("change", CHANGED_ROWS)
def test_a_cell_with_wrong_rows_or_scores_is_reported(export, change):
    change_row, message = CHANGED_ROWS[change]
    path = path_of_cell("D", "k3_hops2")
    text = load_text(path)
    header, seed_2, seed_3 = text.splitlines()
    save_text(path, "\n".join([header, seed_2, *change_row(seed_3)]) + "\n")
    status, output, error = export("--method", "D", "--parameters", "hops=2", "--seed", "3")
    save_text(path, text)
    assert status == 1 and output == "" and message.format(path=path) in error and "Traceback" not in error


@pytest.mark.parametrize("seed", ["2", "3"])
@pytest.mark.parametrize(
    ("options", "cell", "method"),
    [
        ("--method D --parameters hops=2", ("D", "k3_hops2"), "Clusterlets"),
        ("--method B --parameters hops=2", ("B", "k3_hops2"), "Clusterlets"),
        ("--method G-D --parameters hops=2", ("G-D", "k3_hops2"), "Clusterlets"),
        ("--method G-B --parameters hops=2", ("G-B", "k3_hops2"), "Clusterlets"),
        ("--method C --parameters omega=0.25", ("C", "k3_omega0.25"), "Clusterlets"),
        ("--method frac-fair", ("FRAC", "k3"), "FRAC (fair)"),
        ("--method 'FRAC (nearest)'", ("FRAC", "k3"), "FRAC (nearest)"),
        ("--method k-means", ("k-means", "k3"), "k-means"),
        ("--method random", ("random", "k3"), "random"),
    ],
)
def test_the_clusters_have_the_scores_of_the_cell(export, tmp_path, options, cell, method, seed):
    assert export(*shlex.split(options), "--seed", seed, "-o", str(tmp_path / "exported.csv"))[0] == 0
    exported = pd.read_csv(tmp_path / "exported.csv")
    assert exported.columns.tolist() == ["row", "cluster"] and not exported.duplicated().any()
    memberships = csr_array((np.ones(len(exported), dtype=bool), (exported["row"], exported["cluster"])))
    iris = load_iris()
    report = fairness_report(iris.data, memberships, iris.target)
    (row,) = (row for row in read_cell(path_of_cell(*cell)) if row["seed"] == seed and row["method"] == method)
    for name in SCORES:
        assert report[name] == pytest.approx(float(row[name] or "nan"), rel=1e-9, abs=1e-12, nan_ok=True), name


def test_a_greedy_matcher_draws_from_the_stream_of_the_seed(export):
    # The step and the command share code, so the test calls the matcher itself.
    for seed in (2, 3):
        _, printed, _ = export("--method", "G-D", "--parameters", "hops=2", "--seed", str(seed))
        clusterlets = Clusterlets.from_pieces(**SeedBatch.load(path_of_batch("pieces", "clusterlets")).values[str(seed)])
        labels = SeedBatch.load(path_of_batch("labels", "clusterlets")).values[str(seed)]["labels"]
        membership = match_greedy_distance(clusterlets, 2, random_stream(0, "iris", 3, seed, GreedyDistance.stream_number()))
        clusters = membership.argmax(axis=0)[labels]
        assert printed.split()[1:] == [f"{row},{cluster}" for row, cluster in enumerate(clusters)]


@pytest.mark.parametrize("setting", [{"base_seed": 1}, {"greedy_scope": "last"}])
def test_clusters_are_refused_if_the_settings_differ_from_those_of_the_grid(export, setting):
    Path("other.yaml").write_text(yaml.safe_dump({**SETTINGS, **setting}))
    statuses = []
    for matcher, hops, seed in product(("G-D", "G-B"), ("2", "4"), ("2", "3")):
        status, _, error = export("--config", "other.yaml", "--method", matcher, "--parameters", f"hops={hops}", "--seed", seed)
        statuses.append(status)
        assert status == 0 or ("not those that" in error and path_of_cell(matcher, f"k3_hops{hops}") in error)
    assert 1 in statuses  # not all are refused, because some clusters are the same by chance


# Part of an error message -> the options that cause it.
ERRORS = {
    "snakemake --cores 2 results/tiny/runs/iris/D/k3_hops2/seeds0-1.csv --configfile settings.json": (
        "--method D --parameters hops=2 --seed 0"
    ),
    "FRAC/k7/seeds2-3.npz does not exist. The configured grid has no such run: add its k and parameters": (
        "--method frac-fair -k 7 --seed 2"
    ),
    "elsewhere/pieces/iris": "--method D --parameters hops=2 --seed 2 --results elsewhere",
    "--seed 4 is not among the configured seeds, 0 to 3": "--method D --parameters hops=2 --seed 4",
    "no dataset 'irsi'": "--dataset irsi --method D --parameters hops=2",
    "No configured method has the output 'GD'; the outputs are C, G-B, D, B, G-D, FRAC (fair), FRAC (nearest), k-means": (
        "--method GD --parameters hops=2"
    ),
    "C needs --parameters with a value for each, such as omega=0": "--method C --parameters hops=2",
    "D needs --parameters with a value for each, such as hops=1": "--method D --parameters hops=2,omega=0.5",
    "G-B needs --parameters with a value for each, such as hops=1": "--method G-B",
    "random takes no --parameters; leave it out": "--method random --parameters hops=2",
    "settings.yml cannot be read": "--config settings.yml --method random",
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_are_readable_and_write_nothing(export, tmp_path, message):
    status, _, error = export(*ERRORS[message].split(), "-o", str(tmp_path / "exported.csv"))
    assert status == 1 and message in error and "Traceback" not in error
    assert not (tmp_path / "exported.csv").exists()


@pytest.mark.parametrize("kind", ["labels", "partitions", "cell"])
def test_a_damaged_file_is_removed_and_the_message_says_how_to_make_it_again(export, tmp_path, kind):
    cell_path = path_of_cell("C", "k3_omega0.25")
    path = Path(cell_path if kind == "cell" else path_of_batch(kind, "clusterlets"))
    intact = path.read_bytes()
    options = ("--method", "C", "--parameters", "omega=0.25", "--seed", "2", "-o", str(tmp_path / "exported.csv"))
    remedy = f"This command makes it:\n  snakemake --cores 2 {path} --configfile settings.json"
    path.write_bytes(intact[:-40] + bytes(20) + intact[-20:])
    status, _, error = export(*options)
    assert status == 1 and not path.exists() and f"{path} was damaged" in error and "has been removed. " in error
    # The usual advice for a damaged file, to run the same command again, would not help: export builds nothing.
    assert error.rstrip().endswith(remedy) and "same command" not in error
    if kind != "cell":  # without the cell, there are no scores to compare with
        status, _, error = export(*options)
        assert status == 1 and error.rstrip().endswith(f"{path} does not exist. {remedy}")
    path.write_bytes(intact)
    assert export(*options)[0] == 0


@pytest.mark.parametrize("kind", ["labels", "partitions", "cell"])
def test_a_file_of_another_run_is_refused_and_kept(export, tmp_path, kind):
    path, other = Path(path_of_cell("C", "k3_omega0.25")), Path(path_of_cell("B", "k3_hops2"))
    if kind != "cell":
        path, other = Path(path_of_batch(kind, "clusterlets")), Path(path_of_batch("labels", "FRAC"))
    intact = path.read_bytes()
    path.write_bytes(other.read_bytes())
    status, _, error = export(
        "--method", "C", "--parameters", "omega=0.25", "--seed", "2", "-o", str(tmp_path / "exported.csv")
    )
    assert status == 1 and path.read_bytes() == other.read_bytes() and not (tmp_path / "exported.csv").exists()
    assert f"{path} holds what belongs at {other.relative_to(RESULTS)}" in error and "remove it or move it there" in error
    assert error.rstrip().endswith(f"This command makes it:\n  snakemake --cores 2 {path} --configfile settings.json")
    path.write_bytes(intact)


def test_a_command_in_a_message_can_be_pasted_into_a_shell(export):
    Path("my settings.json").write_text(Path("settings.json").read_text())
    options = ("--config", "my settings.json", "--results", "my results", "--method", "random", "--seed", "2")
    _, _, error = export(*options)
    missing = "my results/runs/iris/random/k3/seeds2-3.csv"
    assert shlex.split(error.splitlines()[-1]) == ["snakemake", "--cores", "2", missing, "--configfile", "my settings.json"]


def test_the_message_says_why_a_run_has_no_clusters(export):
    for kind in ("pieces", "labels"):
        SeedBatch({}, INFEASIBLE).save(f"{RESULTS}/{kind}/iris/random/k200/seeds2-3.npz")
    status, _, error = export("--method", "random", "-k", "200", "--seed", "2")
    assert status == 1 and "infeasible" in error and "runs/iris/random/k200/seeds2-3.csv" in error


def test_a_stopped_run_is_reported_and_the_other_seeds_have_their_clusters(export):
    # A cell of k-means with k = 4: seed 2 was stopped, and seed 3 has the clusters of k = 3.
    for kind in ("pieces", "labels"):
        path = f"{RESULTS}/{kind}/iris/k-means/k3/seeds2-3.npz"
        batch = SeedBatch.load(path)
        values = {"k-means/3": batch.values["k-means/3"]}
        SeedBatch(values, failures={"2": ("timeout", "because")}).save(f"{RESULTS}/{kind}/iris/k-means/k4/seeds2-3.npz")
    status_of_2, _, error = export("--method", "k-means", "-k", "4", "--seed", "2")
    assert status_of_2 == 1 and "This run has no clusters: its status is timeout, see " in error
    status_of_3, output, _ = export("--method", "k-means", "-k", "4", "--seed", "3")
    assert status_of_3 == 0 and output == export("--method", "k-means", "--seed", "3")[1]


@pytest.fixture
def rows(grid, monkeypatch):
    """The rows of all cells of the grid."""
    monkeypatch.chdir(grid)
    return [row for path in sorted(Path(f"{RESULTS}/runs/iris").rglob("k3*/*.csv")) for row in read_cell(path)]


@pytest.fixture
def recover_clusters(grid, tmp_path, monkeypatch):
    """A function that runs recover-clusters on rows of runs.csv and returns its status and the tables that it wrote."""
    monkeypatch.chdir(grid)
    configuration = json.dumps(read_configuration("settings.json"))

    def run_step(rows):
        write_runs(tmp_path / "runs.csv", rows)
        options = {"runs": tmp_path / "runs.csv", "config": configuration, "results": RESULTS}
        table_paths = {name: tmp_path / f"{name}.csv" for name in ("composition", "projection")}
        arguments = [f"--{key}={value}" for key, value in {**options, **table_paths}.items()]
        status = command_line.main(["recover-clusters", *arguments])
        if status != 0:
            return status, {}
        return status, {name: pd.read_csv(path) for name, path in table_paths.items()}

    return run_step


def option_name(name):
    """The name of a method as the option --method takes it: FRAC (fair) as frac-fair."""
    return name.lower().replace(" (", "-").rstrip(")")


def export_options(table_rows):
    """The options with which export writes the clusters of the run that these rows of a table describe."""
    first = table_rows.iloc[0]
    if first["method"] != "Clusterlets":
        return ["--method", option_name(first["method"]), "--seed", str(first["seed"])]
    parameter = "omega=0.25" if first["matcher"] == "C" else "hops=2"
    return ["--method", first["matcher"], "--parameters", parameter, "--seed", str(first["seed"])]


def test_the_composition_counts_what_export_writes(recover_clusters, rows, export, tmp_path):
    status, tables = recover_clusters(rows)
    assert status == 0
    iris = load_iris()
    by_method = tables["composition"].groupby("method")
    assert set(by_method.groups) == {"Clusterlets", "FRAC (nearest)", "FRAC (fair)", "k-means", "random"}
    for _, composition in by_method:
        export(*export_options(composition), "-o", str(tmp_path / "exported.csv"))
        exported = pd.read_csv(tmp_path / "exported.csv")
        groups = iris.target_names[iris.target[exported["row"]]]
        expected = pd.crosstab(exported["cluster"], groups)[list(iris.target_names)]
        counts = composition.pivot(index="cluster", columns="group", values="count")[list(iris.target_names)]
        assert sorted(counts.to_numpy().tolist()) == sorted(expected.to_numpy().tolist())
        assert counts.sum(axis=1).is_monotonic_decreasing
        assert composition["dataset_share"].to_numpy() == pytest.approx(1 / 3)
        assert (composition["share"] * composition["size"] - composition["count"]).abs().max() < 1e-9


def test_a_row_is_projected_once_for_each_cluster_that_contains_it(recover_clusters, rows, export, tmp_path):
    _, tables = recover_clusters(rows)
    by_matcher = tables["projection"].groupby("matcher")
    assert set(by_matcher.groups) == {"B", "C", "D", "G-B", "G-D"}
    iris = load_iris()
    centred = iris.data - iris.data.mean(axis=0)
    for _, projection in by_matcher:
        export(*export_options(projection), "-o", str(tmp_path / "exported.csv"))
        exported = pd.read_csv(tmp_path / "exported.csv")
        projected, expected = (frame.groupby("cluster")["row"].agg(frozenset) for frame in (projection, exported))
        assert set(projected) == set(expected) and len(projection) == len(exported)
        assert (projection["group"].to_numpy() == iris.target_names[iris.target[projection["row"]]]).all()
        positions = projection.drop_duplicates("row").set_index("row").sort_index()
        assert positions["x"].var() == pytest.approx(np.linalg.eigvalsh(np.cov(centred.T))[-1], rel=1e-3)
        assert positions["x_share"].iloc[0] == pytest.approx(0.9246, abs=1e-4)  # explained by iris's first component


def test_clusters_that_contradict_the_row_are_refused(recover_clusters, rows, capsys):
    status, _ = recover_clusters([row | {"deviation_mean": "0.4321"} if row["matcher"] == "G-D" else row for row in rows])
    error = capsys.readouterr().err
    assert status == 1 and "not those that" in error and path_of_cell("G-D", "k3_hops2") in error


def test_if_no_run_has_a_result_the_tables_are_empty(recover_clusters, rows):
    status, tables = recover_clusters([row | {"status": INFEASIBLE} for row in rows])
    assert status == 0 and {name: len(table) for name, table in tables.items()} == {"composition": 0, "projection": 0}
    assert list(tables["composition"]) == clusterings.COMPOSITION and list(tables["projection"]) == clusterings.PROJECTION


def test_the_dataset_shown_has_the_most_runs_then_few_groups_then_the_largest_second_component():
    rng = np.random.default_rng(0)
    line, plane = rng.normal(size=(50, 2)) * [9, 1], rng.normal(size=(50, 2)) * [2, 1]
    two_groups, eight_groups = ["a", "b"], list("abcdefgh")
    tables = {
        "line": Prepared(line, np.arange(50) % 2, two_groups),  # a small second component
        "plane": Prepared(plane, np.arange(50) % 2, two_groups),
        "many": Prepared(plane * [1, 2], np.arange(50) % 8, eight_groups),  # a larger component than plane, but too many groups
        "half": Prepared(plane * [1, 2], np.arange(50) % 2, two_groups),  # a larger component, but only one run
    }
    runs = pd.DataFrame({"dataset": ["line", "plane", "many", "half", "line", "plane", "many"]})
    assert clusterings.clearest_dataset(runs, tables.get) == "plane"
    assert clusterings.clearest_dataset(runs[runs["dataset"] == "many"], tables.get) == "many"


@pytest.mark.parametrize("X, shares", [(np.ones((9, 3)), [0, 0]), (np.arange(9.0)[:, None], [1, 0])])
def test_a_table_that_varies_in_fewer_than_two_directions_has_a_projection(X, shares):
    positions, explained = clusterings.principal_components(X)
    assert positions.shape == (9, 2) and explained.tolist() == pytest.approx(shares) and not positions[:, 1].any()


def test_evenly_spaced_rows_of_a_large_table_are_shown():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    clusters = Clusters(membership=np.array([[True]]), counts=np.array([[5000]]), labels=np.zeros(5000, dtype=int))
    row = dict.fromkeys(clusterings.PROJECTION) | {"k": 2, "seed": 0}
    projection = clusterings.projection(row, clusters, Prepared(X, np.zeros(5000, dtype=int), ["a"]))
    assert len(projection) == 700 and projection["rows"].iloc[0] == 5000
    assert set(np.diff(projection["row"])) <= {7, 8}  # 5000 / 700 = 7.14...


def test_the_examples_in_the_help_text_name_existing_runs(run):
    examples = re.findall(r"^  clusterlets export (.*)$", run("export", "--help")[1], re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        options = dict(re.findall(r"--?([a-z]+) (\S+)", example))
        config = read_configuration(ROOT / options["config"] if "config" in options else None)
        runs = {
            (cell.dataset, option_name(name), cell.k, format_parameters(cell.parameters))
            for cell in cells(config)
            for name in methods.get(cell.method).names_in_results()
        }
        assert (options["dataset"], options["method"].lower(), int(options["k"]), options.get("parameters", "")) in runs
        assert int(options.get("seed", 0)) < config["seeds"]["count"]
