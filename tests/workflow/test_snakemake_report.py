"""Snakemake's own report of a finished run shows every result with a category and labels."""

import json


def test_every_result_has_a_category_and_labels(finished, tmp_path):
    page = tmp_path / "page.html"
    run = finished.run("--report", str(page))
    assert run.status == 0, run.output
    assert "WARNING" not in run.output
    text = page.read_text(encoding="utf-8")
    entries, _ = json.JSONDecoder().raw_decode("{" + text.partition("var results = {")[2])
    # Folders of intermediate files, which the report leaves out.
    intermediates = {"runs", "pieces", "labels", "distances", "partitions", "prepared", "geometry", "plain_costs"}
    names = (name for name in finished.results() if not name.endswith(".sha256"))
    expected = {f"results/tiny/{name}" for name in names if name.split("/")[0] not in intermediates}
    assert expected <= entries.keys()
    assert all(entries[name]["labels"]["result"] and entries[name]["labels"]["format"] for name in expected)
    assert entries["results/tiny/runs.csv"]["labels"]["result"] == "runs of results/tiny"  # and not of a variant
    categories = json.JSONDecoder().raw_decode("{" + text.partition("var categories = {")[2])[0]
    assert {"Report", "Data", "Tables", "Tests", "Leaderboard", "Figures", "Accounts"} <= categories.keys()
