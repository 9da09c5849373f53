"""``clusterlets datasets --check``: which addresses still serve what is known, and which do not."""

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
    gone, ends, known, table, page = ask_sources("toy", backoff=0.001)
    assert gone == (f"{site.address}/gone", False, "answers 404 Not Found (attempts: 1)")
    assert ends[1:] == (True, "serves other bytes, but the known table")
    assert known[1:] == (True, "serves the known bytes")
    assert not table.is_right and table.words.startswith("serves other bytes than the known ones, and ")
    assert page[1:] == (False, "diabetes.csv is a web page, not data")
    assert site.asked == ["/gone", "/ends", "/known", "/table", "/page"] and not toy.raw.exists()


def test_other_bytes_without_a_known_table_are_not_right(toy, site):
    toy.entry |= {"strict": False, "fingerprint": None}
    toy.from_addresses(f"{site.address}/other")
    site.serve("/other", OTHER_TABLE)
    assert ask_sources("toy")[0][1:] == (False, "serves other bytes, and no table is known")


def test_a_download_that_breaks_off_is_no_answer_for_the_next_address(toy, site):
    toy.from_addresses(f"{site.address}/broken", f"{site.address}/known")
    site.serve("/broken", GOOD, cut=len(GOOD) // 5, ranges=True)
    site.serve("/known", GOOD, ranges=True)
    broken, known = ask_sources("toy", backoff=0.001)
    assert "(attempts: 3)" in broken.words and known.is_right and site.ranges[-1] is None


@pytest.mark.parametrize("served, status", [(GOOD, 0), (OTHER_TABLE, 1)])
def test_the_command_fails_where_no_source_serves_a_dataset(served, status, toy, site, tmp_path, capsys):
    toy.from_addresses(f"{site.address}/gone", f"{site.address}/data")
    site.serve("/data", served)
    settings = tmp_path / "settings.yaml"
    settings.write_text("datasets: [toy]\n")
    assert main(["datasets", "--check", "--config", str(settings)]) == status
    name, gone, data, _, verdict = capsys.readouterr().out.splitlines()
    assert name == "toy" and gone == f"  - {site.address}/gone: answers 404 Not Found (attempts: 1)"
    assert data.startswith(f"  {'-' if status else '+'} {site.address}/data: serves ")
    assert verdict == ("No source serves toy." if status else "Every dataset has a source that serves it.")
