"""Files are whole or absent, equal content is equal bytes, and damage is found, named and removed."""

import os
import shutil
import subprocess

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
