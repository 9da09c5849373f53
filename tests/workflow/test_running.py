"""The workflow prints its progress, its plan for a dry run, and the log of a job that fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

CELL = "results/tiny/runs/iris/G-B/k2/seeds0-1.csv"

# A grid with a table that cannot be read.
FAILING_GRID = {"datasets": ["iris", {"name": "people", "path": "people.csv", "sensitive": "city"}]}


@pytest.fixture(autouse=True)
def logger_plugin_is_installed():
    assert LoggerPluginRegistry().is_installed("cells"), "install the checkout again: pip install --editable ."


def test_a_run_in_an_environment_that_is_not_activated_prints_its_progress_and_what_it_did(workflow):
    run = workflow.run(CELL, environment={"PATH": os.defpath})
    assert run.status == 0, run.output
    assert "0 % · 0 of 6 steps · 0:00:00 elapsed\n" in run.output
    assert "Done: 6 of 6 steps, in " in run.output
    assert "Select jobs" not in run.output and "Job 0" not in run.output
    assert [name for name in workflow.results() if name.startswith("runs/")] == [CELL.removeprefix("results/tiny/")]
    assert "Nothing to be done" in workflow.run(CELL).output


def test_a_dry_run_lists_jobs_and_reasons_as_snakemake_does(workflow):
    output = workflow.run("-n", CELL).output
    assert "iris: score G-B k2" in output and "score_method" in output and "This was a dry-run" in output
    assert "Reason: Missing output files: " in workflow.run(CELL, "-n", "--quiet", "host").output
    job_counts = workflow.run(CELL, "-n", "--quiet", "rules").output
    assert ["total", "6"] in [line.split() for line in job_counts.splitlines()]


def test_a_shell_command_that_snakemake_prints_runs_when_it_is_pasted(workflow):
    assert workflow.run(CELL).status == 0
    cell = workflow.folder / CELL
    content = cell.read_bytes()
    cell.unlink()
    (command,) = re.findall("^Shell command: (python .*)", workflow.run(CELL, "-n", "-p").output, re.MULTILINE)
    activated = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    subprocess.run(["bash", "-c", command], cwd=workflow.folder, env={**os.environ, "PATH": activated}, check=True)
    assert cell.read_bytes() == content


def test_the_log_of_a_failed_job_is_shown_and_the_other_jobs_run(workflow):
    (workflow.folder / "people.csv").write_text("age,city\n1,a\nx,b\n3,a\n4,b\n")
    cells = [CELL, CELL.replace("iris", "people.city")]
    run = workflow.run(*cells, config=FAILING_GRID)
    assert run.status != 0
    log = "results/tiny/logs/prepare_user_table/people.city.log"
    assert f"FAILED: Read people.city from people.csv\nLogfile {log}:\n" in run.output
    assert (workflow.folder / log).read_text().splitlines()[-1] in run.output
    summary = run.output[run.output.index("Not complete: 6 of 11 steps, 1 failed") :]
    assert f"log {log}" in summary
    assert (workflow.folder / CELL).exists()


SNAKEFILE = f"""
include: "{Path(__file__).resolve().parents[2]}/Snakefile"

onsuccess:
    print("rate limit:", workflow.scheduler.job_rate_limiter)
"""


def test_a_local_run_does_not_limit_the_rate_of_job_starts(tmp_path, workflow_in):
    """With a rate limit, every search for ready jobs would schedule another one a second later, which costs CPU time."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    run = workflow_in(tmp_path, root=tmp_path).run("data", config={"datasets": ["iris"]})
    assert run.status == 0 and "rate limit: None" in run.output, run.output
