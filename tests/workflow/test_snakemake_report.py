"""Snakemake's own report of a finished run: every result in it, with a caption, below a category, labelled."""

import json


def test_every_result_is_captioned_filed_and_labelled(finished, tmp_path):
    page = tmp_path / "page.html"
    done = finished.run("--report", str(page))
    assert done.status == 0, done.output
    assert "WARNING" not in done.output  # docutils: a caption or a category that it cannot read
    text = page.read_text(encoding="utf-8")
    assert "it gives the verdict in short sentences" in text
    shown, _ = json.JSONDecoder().raw_decode("{" + text.partition("var results = {")[2])
    kept = {"runs", "groups", "labels", "distances", "partitions", "prepared", "geometry"}  # of the grid, not results
    names = (name for name in finished.results() if not name.endswith(".sha256"))
    expected = {f"results/tiny/{name}" for name in names if name.split("/")[0] not in kept}
    assert expected <= shown.keys()
    for name in expected:
        result = shown[name]
        assert result["caption"] and "system-message" not in result["caption"], name
        assert result["labels"]["result"] and result["labels"]["form"], name
    assert shown["results/tiny/runs.csv"]["labels"]["result"] == "runs of results/tiny"  # a variant's lie elsewhere
