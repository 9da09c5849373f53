"""After a run, `verify` checks every file that the manifest lists, and the accounts count the cost of every job."""

import json
import os
import re
from pathlib import Path

import pytest

from clusterlets.benchmark.provenance.manifest import files

ROOT = Path(__file__).resolve().parents[2]
CELL = "results/tiny/runs/iris/D/k2/seeds0-1.csv"
TABLE = "tables/table1_matchers.csv"
LOGS_AFTER_ACCOUNT = {"account.log", "write_report.log", "write_leaderboard.log", "write_manifest.log"}


def with_a_flipped_bit(content):
    return content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]


@pytest.fixture
def run_copy(finished, tmp_path):
    """A copy of the finished run, for tests that damage it."""
    return finished.copy(tmp_path)


def test_a_finished_run_passes_verification_and_equals_itself(finished):
    verification = finished.command("verify", "--results", "results/tiny")
    assert verification.status == 0, verification.output
    assert finished.command("compare", "results/tiny", "results/tiny").status == 0


def test_the_manifest_lists_every_result_but_itself(finished):
    manifest = json.loads(finished.results()["manifest.json"])
    listed_files = set(files(manifest))
    intermediates = ("pieces/", "labels/", "distances/", "partitions/", "prepared/", "geometry/", "plain_costs/")
    missing = {file for file in finished.results() if file not in listed_files and not file.startswith(intermediates)}
    assert missing == {"manifest.json"}
    assert {name: entry["rows"] for name, entry in manifest["datasets"].items()} == {"iris": 150, "breast_cancer": 569}
    assert str(finished.folder) not in json.dumps(manifest) and str(ROOT) not in json.dumps(manifest)


def test_damaged_changed_and_missing_results_are_named_and_the_advice_repairs_them(run_copy):
    top = run_copy.folder / "results/tiny"
    cell, table, page = run_copy.folder / CELL, top / TABLE, top / "report.html"
    contents = {path: path.read_bytes() for path in (cell, table, top / "manifest.json")}
    for path in (cell, table):
        path.write_bytes(with_a_flipped_bit(contents[path]))
    page.write_bytes(page.read_bytes().replace(b"</h1>", b" It does.</h1>"))
    (top / "datasets.csv").unlink()
    verification = run_copy.command("verify", "--results", "results/tiny")
    # The cell is named in the list of damage and in the command that removes it.
    assert verification.status == 1 and verification.output.count(CELL) == 2
    assert "missing\n  results/tiny/datasets.csv\n" in verification.output
    removed = re.search(r"^  rm (.*)$", verification.output, re.MULTILINE)[1].split()
    assert sorted(removed) == sorted([CELL, *(f"results/tiny/{name}" for name in ("report.html", "runs.csv", TABLE))])
    for name in removed:
        (run_copy.folder / name).unlink()
    assert run_copy.run().status == 0
    assert {path: path.read_bytes() for path in contents} == contents
    assert run_copy.command("verify", "--results", "results/tiny").status == 0


def test_no_manifest_certifies_damage(run_copy):
    """The advice is that of ``verify``, which the test above follows."""
    top = run_copy.folder / "results/tiny"
    damaged = {"runs/iris/D/k2/seeds0-1.csv", "runs.csv", TABLE}
    for name in damaged:
        times, content = (top / name).stat(), (top / name).read_bytes()
        (top / name).write_bytes(with_a_flipped_bit(content))
        os.utime(top / name, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that nothing reruns
    (top / "manifest.json").unlink()
    refused = run_copy.run()
    assert refused.status != 0 and not (top / "manifest.json").exists()
    removed = re.search(r"^  rm (.*)$", refused.output, re.MULTILINE)[1].split()
    assert set(removed) == {f"results/tiny/{name}" for name in damaged}


def test_every_log_of_the_run_is_counted(finished):
    top = finished.folder / "results" / "tiny"
    logs = [path for path in (top / "logs").rglob("*.log") if path.name not in LOGS_AFTER_ACCOUNT]
    provenance = json.loads((top / "accounts" / "provenance.json").read_text())
    rows = finished.rows("accounts/steps.csv")
    assert sum(int(row["jobs"]) for row in rows) == provenance["jobs"]["counted"] == len(logs)
    assert {row["step"]: int(row["jobs"]) for row in rows}["score-method"] == 2 * 2 * 8  # datasets, k, methods
    assert provenance["jobs"]["first_job_began"] < provenance["jobs"]["last_job_ended"]
