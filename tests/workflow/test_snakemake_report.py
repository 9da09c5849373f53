"""Snakemake's own report of a finished run shows every result with a caption, a category and labels."""

import json


def test_every_result_has_a_caption_a_category_and_labels(finished, tmp_path):
    page = tmp_path / "page.html"
    run = finished.run("--report", str(page))
    assert run.status == 0, run.output
    assert "WARNING" not in run.output  # docutils warns about a caption or a category that it cannot read
    text = page.read_text(encoding="utf-8")
    assert "it gives the verdict in short sentences" in text
    entries, _ = json.JSONDecoder().raw_decode("{" + text.partition("var results = {")[2])
    # Folders of intermediate files, which the report leaves out.
    intermediates = {"runs", "pieces", "labels", "distances", "partitions", "prepared", "geometry", "plain_costs"}
    names = (name for name in finished.results() if not name.endswith(".sha256"))
    expected = {f"results/tiny/{name}" for name in names if name.split("/")[0] not in intermediates}
    assert expected <= entries.keys()
    for name in expected:
        result = entries[name]
        assert result["caption"] and "system-message" not in result["caption"], name
        assert result["labels"]["result"] and result["labels"]["format"], name
    assert entries["results/tiny/runs.csv"]["labels"]["result"] == "runs of results/tiny"  # and not of a variant
