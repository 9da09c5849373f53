"""A variant runs only the cells that it changes, shares the other files of the grid, and differs only where it should."""

import csv
import io

import numpy as np
import pytest
from test_reruns import jobs_in

from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch

SMALL = {"datasets": ["iris"], "k": [3], "omega": [0, 0.5], "methods": ["C", "D", "G-D", "FRAC", "random"]}
VARIANTS = {
    "pinball_cluster": {"pinball_scope": "cluster"},
    "greedy_last": {"greedy_scope": "last"},
    "equation_printed": {"equation": "printed"},
    "deviation_relative": {"deviation": "relative"},
    "scaling_standard": {"scaling": "standard"},
}
EXTENDED = {**SMALL, "seeds": {"count": 4, "batch": 2}, "variants": VARIANTS}
# The methods and matchers whose results each variant changes.
CHANGED_METHODS = {
    "pinball_cluster": {"D"},
    "greedy_last": {"G-D"},
    "equation_printed": {"C"},
    "deviation_relative": {*SMALL["methods"]},
    "scaling_standard": {*SMALL["methods"]},
}
TARGETS = ["results/tiny/runs.csv", *(f"results/tiny/variants/{name}/runs.csv" for name in VARIANTS)]


def rows(workflow, file):
    """The rows of a CSV file of the results."""
    return list(csv.DictReader(io.StringIO((workflow.folder / "results/tiny" / file).read_text(encoding="utf-8"))))


def method_of(row):
    """The matcher of a row, or else its method: FRAC for its output FRAC (nearest)."""
    return row["matcher"] or row["method"].split(" (")[0]


@pytest.fixture(scope="module")
def extended(tmp_path_factory, workflow_in):
    """A workflow that ran the default grid and then the extended one, and the dry run between the two."""
    workflow = workflow_in(tmp_path_factory.mktemp("extended"))
    first = workflow.run(TARGETS[0], config=SMALL)
    assert first.status == 0, first.output
    planned = workflow.run(*TARGETS, "--dry-run", config=EXTENDED)
    run = workflow.run(*TARGETS, config=EXTENDED)
    assert run.status == 0, run.output
    return workflow, planned


def test_only_jobs_for_new_seeds_and_changed_cells_run(extended):
    _, planned = extended
    assert jobs_in(planned.output) == {
        # For the scaled table.
        **{"prepare_dataset": 1, "measure_geometry": 1, "measure_plain_cost": 1},
        # For the batch of new seeds, and for both batches of the scaled table.
        "extract_clusterlets": 3,
        "sample_partitions": 3,
        "sum_distances": 3,
        "fit_method": 2 * 3,  # two methods on the same three batches
        # Every method has a batch of new seeds, and both batches in each variant that changes it. Three variants change a
        # matcher, and two another method. There are three matchers and two methods.
        "score_method": 3 * (1 + 3 * 2) + 2 * (1 + 2 * 2),
        "collect_runs": 6,  # of the grid and of five variants
    }


def test_a_variant_has_files_only_for_the_methods_that_it_changes(extended):
    workflow, _ = extended
    for name, methods in CHANGED_METHODS.items():
        files = {path for path in workflow.results() if path.startswith(f"variants/{name}/")}
        assert {path.split("/")[4] for path in files if "/runs/" in path} == methods
        other_entries = {path.split("/")[2] for path in files} - {"runs", "runs.csv", "runs.csv.sha256", "logs"}
        intermediates = {"prepared", "geometry", "plain_costs", "pieces", "labels", "distances", "partitions"}
        assert other_entries == (intermediates if name == "scaling_standard" else set())


def test_a_variant_changes_only_rows_of_the_methods_that_its_choice_concerns(extended):
    workflow, _ = extended
    key = ("method", "matcher", "k", "hops", "omega", "seed")
    by_key = {tuple(row[column] for column in key): row for row in rows(workflow, "runs.csv")}
    for name, methods in CHANGED_METHODS.items():
        variant_rows = rows(workflow, f"variants/{name}/runs.csv")
        assert len(variant_rows) == len(by_key)  # variants run the first ten seeds, here all four
        assert {row["dataset"] for row in variant_rows} == {"iris"}
        changed_methods = {method_of(row) for row in variant_rows if row != by_key[tuple(row[column] for column in key)]}
        assert changed_methods <= methods and changed_methods, name
    # Equation 1 as printed does not weigh its terms: all omegas above 0 give the same. At 0 it is constant, so the highest
    # silhouette decides.
    rows_of_c = [row for row in rows(workflow, "variants/equation_printed/runs.csv") if row["matcher"] == "C"]
    silhouettes = {(row["omega"], row["seed"]): float(row["centroid_silhouette"]) for row in rows_of_c}
    assert all(silhouettes["0.0", seed] >= silhouettes["0.5", seed] for seed in "0123")


def test_the_relative_deviation_is_relative_to_the_larger_share(extended):
    workflow, _ = extended
    top = workflow.folder / "results/tiny"
    groups = Prepared.load(str(top / "prepared/iris.npz")).groups
    labels = SeedBatch.load(str(top / "labels/iris/FRAC/k3/seeds0-1.npz")).values["FRAC (nearest)/1"]["labels"]
    overall = np.array([(groups == group).mean() for group in range(3)])
    deviations = []
    for cluster in np.unique(labels):
        shares = np.array([(groups[labels == cluster] == group).mean() for group in range(3)])
        deviations.append(max(abs(p - q) / max(p, q) for p, q in zip(shares, overall)))
    variant_rows = rows(workflow, "variants/deviation_relative/runs.csv")
    [row] = [row for row in variant_rows if row["method"] == "FRAC (nearest)" and row["seed"] == "1"]
    assert float(row["deviation_mean"]) == pytest.approx(np.mean(deviations), rel=1e-12)


def test_the_variant_with_scaling_equals_a_run_of_the_scaled_table(extended, workflow):
    extended_workflow, _ = extended
    cells = [f"runs/iris/{cell}/seeds0-1.csv" for cell in ("D/k3", "C/k3", "FRAC/k3")]
    run = workflow.run(*(f"results/tiny/{cell}" for cell in cells), config={**SMALL, "scaling": "standard"})
    assert run.status == 0, run.output
    for cell in cells:
        scaled = lines_without_header(workflow.results()[cell])
        assert scaled == lines_without_header(extended_workflow.results()[f"variants/scaling_standard/{cell}"])
        assert scaled != lines_without_header(extended_workflow.results()[cell])


def lines_without_header(cell: bytes) -> list[bytes]:
    """The lines of a cell without its comment, which holds a hash and the name of the file."""
    return [line for line in cell.splitlines() if not line.startswith(b"# ")]
