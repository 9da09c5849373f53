"""Which source a fetch uses, what its receipt says, which files it leaves alone, and what ``datasets --check`` prints."""

import base64
import hashlib
from urllib.parse import unquote

import pytest
from served import ADULT, GOOD, WRONG

from clusterlets.__main__ import main
from clusterlets.benchmark.datasets.fetch import ask_sources, fetch
from clusterlets.errors import ClusterletsError


@pytest.mark.parametrize("kind", ["folder", "file address", "web address"])
def test_a_mirror_can_be_a_folder_a_file_address_or_a_web_address(kind, toy, site, tmp_path):
    folder = tmp_path / "a mirror"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "diabetes.csv").write_bytes(GOOD)
    site.serve("/data/toy/diabetes.csv", GOOD)
    mirror = {"folder": str(folder), "file address": folder.as_uri(), "web address": f"{site.address}/data/"}[kind]
    assert toy.fetch_and_check(mirror) == {
        "dataset": "toy",
        "source": "mirror",
        "sha256_matches": True,
        "files": {"diabetes.csv": {"bytes": len(GOOD), "sha256": hashlib.sha256(GOOD).hexdigest()}},
    }


def test_bundled_datasets_are_not_requested_from_a_mirror(site, tmp_path):
    assert fetch("iris", tmp_path, site.address)["source"] == "bundled"
    assert site.requested_paths == []


def test_a_raw_file_put_in_place_by_hand_is_used_and_kept_unless_it_is_empty(toy, site):
    site.serve("/toy/diabetes.csv", GOOD)
    toy.target.parent.mkdir(parents=True)
    toy.target.touch()
    with pytest.raises(ClusterletsError, match="by hand: diabetes.csv is empty"):
        toy.fetch()
    toy.target.write_bytes(b"anything")
    receipt = toy.fetch(site.address)
    assert (receipt["source"], receipt["sha256_matches"]) == ("by hand", False)
    assert site.requested_paths == [] and [path.name for path in toy.target.parent.iterdir()] == ["diabetes.csv"]


def test_if_one_of_two_files_was_put_in_place_by_hand_only_the_other_is_fetched(toy_of_two_files, site):
    toy_of_two_files.target.parent.mkdir(parents=True)
    content_by_hand = ADULT["adult.data"].replace(b"\n", b"\r\n")
    toy_of_two_files.target.write_bytes(content_by_hand)
    site.serve("/toy/adult.data", ADULT["adult.data"])
    site.serve("/toy/adult.test", ADULT["adult.test"])
    receipt = toy_of_two_files.fetch(site.address)
    assert receipt["source"] == "by hand and mirror" and toy_of_two_files.target.read_bytes() == content_by_hand
    assert site.requested_paths == ["/toy/adult.test"] and toy_of_two_files.fetch(site.address) == receipt


def test_if_a_source_fails_the_next_one_is_used(toy, site, tmp_path):
    toy.set_sources(f"{site.address}/gone", f"{site.address}/page", f"{site.address}/good")
    site.serve("/page", b"<!DOCTYPE html><html>Please log in</html>")
    site.serve("/good", GOOD)
    assert toy.fetch_and_check(str(tmp_path / "no mirror"))["source"] == f"{site.address}/good"
    assert site.requested_paths == ["/gone"] * 3 + ["/page", "/good"]


def test_the_message_says_in_order_why_each_source_failed(toy, site):
    toy.set_sources(f"{site.address}/gone")
    message = toy.assert_fetch_fails("404", mirror=f"{site.address}/mirror")
    assert [line.split(": ")[0].strip() for line in message.splitlines()[1:4]] == [
        "- by hand",
        f"- mirror {site.address}/mirror",
        f"- {site.address}/gone",
    ]
    assert "CLUSTERLETS_MIRROR" in message and "make reproduce EXCLUDE=toy" in message


def test_the_password_of_a_mirror_is_in_no_message_and_no_file(toy, site):
    mirror = site.address.replace("//", "//me:secret@")
    assert "secret" not in toy.assert_fetch_fails("404", f"mirror {site.address}", mirror=mirror)
    site.serve("/toy/diabetes.csv", GOOD, cut=len(GOOD) // 5)
    toy.assert_fetch_fails("attempts: 3", mirror=mirror)
    site.replies.clear()
    site.serve("/toy/diabetes.csv", status=302, headers={"Location": "http://me:secret@127.0.0.1:9x/toy"})
    assert "secret" not in toy.assert_fetch_fails("mirror", mirror=mirror)
    assert not [path for path in toy.raw.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


UNUSABLE_MIRRORS = {
    "nothing listens": "http://me:se%2Fcret@127.0.0.1:9",
    "an invalid port": "http://me:secret@127.0.0.1:port/data",
    "a slash, an at sign and a space in the password": "http://me:se/c@re t@127.0.0.1:9/data",
    "an invalid IPv6 address": "http://me:secret@[::1/data",
    "no host": "http://me:secret@/data",
    "no scheme": "me:secret@127.0.0.1:/data",
    "an unknown scheme in capitals": "S3://me:se cret@bucket",
}


@pytest.mark.parametrize("mirror", UNUSABLE_MIRRORS.values(), ids=UNUSABLE_MIRRORS)
def test_the_password_of_a_mirror_with_an_unusable_address_is_in_no_message(mirror, toy):
    message = toy.assert_fetch_fails("mirror ", mirror=mirror)
    # Parts of the passwords, because a message could show only a part.
    assert not [part for part in ("cret", "se%2F", "se/", "c@re") if part in message]


@pytest.mark.parametrize("password", ["secret", "se%2Fcr%40t"])
def test_the_password_of_a_mirror_is_sent_to_the_mirror(password, toy, site):
    site.serve("/toy/diabetes.csv", GOOD)
    toy.fetch_and_check(site.address.replace("//", f"//me:{password}@"))
    login = base64.b64decode(site.logins[0].removeprefix("Basic ")).decode()
    assert login == f"me:{unquote(password)}"


def test_messages_show_the_full_name_of_a_mirror_folder_with_an_at_sign_or_colon(toy, tmp_path):
    for folder in (tmp_path / "a@b", tmp_path / "2021-01-01T10:00@home"):
        toy.assert_fetch_fails(f"mirror {folder}: {folder}/toy/diabetes.csv is missing", mirror=str(folder))


def test_bytes_that_cannot_be_checked_are_used_only_if_no_source_serves_the_known_ones(toy, site):
    """Here, as for nbfi, the catalogue has no fingerprint of the table, so only the known bytes are certain to be right."""
    toy.entry |= {"strict": False, "fingerprint": None}
    toy.set_sources(f"{site.address}/unknown", f"{site.address}/known")
    site.serve("/unknown", WRONG)
    site.serve("/known", GOOD.replace(b"33.6", b"63.3", 1))
    receipt = toy.fetch()
    assert receipt["sha256_matches"] is False and toy.target.read_bytes() == WRONG
    toy.target.unlink()
    site.heal("/known")
    assert toy.fetch_and_check()["source"] == f"{site.address}/known"


@pytest.mark.parametrize("content, matches", [(b"test content\n", True), (b"test content\r\n", False)])
def test_a_git_blob_id_stands_in_for_an_unknown_sha256(content, matches, toy):
    blob_id = "d670460b4b4aece5915caf5c68d12f560a9fe3e4"  # of "test content\n", from the book "Pro Git"
    toy.entry["files"] = [{"name": "diabetes.csv", "git_blob": [blob_id]}]
    toy.target.parent.mkdir(parents=True)
    toy.target.write_bytes(content)
    assert toy.fetch()["sha256_matches"] is matches


def test_checking_the_sources_gives_a_verdict_on_each(toy, site):
    toy.set_sources(*(f"{site.address}/{path}" for path in ("gone", "crlf", "known", "table", "page")))
    site.serve("/crlf", GOOD.replace(b"\n", b"\r\n"))
    site.serve("/known", GOOD)
    site.serve("/table", WRONG)
    site.serve("/page", b"<!DOCTYPE html><html>Please log in</html>")
    gone, crlf, known, table, page = ask_sources("toy")
    assert gone.source == f"{site.address}/gone"
    assert not gone.is_right and gone.verdict.startswith("404 Client Error: Not Found ") and "attempts: 3" in gone.verdict
    assert (crlf.is_right, crlf.verdict) == (True, "serves other bytes, but the known table")
    assert (known.is_right, known.verdict) == (True, "serves the known bytes")
    assert not table.is_right and table.verdict.startswith("serves bytes other than the known ones, and ")
    assert (page.is_right, page.verdict) == (False, "page is a web page, not data")
    assert site.requested_paths == [*["/gone"] * 3, "/crlf", "/known", "/table", "/page"] and not toy.raw.exists()


@pytest.mark.parametrize("served, status", [(GOOD, 0), (WRONG, 1)])
def test_the_command_fails_if_no_source_serves_a_dataset(served, status, toy, site, tmp_path, capsys):
    toy.set_sources(f"{site.address}/gone", f"{site.address}/data")
    site.serve("/data", served)
    settings = tmp_path / "settings.yaml"
    settings.write_text("datasets: [toy]\n")
    assert main(["datasets", "--check", "--config", str(settings)]) == status
    name, gone, data, _, verdict = capsys.readouterr().out.splitlines()
    assert name == "toy" and gone.startswith(f"  - {site.address}/gone: 404 Client Error: Not Found ")
    assert data.startswith(f"  {'-' if status else '+'} {site.address}/data: serves ")
    assert verdict == ("No source serves toy." if status else "Every dataset has a source that serves it.")
