"""``clusterlets datasets --check``: which addresses still serve the known data, and which do not."""

import pytest
from served import GOOD

from clusterlets.__main__ import main
from clusterlets.datasets.fetch import ask_sources

OTHER_ENDS = GOOD.replace(b"\n", b"\r\n")
OTHER_TABLE = GOOD.replace(b"33.6", b"36.3", 1)


def test_each_source_is_asked_and_judged(toy, site):
    toy.from_addresses(*(f"{site.address}/{path}" for path in ("gone", "ends", "known", "table", "page")))
    site.serve("/ends", OTHER_ENDS)
    site.serve("/known", GOOD)
    site.serve("/table", OTHER_TABLE)
    site.serve("/page", b"<!DOCTYPE html><html>Please log in</html>")
    gone, ends, known, table, page = ask_sources("toy")
    assert gone.source == f"{site.address}/gone"
    assert not gone.is_right and gone.verdict.startswith("404 Client Error: Not Found ") and "attempts: 3" in gone.verdict
    assert (ends.is_right, ends.verdict) == (True, "serves other bytes, but the known table")
    assert (known.is_right, known.verdict) == (True, "serves the known bytes")
    assert not table.is_right and table.verdict.startswith("serves bytes other than the known ones, and ")
    assert (page.is_right, page.verdict) == (False, "page is a web page, not data")
    assert site.requested_paths == [*["/gone"] * 3, "/ends", "/known", "/table", "/page"] and not toy.raw.exists()


@pytest.mark.parametrize("served, status", [(GOOD, 0), (OTHER_TABLE, 1)])
def test_the_command_fails_where_no_source_serves_a_dataset(served, status, toy, site, tmp_path, capsys):
    toy.from_addresses(f"{site.address}/gone", f"{site.address}/data")
    site.serve("/data", served)
    settings = tmp_path / "settings.yaml"
    settings.write_text("datasets: [toy]\n")
    assert main(["datasets", "--check", "--config", str(settings)]) == status
    name, gone, data, _, verdict = capsys.readouterr().out.splitlines()
    assert name == "toy" and gone.startswith(f"  - {site.address}/gone: 404 Client Error: Not Found ")
    assert data.startswith(f"  {'-' if status else '+'} {site.address}/data: serves ")
    assert verdict == ("No source serves toy." if status else "Every dataset has a source that serves it.")
