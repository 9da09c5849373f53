"""Snakemake's scheduler in a local run: looking for jobs does not order another look a second later."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TELLING = f"""
include: "{ROOT}/Snakefile"

onsuccess:
    print("limit on starts:", workflow.scheduler.job_rate_limiter)
"""


def test_a_local_run_has_no_limit_on_starts(tmp_path, workflow_in):
    (tmp_path / "Snakefile").write_text(TELLING)
    run = workflow_in(tmp_path, tmp_path).run("data", config={"datasets": ["iris"]})
    assert run.status == 0, run.output
    assert "limit on starts: None" in run.output
