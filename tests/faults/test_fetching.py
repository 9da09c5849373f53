"""Fetching raw files: each source serves, each way of failing fails its source, and nothing half is left."""

import hashlib
import io
import json
import socket
import zipfile

import pytest

from clusterlets.datasets import fetch as module
from clusterlets.datasets.fetch import fetch
from clusterlets.errors import ClusterletsError

GOOD = b"a,b,class\n1,2,no\n3,4,yes\n" * 400
OTHER = b"class,share\nyes,1\n"


@pytest.fixture
def toy(monkeypatch):
    """Make a dataset ``toy`` known: ``toy(sources, files)``."""

    def describe(sources=(), files=("toy.csv",)):
        known = {"toy.csv": GOOD, "other.csv": OTHER}
        described = {
            "name": "toy", "module": "toy", "sources": list(sources),
            "files": [{"name": file, "sha256": hashlib.sha256(known[file]).hexdigest()} for file in files],
        }
        monkeypatch.setattr(module, "describe", lambda name: described)

    return describe


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return buffer.getvalue()


def refused(raw, match, mirror=None):
    """Fetching fails with a message that says why and what to do, and leaves no file."""
    with pytest.raises(ClusterletsError, match=match) as caught:
        fetch("toy", raw, mirror, backoff=0.001)
    message = str(caught.value)
    assert str(raw / "toy" / "toy.csv") in message
    assert "CLUSTERLETS_MIRROR" in message and "make reproduce EXCLUDE=toy" in message
    assert not raw.exists() or not [path for path in raw.rglob("*") if path.is_file()]
    return message


@pytest.mark.parametrize("kind", ["folder", "file address", "web address"])
def test_a_mirror_serves_in_each_form(kind, toy, site, tmp_path):
    toy()
    folder = tmp_path / "a mirror"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "toy.csv").write_bytes(GOOD)
    site.serve("/data/toy/toy.csv", GOOD)
    mirror = {"folder": str(folder), "file address": folder.as_uri(), "web address": f"{site.address}/data/"}[kind]
    receipt = fetch("toy", tmp_path / "raw", mirror)
    assert (tmp_path / "raw" / "toy" / "toy.csv").read_bytes() == GOOD
    assert receipt == {
        "dataset": "toy", "source": "mirror", "sha256_matches": True,
        "files": {"toy.csv": {"bytes": len(GOOD), "sha256": hashlib.sha256(GOOD).hexdigest()}},
    }


def test_bundled_datasets_ask_no_mirror(site, tmp_path):
    assert fetch("iris", tmp_path, site.address)["source"] == "bundled"
    assert site.asked == []


def test_a_file_put_by_hand_wins_and_stays(toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", GOOD)
    mine = tmp_path / "toy" / "toy.csv"
    mine.parent.mkdir()
    mine.write_bytes(GOOD.replace(b"\n", b"\r\n"))
    receipt = fetch("toy", tmp_path, site.address)
    assert (receipt["source"], receipt["sha256_matches"]) == ("by hand", False)
    assert site.asked == [] and b"\r" in mine.read_bytes()


def test_a_second_fetch_still_knows_the_source(toy, site, tmp_path):
    toy(sources=[{"url": f"{site.address}/toy.csv"}])
    site.serve("/toy.csv", GOOD)
    first = fetch("toy", tmp_path)
    assert first["source"] == f"{site.address}/toy.csv"
    assert fetch("toy", tmp_path) == first and len(site.asked) == 1
    (tmp_path / "toy" / "toy.csv").write_bytes(OTHER)
    assert fetch("toy", tmp_path)["source"] == "by hand"


def test_the_next_source_serves_where_one_fails(toy, site, tmp_path):
    toy(sources=[{"url": f"{site.address}/gone"}, {"url": f"{site.address}/page"}, {"url": f"{site.address}/good"}])
    site.serve("/page", b"<!DOCTYPE html><html>Please log in</html>")
    site.serve("/good", GOOD)
    assert fetch("toy", tmp_path, str(tmp_path / "no mirror"))["source"] == f"{site.address}/good"
    assert site.asked == ["/gone", "/page", "/good"]


def test_a_missing_page_is_asked_for_once(toy, site, tmp_path):
    toy(sources=[{"url": f"{site.address}/gone"}])
    message = refused(tmp_path, "404", mirror=f"{site.address}/mirror")
    assert site.asked == ["/mirror/toy/toy.csv", "/gone"]
    assert [line.split(": ")[0].strip() for line in message.splitlines()[1:4]] == [
        "- by hand", f"- mirror {site.address}/mirror", f"- {site.address}/gone"
    ]


def test_a_busy_server_is_asked_again(toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", b"later", status=503)
    site.serve("/toy/toy.csv", GOOD)
    assert fetch("toy", tmp_path, site.address, backoff=0.001)["sha256_matches"]
    assert len(site.asked) == 2


def test_a_connection_that_breaks_off_is_tried_again(toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", GOOD, cut=len(GOOD) // 2)
    site.serve("/toy/toy.csv", GOOD)
    fetch("toy", tmp_path, site.address, backoff=0.001)
    assert (tmp_path / "toy" / "toy.csv").read_bytes() == GOOD


def test_a_connection_that_always_breaks_off_leaves_nothing(toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", GOOD, cut=len(GOOD) // 2)
    refused(tmp_path, r"attempts: 3", mirror=site.address)
    assert len(site.asked) == 3


def test_a_silent_server_is_given_up(toy, tmp_path, monkeypatch):
    toy()
    monkeypatch.setattr(module, "_TIMEOUT", (0.2, 0.2))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused(tmp_path, "ReadTimeout.*attempts: 3", mirror=f"http://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.parametrize("body, why", [
    (b"\n<html><body>404</body></html>", "web page"), (b"", "empty"), (b" \r\n", "empty"),
])
def test_what_is_no_data_is_refused(body, why, toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", body)
    refused(tmp_path, why, mirror=site.address)


def test_an_empty_file_put_by_hand_is_passed_over(toy, tmp_path):
    toy()
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.csv").touch()
    with pytest.raises(ClusterletsError, match="by hand: toy.csv is empty"):
        fetch("toy", tmp_path)


def test_other_bytes_are_taken_but_marked(toy, site, tmp_path):
    toy()
    site.serve("/toy/toy.csv", OTHER)
    receipt = fetch("toy", tmp_path, site.address)
    assert receipt["sha256_matches"] is False
    assert receipt["files"]["toy.csv"]["sha256"] == hashlib.sha256(OTHER).hexdigest()


@pytest.mark.parametrize("content, known", [(b"test content\n", True), (b"test content\r\n", False)])
def test_a_git_blob_id_stands_in_for_an_unknown_sha256(content, known, tmp_path, monkeypatch):
    blob = "d670460b4b4aece5915caf5c68d12f560a9fe3e4"  # the example of git's own book
    described = {"name": "toy", "module": "toy", "sources": [], "files": [{"name": "toy.csv", "git_blob": [blob]}]}
    monkeypatch.setattr(module, "describe", lambda name: described)
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.csv").write_bytes(content)
    assert fetch("toy", tmp_path)["sha256_matches"] is known


def test_what_grows_past_the_limit_is_refused(toy, site, tmp_path, monkeypatch):
    toy(sources=[{"url": f"{site.address}/toy.zip", "members": {"toy.csv": "toy.csv"}}])
    monkeypatch.setattr(module, "_LARGEST", 2**12)
    site.serve("/toy/toy.csv", GOOD)
    site.serve("/toy.zip", archive(**{"toy.csv": GOOD}))
    message = refused(tmp_path, "so it is not the expected file", mirror=site.address)
    assert "toy.csv in its archive is larger" in message


def test_a_dataset_of_two_files_comes_whole_or_not_at_all(toy, site, tmp_path):
    toy(files=["toy.csv", "other.csv"])
    site.serve("/toy/toy.csv", GOOD)
    refused(tmp_path, "other.csv", mirror=site.address)
    site.serve("/toy/other.csv", OTHER)
    assert fetch("toy", tmp_path, site.address)["sha256_matches"]
    (tmp_path / "toy" / "other.csv").write_bytes(OTHER + b"no,0\n")
    assert fetch("toy", tmp_path)["sha256_matches"] is False


def test_archives_serve_by_member_and_through_inner_archives(toy, site, tmp_path):
    members = {"toy.csv": "inner.zip/toy.csv", "other.csv": "other.csv"}
    toy(sources=[{"url": f"{site.address}/toy.zip", "members": members}], files=["toy.csv", "other.csv"])
    inner = archive(**{"toy.csv": GOOD, "readme": b"?"})
    site.serve("/toy.zip", archive(**{"inner.zip": inner, "folder/other.csv": OTHER}))
    assert fetch("toy", tmp_path)["sha256_matches"]
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [".origin.json", "other.csv", "toy.csv"]


@pytest.mark.parametrize("content, why", [
    (archive(**{"../toy.csv": GOOD}), "holds no toy.csv"),
    (archive(**{"wrong.csv": GOOD}), "holds no toy.csv"),
    (archive(**{"toy.csv": b""}), "toy.csv is empty"),
    (archive(**{"toy.csv": GOOD})[:-30], "no intact zip archive"),
    (b"<html>not an archive</html>", "no intact zip archive"),
])
def test_bad_archives_are_refused(content, why, toy, site, tmp_path):
    toy(sources=[{"url": f"{site.address}/toy.zip", "members": {"toy.csv": "toy.csv"}}])
    site.serve("/toy.zip", content)
    refused(tmp_path / "raw", why)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_damaged_member_is_refused(toy, site, tmp_path):
    toy(sources=[{"url": f"{site.address}/toy.zip", "members": {"toy.csv": "toy.csv"}}])
    content = bytearray(archive(**{"toy.csv": GOOD}))
    content[50] ^= 0xFF
    site.serve("/toy.zip", bytes(content))
    refused(tmp_path, "no intact zip archive")


def test_the_receipt_is_json_without_the_machine(toy, tmp_path):
    toy()
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.csv").write_bytes(GOOD)
    receipt = json.dumps(fetch("toy", tmp_path / "raw", str(tmp_path / "mirror")))
    assert str(tmp_path) not in receipt
