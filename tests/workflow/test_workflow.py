"""The workflow makes complete results of a tiny grid from raw files, and its messages say what is wrong."""

METHODS = {"Clusterlets", "FRAC (fair)", "FRAC (nearest)", "k-means", "random"}


def test_every_run_of_the_grid_has_exactly_one_row(finished):
    rows = finished.rows("runs.csv")
    keys = {(row["dataset"], row["method"], row["matcher"], row["k"], row["hops"], row["omega"], row["seed"]) for row in rows}
    # Two datasets, two k and two seeds; five matchers, the two outputs of FRAC and two controls.
    assert len(keys) == len(rows) == 2 * 2 * 2 * (5 + 4)
    assert {row["method"] for row in rows} == METHODS
    assert {row["status"] for row in rows} == {"ok"}


def test_the_scores_have_the_ranges_that_the_methods_guarantee(finished):
    for row in finished.rows("runs.csv"):
        assert 0 <= float(row["deviation_mean"]) <= float(row["deviation_max"]) <= 1
        assert 0 <= float(row["cohesion"]) <= 1
        if row["matcher"] in ("C", "G-B", "G-D") or row["method"] != "Clusterlets":
            assert float(row["overlap"]) == 0 and float(row["kmeans_cost"]) > 0
        if row["method"] == "FRAC (fair)":
            assert float(row["deviation_max"]) < 0.03  # equal parts of each group, up to single instances
        if row["method"] == "k-means":
            assert float(row["price_of_fairness"]) >= 0.99  # a run can beat the 50 starts of the reference
        if row["method"] == "random":
            assert float(row["price_of_fairness"]) > 1


def test_tables_figures_pages_and_the_summary_are_complete(finished):
    results = finished.results()
    tables = [name for name in results if name.startswith("tables/")]
    # Nine tables in three formats, and all of them in one LaTeX file.
    assert {name.rsplit(".", 1)[1] for name in tables} == {"csv", "md", "tex"} and len(tables) == 28
    for name in [name for name in results if name.startswith("figures/")]:
        assert results[name].startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[name.rsplit(".", 1)[1]])
    assert b"<html" in results["report.html"]
    *verdicts, blank_line, basis = results["summary.txt"].decode().splitlines()
    assert len(verdicts) == 4 and all(line.endswith(".") for line in verdicts) and blank_line == ""
    assert basis.startswith("This rests on 72 runs") and basis.endswith("results/tiny/report.html")


def test_a_second_run_does_nothing(finished):
    again = finished.run()
    assert again.status == 0 and "Nothing to be done" in again.output


def test_k_above_the_number_of_instances_gives_infeasible_rows_and_no_error(workflow):
    config = {"datasets": ["iris"], "k": [2, 151], "methods": ["C", "D", "FRAC", "k-means", "random"]}
    run = workflow.run("results/tiny/runs.csv", config=config)
    assert run.status == 0, run.output
    rows = [row for row in workflow.rows("runs.csv") if row["k"] == "151"]
    assert {row["status"] for row in rows} == {"infeasible"} and len(rows) == 2 * (2 + 4)  # two seeds of C, D and four more
    assert all(row["cohesion"] == "" for row in rows)


def test_a_wrong_configuration_is_refused_before_anything_runs(workflow):
    run = workflow.run(config={"k": [1], "hopps": [1]})
    assert run.status != 0 and "Traceback" not in run.output
    assert "k.0: 1 is less than the minimum of 2" in run.output
    assert "hopps: unknown key (did you mean 'hops'?)" in run.output
    assert workflow.results() == {}


def test_without_a_dataset_the_run_ends_before_the_grid_and_the_message_says_what_to_do(workflow):
    # No source answers: the mirror does not exist, and the public addresses lead to a proxy that refuses.
    refusing_proxy = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**refusing_proxy, "no_proxy": "", "NO_PROXY": "", "CLUSTERLETS_MIRROR": str(workflow.folder / "nowhere")}
    config = {"datasets": ["iris", "pima"]}
    run = workflow.run(config=config, environment=environment)
    assert run.status != 0
    for text in ("nowhere", "data/raw/pima/diabetes.csv", "--config exclude=pima"):
        assert text in run.output, run.output
    assert "common.smk" not in run.output  # no traceback
    assert workflow.results() == {}
    planned = workflow.run("--dry-run", config=config, environment=environment)  # it asks no source
    assert "pima (data/raw/pima/diabetes.csv). To leave them out: --config exclude=pima" in planned.output, planned.output
