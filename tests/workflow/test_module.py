"""The workflow as a module of another Snakefile."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLER = f"""
configfile: "{ROOT}/config.yaml"

module paper:
    snakefile: "{ROOT}/Snakefile"
    config: config

use rule * from paper as paper_*

rule count_runs:
    default_target: True
    input: "results/tiny/runs.csv"
    output: "lines.txt"
    shell: "wc -l < {{input}} > {{output}}"
"""
FEW = {"datasets": ["iris"], "k": [2], "methods": ["G-B", "k-means", "random"]}


@pytest.fixture
def caller(tmp_path, workflow_in):
    """A Snakefile in a folder of its own that builds on the runs of the workflow."""
    (tmp_path / "Snakefile").write_text(CALLER)
    return workflow_in(tmp_path, tmp_path)


def test_a_rule_of_another_snakefile_builds_on_the_runs(caller, tmp_path):
    run = caller.run(config=FEW)
    assert run.status == 0, run.output
    runs = (tmp_path / "results" / "tiny" / "runs.csv").read_text().splitlines()
    assert len(runs) == 1 + 3 * 2  # header, three methods, two seeds
    assert (tmp_path / "lines.txt").read_text().split() == [str(len(runs))]


def test_every_step_is_planned_under_the_callers_names(caller):
    planned = caller.run("paper_all", "--dry-run", config=FEW)
    assert planned.status == 0, planned.output
    jobs = {words[0]: words[1] for line in planned.output.splitlines() if len(words := line.split()) == 2}
    assert jobs["paper_fit_method"] == "2" and jobs["paper_score_method"] == "3"
    assert {"paper_analyse", "paper_write_report", "paper_write_manifest"} <= jobs.keys()


def test_a_configuration_of_the_caller_is_checked(caller):
    run = caller.run("--dry-run", config=FEW | {"methods": ["G-X"]})
    assert run.status and "There is no method 'G-X'" in run.output
