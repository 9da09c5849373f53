"""What Snakemake's scheduler does with a local run: no look for jobs orders another one a second later."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TELLING = f"""
include: "{ROOT}/Snakefile"

onsuccess:
    print("limit on starts:", workflow.scheduler.job_rate_limiter)
"""


def test_a_local_run_has_no_limit_on_starts(tmp_path, workflow_in):
    (tmp_path / "Snakefile").write_text(TELLING)
    done = workflow_in(tmp_path, tmp_path).run("data", config={"datasets": ["iris"]})
    assert done.status == 0, done.output
    assert "limit on starts: None" in done.output
