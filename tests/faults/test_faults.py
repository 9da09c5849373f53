"""What can go wrong between a publisher and a disk: one test per fault.

After each, the final file is absent or right, the message names dataset, source and remedy, and a rerun recovers.
"""

import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import zipfile

import pytest
from disks import disk, remount
from processes import wait_until
from served import ADULT, GOOD, archive

from clusterlets import storage
from clusterlets.datasets import transfer
from clusterlets.steps.fetching import fetch_dataset
from clusterlets.steps.preparing import prepare_dataset

FILE, ZIP = "/diabetes.csv", "/toy.zip"
WRONG = GOOD.replace(b"33.6", b"36.3", 1)
HALF = len(GOOD) // 2

# Runs a fetch of the toy in a process of its own: catalogue (JSON), raw folder.
CHILD = """
import json, sys
from clusterlets.datasets import catalogue
from clusterlets.datasets.fetch import fetch
catalogue._catalogue = lambda: json.loads(sys.argv[1])
print("started", flush=True)
print(json.dumps(fetch("toy", sys.argv[2])), flush=True)
"""


@pytest.fixture
def address(toy, site):
    """The address of the toy's file, its only source."""
    toy.from_addresses(site.address + FILE)
    return site.address + FILE


@pytest.fixture
def zipped(toy, site):
    """The address of an archive that holds the toy's file, its only source."""
    toy.from_addresses(site.address + ZIP, members={"diabetes.csv": "diabetes.csv"})
    return site.address + ZIP


@pytest.fixture
def child(toy):
    """Start a process that fetches the toy, with a different program if need be; none outlives the test."""
    started = []

    def start(program=CHILD, *arguments):
        command = [sys.executable, "-c", program, json.dumps(toy.catalogue), str(toy.raw), *map(str, arguments)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


# What a server answers.

_ZIPPED = gzip.compress(GOOD)
BAD_ANSWERS = {
    "not found": ({"status": 404}, "404 Client Error: Not Found .*attempts: 3"),
    "busy": ({"status": 503}, "503 Server Error: Service Unavailable .*attempts: 3"),
    "a redirect in a circle": ({"status": 302, "headers": {"Location": FILE}}, "Exceeded 30 redirects"),
    "a web page": ({"body": b"\n <!DOCTYPE html><html>Please log in</html>"}, "diabetes.csv is a web page, not data"),
    "nothing": ({"body": b""}, "diabetes.csv is empty"),
    "damaged compression": (
        {"body": _ZIPPED[:99] + b"damaged" + _ZIPPED[106:], "headers": {"Content-Encoding": "gzip"}},
        "ContentDecodingError",
    ),
    "cut at every attempt": ({"body": GOOD, "cut": HALF}, "ChunkedEncodingError.*attempts: 3"),
    "too short a length": (
        {"body": GOOD, "headers": {"Content-Length": str(HALF)}},
        "bytes other than the known ones, and diabetes.csv, line",
    ),
    "an early end": (
        {"body": GOOD[: GOOD.index(b"\n5000,") + 1], "sized": False},
        "bytes other than the known ones, and .*expected 10000 rows, found 5000",
    ),
    "the right length with wrong bytes": ({"body": WRONG}, "bytes other than the known ones, and .*its values differ"),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_a_bad_answer_is_named(answer, toy, site, address):
    reply, reason = BAD_ANSWERS[answer]
    site.serve(FILE, **reply)
    toy.refuses(reason, address)
    site.heal(FILE)
    toy.recovers()


GOOD_IN_THE_END = {
    "busy at first": [{"status": 503}, {"body": GOOD}],
    "cut at first": [{"body": GOOD, "cut": HALF}, {"body": GOOD}],
    "silent half way at first": [{"body": GOOD, "stall": HALF}, {"body": GOOD}],
    "moved": [{"status": 302, "headers": {"Location": FILE}}, {"body": GOOD}],
    "compressed on the way": [{"body": _ZIPPED, "headers": {"Content-Encoding": "gzip"}}],
}


@pytest.mark.parametrize("replies", GOOD_IN_THE_END.values(), ids=GOOD_IN_THE_END)
def test_a_good_answer_in_the_end_is_enough(replies, toy, site, address, monkeypatch):
    monkeypatch.setattr(transfer, "_TIMEOUT", 0.5)
    for reply in replies:
        site.serve(FILE, **reply)
    assert toy.recovers()["source"] == address
    assert site.requested_paths == [FILE] * len(replies)


# What the connection does.


def test_a_silent_server_is_given_up(toy, site, address, monkeypatch):
    monkeypatch.setattr(transfer, "_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        toy.from_addresses(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        toy.refuses("timed out.*ReadTimeout, attempts: 3", "http://127.0.0.1")
    toy.from_addresses(address)
    site.heal(FILE)
    toy.recovers()


@pytest.mark.parametrize("slow", ["body", "headers"])
def test_a_server_that_sends_too_slowly_is_given_up(slow, toy, site, address, monkeypatch):
    monkeypatch.setattr(transfer, "_MAX_SECONDS", 0.5)
    toy.from_addresses(address, f"{site.address}/good")
    site.serve(FILE, GOOD, drip=(1, 0.05), slow_headers=slow == "headers")
    site.serve("/good", GOOD)
    assert toy.recovers()["source"] == f"{site.address}/good"
    toy.target.unlink()
    toy.from_addresses(address)
    toy.refuses("takes longer than 0.5 s", address)


def test_a_dead_proxy_is_named(toy, site, address, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused.getsockname()[1]}")
    toy.from_addresses("http://data.example/toy.csv")
    toy.refuses("proxy.*ProxyError, attempts: 3", "http://data.example/toy.csv")
    monkeypatch.setenv("http_proxy", site.address)
    site.heal("http://data.example/toy.csv")
    toy.recovers()


# What the bytes are.


@pytest.mark.parametrize("bytes_of_mirror", [WRONG, GOOD[:HALF]])
def test_wrong_bytes_on_the_mirror_do_not_shadow_the_publisher(bytes_of_mirror, toy, site, address):
    site.serve("/mirror/toy/diabetes.csv", bytes_of_mirror)
    toy.refuses(f"mirror {site.address}/mirror: serves bytes other than the known ones, and", address, f"{site.address}/mirror")
    site.heal(FILE)
    assert toy.recovers(f"{site.address}/mirror")["source"] == address


@pytest.mark.parametrize("sized", [True, False])
def test_a_file_over_the_size_limit_is_refused(sized, toy, site, address, monkeypatch):
    with monkeypatch.context() as small:
        small.setattr(transfer, "_MAX_BYTES", HALF)
        site.serve(FILE, GOOD, sized=sized)
        toy.refuses("a file of more than .* MB cannot be the expected one", address)
    toy.recovers()


# Archives.


@pytest.mark.parametrize("outside", ["../", "../../", "{absolute}/"])
def test_an_archive_cannot_write_outside_its_folder(outside, toy, site, zipped, tmp_path):
    outside = outside.format(absolute=tmp_path / "outside")
    site.serve(ZIP, archive({f"{outside}diabetes.csv": WRONG, f"{outside}escaped": GOOD}))
    before = {path for path in tmp_path.rglob("*") if toy.raw not in [path, *path.parents]}
    toy.refuses("its values differ", zipped)
    assert {path for path in tmp_path.rglob("*") if toy.raw not in [path, *path.parents]} == before
    site.heal(ZIP, archive({"../diabetes.csv": WRONG, "diabetes.csv": GOOD}))
    toy.recovers()


@pytest.mark.parametrize("member", ["diabetes.csv", "inner.zip/diabetes.csv"])
def test_a_zip_bomb_is_refused(member, toy, site, zipped, monkeypatch):
    monkeypatch.setattr(transfer, "_MAX_BYTES", 2**20)
    toy.from_addresses(zipped, members={"diabetes.csv": member})

    def nested(content):
        inner = archive({"folder/diabetes.csv": content})
        return inner if member == "diabetes.csv" else archive({"inner.zip": inner})

    site.serve(ZIP, nested(bytes(50 * 2**20)))
    toy.refuses("a file of more than 1 MB", zipped)
    assert not [path for path in toy.raw.rglob("*") if path.is_file() and path.stat().st_size], "it fills the disk"
    site.heal(ZIP, nested(GOOD))
    toy.recovers()


_STORED = archive({"diabetes.csv": GOOD}, zipfile.ZIP_STORED)


def _damaged(mark, offset, byte):
    """The archive with one byte changed: in the stored member, or in its entry in the directory of members."""
    position = _STORED.index(mark) + offset
    return _STORED[:position] + byte + _STORED[position + 1 :]


BAD_ARCHIVES = {
    "truncated": (_STORED[:-30], "its archive cannot be used: File is not a zip file"),
    "without the member": (archive({"readme.txt": b"moved"}), "its archive cannot be used: it holds no diabetes.csv"),
    "a web page": (b"<html>Please log in</html>", "is a web page, not data"),
    "a changed byte": (_damaged(b"5000,", 0, b"?"), "its archive cannot be used: .*Bad CRC-32"),
    "no directory": (_damaged(b"PK\x01\x02", 0, b"?"), "Bad magic number for central directory"),
    "encrypted": (_damaged(b"PK\x01\x02", 8, b"\x01"), "encrypted"),
    "an unknown compression": (_damaged(b"PK\x01\x02", 10, b"\x63"), "compression method is not supported"),
}


@pytest.mark.parametrize("form", BAD_ARCHIVES)
def test_a_bad_archive_is_named(form, toy, site, zipped):
    content, reason = BAD_ARCHIVES[form]
    site.serve(ZIP, content)
    toy.refuses(reason, zipped)
    site.heal(ZIP, archive({"diabetes.csv": GOOD}))
    toy.recovers()


# Mirrors.


@pytest.mark.parametrize("folder", ["mirror", "raw"])
def test_a_pipe_is_not_read_as_a_file(folder, toy, site, address, tmp_path):
    (tmp_path / folder / "toy").mkdir(parents=True)
    os.mkfifo(tmp_path / folder / "toy" / "diabetes.csv")
    site.serve(FILE, GOOD)
    assert toy.recovers(str(tmp_path / "mirror"))["source"] == address
    toy.target.unlink()
    toy.from_addresses()
    if folder == "mirror":
        toy.refuses("diabetes.csv is not a regular file", mirror=str(tmp_path / "mirror"))


# The disk and the machine.


@pytest.fixture
def small_disk(toy):
    """The toy's raw folder as a file system of 128 kB."""
    with disk(toy.raw, "size=128k") as folder:
        yield folder


def test_a_full_disk_is_named(toy, site, address, small_disk):
    site.serve(FILE, GOOD, sized=False)
    toy.refuses("No space left on device.*\n.*free space on its disk")
    names = {path.name for path in toy.target.parent.iterdir()}
    assert names == {".lock", ".origin.json"}, "what was written still fills the disk"
    remount(small_disk, "size=4m")
    toy.recovers()


def test_a_full_disk_of_temporary_files_is_named(toy, site, address, tmp_path, monkeypatch):
    site.serve(FILE, GOOD)
    with disk(tmp_path / "temporary", "size=128k") as small, monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(small))
        toy.refuses(f"cannot be stored in {small}/.* .No space left on device", address)
    toy.recovers()


def test_a_read_only_disk_is_named(toy, site, address, small_disk):
    site.heal(FILE)
    remount(small_disk, "ro")
    toy.refuses("no file can be written to .*: Read-only file system.*\n.*make it a folder that you may write to")
    remount(small_disk, "rw,size=4m")
    receipt = toy.recovers()
    remount(small_disk, "ro")
    assert toy.fetch() == receipt, "files that are there need no writing"


def test_a_file_where_the_raw_folder_should_be_is_named(toy, site, address):
    site.heal(FILE)
    toy.raw.write_text("not a folder")
    toy.refuses("no file can be written to .*: Not a directory.*\n.*make it a folder that you may write to")
    toy.raw.unlink()
    toy.recovers()


def test_of_two_processes_at_once_only_one_downloads(toy, site, address, child):
    site.serve(FILE, GOOD, stall=HALF)
    first, second = child(), child()
    assert [process.stdout.readline() for process in (first, second)] == ["started\n"] * 2
    assert site.stalled.wait(20)
    site.resume.set()
    receipts = [json.loads(process.communicate(timeout=20)[0]) for process in (first, second)]
    assert receipts[0] == receipts[1] == toy.recovers()
    assert site.requested_paths == [FILE]


def test_two_processes_both_succeed_where_the_disk_has_no_locks(toy, site, address, child):
    site.serve(FILE, GOOD, stall=HALF)
    unlocked = "import fcntl, os\ndef flock(*_):\n    raise OSError(95, os.strerror(95))\nfcntl.flock = flock\n" + CHILD
    first, second = child(unlocked), child(unlocked)
    wait_until(lambda: len(site.requested_paths) == 2)
    site.resume.set()
    receipts = [json.loads(process.communicate(timeout=20)[0].splitlines()[-1]) for process in (first, second)]
    assert receipts[0] == receipts[1] == toy.recovers()


def test_a_fetch_killed_during_the_download_can_be_repeated(toy, site, address, child):
    site.serve(FILE, GOOD, stall=HALF)
    killed = child()
    assert site.stalled.wait(20)
    killed.kill()
    killed.wait()
    assert toy.finished() == []
    site.resume.set()
    site.heal(FILE)
    toy.recovers()


# Put before a program: it waits as soon as a file whose name ends in the last argument is about to get its name.
STALLING = """
import os, sys, time
replace = os.replace
def stall(source, target):
    if str(target).endswith(sys.argv[-1]):
        print("stalled", flush=True)
        time.sleep(60)
    replace(source, target)
os.replace = stall
"""
PREPARING = """
from clusterlets.steps.preparing import prepare_dataset
prepare_dataset("iris", sys.argv[1], sys.argv[2], "none", sys.argv[3], sys.argv[4])
"""


def kill_when_stalled(program, *arguments):
    with subprocess.Popen([sys.executable, "-c", STALLING + program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: process.stdout.readline() == "stalled\n")
        process.kill()


def test_a_fetch_killed_between_two_files_can_be_repeated(pair, site):
    pair.from_addresses(site.address + ZIP, members={file: file for file in ADULT})
    site.heal(ZIP, archive(ADULT))
    kill_when_stalled(CHILD, json.dumps(pair.catalogue), pair.raw, "adult.test")
    assert pair.finished() == ["adult.data"] and pair.target.read_bytes() == ADULT["adult.data"]
    (unnamed,) = pair.raw.glob("toy/.adult.test.*")  # such a file stays, but is never taken for data
    unnamed.unlink()
    assert pair.recovers()["source"] == site.address + ZIP


@pytest.mark.parametrize("file, finished", [("data.npz", []), ("data.json", ["data.npz"])])
def test_a_preparation_that_was_killed_can_be_repeated(file, finished, tmp_path):
    receipt, prepared = tmp_path / "receipt.json", tmp_path / "prepared"
    outputs = [prepared / "data.npz", prepared / "data.json"]
    fetch_dataset("iris", tmp_path / "raw", receipt)
    kill_when_stalled(PREPARING, tmp_path / "raw", receipt, *outputs, file)
    assert sorted(path.name for path in prepared.iterdir() if not path.name.startswith(".")) == finished
    prepare_dataset("iris", tmp_path / "raw", receipt, "none", *outputs)
    assert storage.load_arrays(outputs[0])["X"].shape == (150, 4)
    assert json.loads(outputs[1].read_text())["rows"] == 150
