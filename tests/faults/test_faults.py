"""Everything that can go wrong between a publisher and the disk: one test for each fault.

After a fault the raw file is either missing or right, the message names dataset, source and remedy, and the next fetch works.
"""

import gzip
import json
import socket
import subprocess
import sys
import tracemalloc
import zipfile

import pytest
from disks import disk, remount
from processes import wait_until
from served import ADULT, GOOD, WRONG, archive

from clusterlets.benchmark.datasets import transfer

FILE_PATH, ZIP_PATH = "/diabetes.csv", "/toy.zip"  # on the server
HALF_SIZE = len(GOOD) // 2

# A program that fetches the dataset ``toy``. Its arguments are the catalogue, as JSON, and the raw folder.
FETCH_TOY = """
import json, sys
from clusterlets.benchmark.datasets import catalogue
from clusterlets.benchmark.datasets.fetch import fetch
catalogue._catalogue = lambda: json.loads(sys.argv[1])
print("started", flush=True)
print(json.dumps(fetch("toy", sys.argv[2])), flush=True)
"""


@pytest.fixture
def address(toy, site):
    """The address of the toy's file, which is the toy's only source."""
    toy.set_sources(site.address + FILE_PATH)
    return site.address + FILE_PATH


@pytest.fixture
def archive_address(toy, site):
    """The address of an archive with the toy's file, which is the toy's only source."""
    toy.set_sources(site.address + ZIP_PATH, members={"diabetes.csv": "diabetes.csv"})
    return site.address + ZIP_PATH


@pytest.fixture
def start_process(toy):
    """A function that starts a program with the arguments of FETCH_TOY. The process is killed after the test."""
    children = []

    def start(program=FETCH_TOY):
        command = [sys.executable, "-c", program, json.dumps(toy.catalogue), str(toy.raw)]
        children.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return children[-1]

    yield start
    for process in children:
        process.kill()
        process.communicate()


# Replies of the server.

_GZIPPED = gzip.compress(GOOD)
BAD_REPLIES = {
    "not found": ({"status": 404}, "404 Client Error: Not Found .*attempts: 3"),
    "busy": ({"status": 503}, "503 Server Error: Service Unavailable .*attempts: 3"),
    "a redirect in a circle": ({"status": 302, "headers": {"Location": FILE_PATH}}, "Exceeded 30 redirects"),
    "a web page": ({"body": b"\n <!DOCTYPE html><html>Please log in</html>"}, "diabetes.csv is a web page, not data"),
    "nothing": ({"body": b""}, "diabetes.csv is empty"),
    "damaged compression": (
        {"body": _GZIPPED[:99] + b"damaged" + _GZIPPED[106:], "headers": {"Content-Encoding": "gzip"}},
        "ContentDecodingError",
    ),
    "cut at every attempt": ({"body": GOOD, "cut": HALF_SIZE}, "ChunkedEncodingError.*attempts: 3"),
    "too short a length": (
        {"body": GOOD, "headers": {"Content-Length": str(HALF_SIZE)}},
        "bytes other than the known ones, and diabetes.csv, line",
    ),
    "an early end": (
        {"body": GOOD[: GOOD.index(b"\n5000,") + 1], "sized": False},
        "bytes other than the known ones, and .*expected 10000 rows, found 5000",
    ),
    "the right length with wrong bytes": ({"body": WRONG}, "bytes other than the known ones, and .*its values differ"),
}


@pytest.mark.parametrize("fault", BAD_REPLIES)
def test_a_bad_reply_is_reported_and_the_next_fetch_works(fault, toy, site, address):
    reply, reason = BAD_REPLIES[fault]
    site.serve(FILE_PATH, **reply)
    toy.assert_fetch_fails(reason, address)
    site.heal(FILE_PATH)
    toy.fetch_and_check()


GOOD_REPLIES = {
    "busy at first": [{"status": 503}, {"body": GOOD}],
    "cut at first": [{"body": GOOD, "cut": HALF_SIZE}, {"body": GOOD}],
    "silent half way at first": [{"body": GOOD, "stall": HALF_SIZE}, {"body": GOOD}],
    "moved": [{"status": 302, "headers": {"Location": FILE_PATH}}, {"body": GOOD}],
    "compressed on the way": [{"body": _GZIPPED, "headers": {"Content-Encoding": "gzip"}}],
}


@pytest.mark.parametrize("replies", GOOD_REPLIES.values(), ids=GOOD_REPLIES)
def test_good_content_is_used_even_if_it_was_retried_redirected_or_compressed(replies, toy, site, address, monkeypatch):
    monkeypatch.setattr(transfer, "_TIMEOUT", 0.5)
    for reply in replies:
        site.serve(FILE_PATH, **reply)
    assert toy.fetch_and_check()["source"] == address
    assert site.requested_paths == [FILE_PATH] * len(replies)


# Faults of the connection.


def test_a_fetch_gives_up_on_a_silent_server(toy, site, address, monkeypatch):
    monkeypatch.setattr(transfer, "_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        toy.set_sources(f"http://127.0.0.1:{silent_server.getsockname()[1]}/")
        toy.assert_fetch_fails("timed out.*ReadTimeout, attempts: 3", "http://127.0.0.1")
    toy.set_sources(address)
    site.heal(FILE_PATH)
    toy.fetch_and_check()


# Wrong content.


@pytest.mark.parametrize("bytes_of_mirror", [WRONG, GOOD[:HALF_SIZE]])
def test_the_publisher_is_used_if_the_mirror_serves_wrong_bytes(bytes_of_mirror, toy, site, address):
    site.serve("/mirror/toy/diabetes.csv", bytes_of_mirror)
    mirror = f"{site.address}/mirror"
    toy.assert_fetch_fails(f"mirror {mirror}: serves bytes other than the known ones, and", address, mirror)
    site.heal(FILE_PATH)
    assert toy.fetch_and_check(mirror)["source"] == address


@pytest.mark.parametrize("sized", [True, False])
def test_a_file_over_the_size_limit_is_refused(sized, toy, site, address, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(transfer, "_MAX_BYTES", HALF_SIZE)
        site.serve(FILE_PATH, GOOD, sized=sized)
        toy.assert_fetch_fails("a file of more than .* MB cannot be the expected one", address)
    toy.fetch_and_check()


# Archives.


@pytest.mark.parametrize("outside", ["../", "../../", "{absolute}/"])
def test_an_archive_cannot_write_outside_its_folder(outside, toy, site, archive_address, tmp_path):
    def paths_outside():
        return {path for path in tmp_path.rglob("*") if not path.is_relative_to(toy.raw)}

    outside = outside.format(absolute=tmp_path / "outside")
    site.serve(ZIP_PATH, archive({f"{outside}diabetes.csv": WRONG, f"{outside}escaped": GOOD}))
    paths_before = paths_outside()
    toy.assert_fetch_fails("its values differ", archive_address)
    assert paths_outside() == paths_before
    site.heal(ZIP_PATH, archive({"../diabetes.csv": WRONG, "diabetes.csv": GOOD}))
    toy.fetch_and_check()


@pytest.mark.parametrize("member", ["diabetes.csv", "inner.zip/diabetes.csv"])
def test_a_zip_bomb_is_refused(member, toy, site, archive_address, monkeypatch):
    monkeypatch.setattr(transfer, "_MAX_BYTES", 2**20)
    toy.set_sources(archive_address, members={"diabetes.csv": member})

    def archive_with(content):
        inner = archive({"folder/diabetes.csv": content})
        return inner if member == "diabetes.csv" else archive({"inner.zip": inner})

    site.serve(ZIP_PATH, archive_with(bytes(50 * 2**20)))
    toy.assert_fetch_fails("a file of more than 1 MB", archive_address)
    assert not [path for path in toy.raw.rglob("*") if path.is_file() and path.stat().st_size], "the unpacked file was kept"
    site.heal(ZIP_PATH, archive_with(GOOD))
    toy.fetch_and_check()


def test_an_archive_that_lies_about_the_size_of_a_file_is_not_unpacked_whole():
    content = bytearray(archive({"diabetes.csv": bytes(100 * 2**20)}))
    for start, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # the size in the file's own entry and in the directory
        position = content.index(start) + offset
        content[position : position + 4] = (1000).to_bytes(4, "little")
    tracemalloc.start()
    with pytest.raises(transfer.SourceFailed, match="Bad CRC-32"):
        transfer.unpack(bytes(content), "diabetes.csv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


_UNCOMPRESSED = archive({"diabetes.csv": GOOD}, zipfile.ZIP_STORED)


def _replace_byte(pattern, offset, byte):
    """The uncompressed archive with one byte replaced, ``offset`` bytes after the first occurrence of ``pattern``."""
    position = _UNCOMPRESSED.index(pattern) + offset
    return _UNCOMPRESSED[:position] + byte + _UNCOMPRESSED[position + 1 :]


# PK\x01\x02 starts an entry of the central directory. Byte 8 of the entry holds its flags, and byte 10 its compression method.
BAD_ARCHIVES = {
    "truncated": (_UNCOMPRESSED[:-30], "its archive cannot be used: File is not a zip file"),
    "without the member": (archive({"readme.txt": b"moved"}), "its archive cannot be used: it holds no diabetes.csv"),
    "a web page": (b"<html>Please log in</html>", "is a web page, not data"),
    "a changed byte": (_replace_byte(b"5000,", 0, b"?"), "its archive cannot be used: .*Bad CRC-32"),
    "no directory": (_replace_byte(b"PK\x01\x02", 0, b"?"), "Bad magic number for central directory"),
    "encrypted": (_replace_byte(b"PK\x01\x02", 8, b"\x01"), "encrypted"),
    "an unknown compression": (_replace_byte(b"PK\x01\x02", 10, b"\x63"), "compression method is not supported"),
}


@pytest.mark.parametrize("fault", BAD_ARCHIVES)
def test_a_bad_archive_is_reported_and_the_next_fetch_works(fault, toy, site, archive_address):
    content, reason = BAD_ARCHIVES[fault]
    site.serve(ZIP_PATH, content)
    toy.assert_fetch_fails(reason, archive_address)
    site.heal(ZIP_PATH, archive({"diabetes.csv": GOOD}))
    toy.fetch_and_check()


# The disk and the machine.


@pytest.fixture
def small_disk(toy):
    """A file system of 128 kB that is mounted at the toy's raw folder."""
    with disk(toy.raw, "size=128k") as folder:
        yield folder


def test_a_full_disk_is_reported(toy, site, address, small_disk):
    site.serve(FILE_PATH, GOOD, sized=False)
    toy.assert_fetch_fails("No space left on device.*\n.*free space on its disk")
    names = {path.name for path in toy.target.parent.iterdir()}
    assert names == {".origin.json"}, "what was written still fills the disk"
    remount(small_disk, "size=4m")
    toy.fetch_and_check()


def test_a_read_only_disk_is_reported_unless_the_files_were_fetched_before(toy, site, address, small_disk):
    site.heal(FILE_PATH)
    remount(small_disk, "ro")
    toy.assert_fetch_fails("no file can be written to .*: Read-only file system.*\n.*make it a folder that you may write to")
    remount(small_disk, "rw,size=4m")
    receipt = toy.fetch_and_check()
    remount(small_disk, "ro")
    assert toy.fetch() == receipt, "a fetch wrote files that exist already"


def test_a_file_in_place_of_the_raw_folder_is_reported(toy, site, address):
    site.heal(FILE_PATH)
    toy.raw.write_text("not a folder")
    toy.assert_fetch_fails("no file can be written to .*: Not a directory.*\n.*make it a folder that you may write to")
    toy.raw.unlink()
    toy.fetch_and_check()


def test_a_fetch_killed_during_the_download_can_be_repeated(toy, site, address, start_process):
    site.serve(FILE_PATH, GOOD, stall=HALF_SIZE)
    interrupted_fetch = start_process()
    assert site.stalled.wait(20)
    interrupted_fetch.kill()
    interrupted_fetch.wait()
    assert toy.data_files() == []
    site.resume.set()
    site.heal(FILE_PATH)
    toy.fetch_and_check()


# Put in front of a program. The program then stalls before it renames a file to a name that ends with the last argument.
STALLER = """
import os, sys, time
replace = os.replace
def stall(source, target):
    if str(target).endswith(sys.argv[-1]):
        print("stalled", flush=True)
        time.sleep(60)
    replace(source, target)
os.replace = stall
"""


def kill_when_stalled(program, *arguments):
    with subprocess.Popen([sys.executable, "-c", STALLER + program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: process.stdout.readline() == "stalled\n")
        process.kill()


def test_a_fetch_killed_between_two_files_can_be_repeated(toy_of_two_files, site):
    toy_of_two_files.set_sources(site.address + ZIP_PATH, members={file: file for file in ADULT})
    site.heal(ZIP_PATH, archive(ADULT))
    kill_when_stalled(FETCH_TOY, json.dumps(toy_of_two_files.catalogue), toy_of_two_files.raw, "adult.test")
    assert toy_of_two_files.data_files() == ["adult.data"] and toy_of_two_files.target.read_bytes() == ADULT["adult.data"]
    (temporary_file,) = toy_of_two_files.raw.glob("toy/.adult.test.*")  # hidden, so it is never mistaken for data
    temporary_file.unlink()
    assert toy_of_two_files.fetch_and_check()["source"] == site.address + ZIP_PATH
