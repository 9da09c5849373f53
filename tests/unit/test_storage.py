"""Files are whole or absent, equal content is equal bytes, and damage is found, named and removed."""

import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.storage import (
    check_checksum,
    load_arrays,
    load_json,
    load_text,
    save_arrays,
    save_json,
    save_text,
    write_bytes,
    write_checksum,
    write_text,
)  # fmt: skip

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b/0": np.array(["x", "yy"]), "empty": np.zeros((0, 4), dtype=np.uint8)}


def test_what_is_written_is_read(tmp_path):
    save_arrays(tmp_path / "deep" / "x.npz", ARRAYS)
    found = load_arrays(tmp_path / "deep" / "x.npz")
    assert found.keys() == ARRAYS.keys()
    assert all(np.array_equal(found[name], ARRAYS[name]) and found[name].dtype == ARRAYS[name].dtype for name in ARRAYS)


def test_equal_arrays_give_equal_bytes(tmp_path):
    for name in ("1.npz", "2.npz"):
        save_arrays(tmp_path / name, ARRAYS)
        os.utime(tmp_path / name, (0, 0))
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


@pytest.mark.parametrize("damage", ["truncated", "emptied", "bit flipped", "other content", "no digest"])
def test_damage_is_named_and_removed(tmp_path, damage):
    path = tmp_path / "x.npz"
    save_arrays(path, ARRAYS)
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "emptied":
        path.write_bytes(b"")
    elif damage == "bit flipped":
        at = content.index(np.float64(5.0).tobytes())
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage == "other content":
        np.savez(path, sha256=np.array("0" * 64), **ARRAYS)
    else:
        np.savez(path, **ARRAYS)
    with pytest.raises(ClusterletsError, match=r"x\.npz was damaged"):
        load_arrays(path)
    assert not path.exists()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ClusterletsError, match="nothing.npz does not exist"):
        load_arrays(tmp_path / "nothing.npz")


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    write_text(path, "old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_bytes(path, b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def save_checked_text(path, text):
    write_text(path, text)
    write_checksum(path)


def load_checked_text(path):
    check_checksum(path)
    return path.read_text()


TEXT = "a,b\n1,# sha256 \n2,é\n"
SAVED = {
    "JSON": (save_json, load_json, {"a": 0.1, "é": {"b": [1, None]}}),
    "text": (save_text, load_text, TEXT),
    "text beside its hash": (save_checked_text, load_checked_text, TEXT),
    "empty text": (save_text, load_text, ""),
}


@pytest.mark.parametrize("kind", SAVED)
def test_what_is_saved_comes_back_and_any_damage_is_named_and_removed(tmp_path, kind):
    save, load, value = SAVED[kind]
    path = tmp_path / "x"
    save(path, value)
    assert load(path) == value
    content = path.read_bytes()
    flipped = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(len(content))]
    for damaged in [b"", content[:-1], content[: len(content) // 2], content + b"\n", *flipped]:
        if kind == "JSON" and damaged.strip() == content.strip():
            continue  # white space around it
        save(path, value)
        path.write_bytes(damaged)
        with pytest.raises(ClusterletsError, match=r"x was damaged .* removed.*Run the same command again"):
            raise AssertionError(load(path))
        assert not path.exists()


def test_the_key_of_the_hash_cannot_be_used_for_something_else(tmp_path):
    with pytest.raises(ValueError, match="'sha256' is kept for the hash"):
        save_json(tmp_path / "x", {"sha256": "of something else"})
    assert not (tmp_path / "x").exists()


def test_missing_json_and_text_are_named(tmp_path):
    for load in (load_json, load_text):
        with pytest.raises(ClusterletsError, match="nowhere does not exist"):
            load(tmp_path / "nowhere")


def test_a_table_without_a_hash_beside_it_is_taken_as_it_is(tmp_path):
    write_text(tmp_path / "runs.csv", TEXT)
    check_checksum(tmp_path / "runs.csv")
    write_checksum(tmp_path / "runs.csv")
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", "runs.csv.sha256"], cwd=tmp_path, check=True)
    (tmp_path / "runs.csv.sha256").write_text("")
    with pytest.raises(ClusterletsError, match="damaged"):
        check_checksum(tmp_path / "runs.csv")


# ---- where something is written to -----------------------------------------------------------------------------------


def test_a_device_is_written_into(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("devices cannot be made here")
    before = device.stat()
    write_bytes(device, b"nothing")
    after = device.stat()
    assert stat.S_ISCHR(after.st_mode) and (after.st_rdev, after.st_ino) == (before.st_rdev, before.st_ino)
    assert os.listdir(tmp_path) == ["null"]


def test_a_pipe_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = bytes(range(256)) * 4000  # more than a pipe holds
    with (tmp_path / "read").open("wb") as read, subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=read) as reader:
        try:
            write_bytes(tmp_path / "pipe", content)
            reader.wait(timeout=10)
        finally:
            reader.kill()
    assert (tmp_path / "read").read_bytes() == content
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("target", ["real/x.txt", "absent/x.txt"])
def test_a_symbolic_link_is_followed(tmp_path, target):
    write_text(tmp_path / "real" / "x.txt", "old")
    (tmp_path / "two").symlink_to(tmp_path / target)
    (tmp_path / "one").symlink_to("two")
    write_text(tmp_path / "one", "new")
    assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()
    assert (tmp_path / target).read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == sorted({"one", "two", "real", target.split("/")[0]})


@pytest.mark.parametrize("kind", ["circle", "folder", "socket"])
def test_what_cannot_be_written_is_named_and_stays(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    path = Path("taken")
    with socket.socket(socket.AF_UNIX) as opened:
        if kind == "circle":
            path.symlink_to("taken")
        elif kind == "folder":
            path.mkdir()
        else:
            opened.bind("taken")
        before = path.lstat()
        with pytest.raises(OSError) as refused:
            write_text(path, "new")
        assert refused.value.filename == "taken" and path.lstat() == before and os.listdir() == ["taken"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_text() == "new"


def test_a_new_file_has_the_mode_that_the_system_gives(tmp_path):
    former = os.umask(0o027)
    try:
        write_text(tmp_path / "x.txt", "new")
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write over the files of others")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (12345, 54321, "new")


PRINTS = """
import sys
from clusterlets.storage import write_text
print("before")
write_text(sys.argv[1], "content" + chr(10))
print("after")
"""


@pytest.mark.parametrize("name", ["stdout", "said.txt"])
@pytest.mark.parametrize("goes_to", ["file", "pipe"])
def test_the_output_of_the_process_itself_is_written_into(tmp_path, name, goes_to):
    """Also where it goes to a file, by whatever name: what was printed before and is printed after stays.

    Not by /dev/stdout itself: a fault, as root, would take it from everybody.
    """
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    if not (tmp_path / "stdout").exists():
        pytest.skip("there is no /proc here")
    command = [sys.executable, "-c", PRINTS, name]
    if goes_to == "file":
        with (tmp_path / "said.txt").open("w") as file:
            subprocess.run(command, cwd=tmp_path, stdout=file, check=True)
        said = (tmp_path / "said.txt").read_text()
    else:
        said = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True).stdout
        if name == "said.txt":
            said = (tmp_path / name).read_text().join(said.splitlines(keepends=True))
    assert said == "before\ncontent\nafter\n" and (tmp_path / "stdout").is_symlink()


def test_content_is_on_the_disk_before_it_has_its_name_and_the_name_before_anything_follows(tmp_path, monkeypatch):
    path, flushed = tmp_path / "x.txt", []
    write_text(path, "old")
    flush = os.fsync

    def watch(handle):
        flush(handle)
        what = os.fstat(handle)
        flushed.append((stat.S_ISDIR(what.st_mode), what.st_size if stat.S_ISREG(what.st_mode) else None, path.read_text()))

    monkeypatch.setattr(os, "fsync", watch)
    write_text(path, "new content")
    assert flushed == [(False, 11, "old"), (True, None, "new content")]


@pytest.mark.parametrize(("fault", "is_told"), [("EINVAL", False), ("EIO", True)])
def test_where_folders_cannot_be_flushed_files_are_written_all_the_same(tmp_path, monkeypatch, fault, is_told):
    flush = os.fsync

    def refuse_folders(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))
        flush(handle)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    with pytest.raises(OSError) if is_told else nullcontext():
        write_text(tmp_path / "x.txt", "new")
    assert (tmp_path / "x.txt").read_text() == "new"
