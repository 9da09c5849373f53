"""Files are whole or absent, equal content gives equal bytes, and damaged files are noticed, named and removed."""

import errno
import hashlib
import itertools
import json
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.storage import (
    check_checksum,
    is_intact,
    load_arrays,
    load_json,
    load_text,
    save_arrays,
    save_json,
    save_text,
    write_bytes,
    write_checksum,
    write_text,
)

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b/0": np.array(["x", "yy"]), "empty": np.zeros((0, 4), dtype=np.uint8)}


def test_equal_arrays_at_equal_paths_give_equal_bytes(tmp_path):
    paths = [tmp_path / folder / "prepared" / "x.npz" for folder in "ab"]
    for path in paths:
        save_arrays(path, ARRAYS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_bytes_of_arrays_do_not_change(tmp_path):
    """Also with other versions of Python: numpy.savez writes different archives with Python 3.11.2 and 3.11.7."""
    save_arrays(tmp_path / "x.npz", ARRAYS)
    digest = hashlib.sha256((tmp_path / "x.npz").read_bytes()).hexdigest()
    assert digest == "1896541d54d81a3495a49dd56bd6f93cd9ac7a36abcfe62382b1ee28cb615d1c"


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


TEXT = "a,b\n1,# sha256 \n2,# x sha256 é\n"
SAVED = {
    "arrays": (save_arrays, load_arrays, {"a/0": np.array([0.5])}),
    "JSON": (save_json, load_json, {"a": 0.1, "é": {"b": [1, None]}}),
    "text": (save_text, load_text, TEXT),
    "text beside its hash": (save_checked_text, load_checked_text, TEXT),
    "empty text": (save_text, load_text, ""),
}


@pytest.fixture(params=SAVED)
def saved(request, tmp_path):
    """A file of each kind below a folder of results: its path, its loader and its content."""
    save, load, value = SAVED[request.param]
    path = tmp_path / "results/pieces/iris/clusterlets/k5/seeds0-9.x"
    save(path, value)
    return path, load, value


def equal(loaded, expected):
    if not isinstance(expected, dict) or not any(isinstance(value, np.ndarray) for value in expected.values()):
        return loaded == expected
    return loaded.keys() == expected.keys() and all(
        np.array_equal(loaded[name], expected[name]) and loaded[name].dtype == expected[name].dtype for name in expected
    )


def test_saved_values_are_loaded_unchanged(saved):
    path, load, value = saved
    assert equal(load(path), value)
    for arrays in (ARRAYS, {}):
        save_arrays(path, arrays)
        assert equal(load_arrays(path), arrays)


def flipped(content, at, bit):
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def damages_of(content):
    yield from (flipped(content, index, bit) for index in range(len(content)) for bit in range(8))
    yield from (content[:length] for length in range(len(content)))
    yield from (content + b"\n", b"\n" + content, 2 * content)


def test_every_flipped_bit_and_every_cut_is_named_and_removed(saved):
    path, load, _ = saved
    beside = path.with_name(f"{path.name}.sha256")
    contents = {file: file.read_bytes() for file in (path, beside) if file.exists()}
    for file, content in contents.items():
        for damaged in damages_of(content):
            for other in contents:
                if not other.exists():  # overwriting a file is slow on some file systems
                    other.write_bytes(contents[other])
            file.unlink()
            file.write_bytes(damaged)
            with pytest.raises(UnusableFileError, match="was damaged .* removed.*Run the same command again") as refused:
                raise AssertionError(load(path))
            assert refused.value.path == file and not file.exists()


def test_a_flipped_bit_in_a_large_file_is_named_and_removed(tmp_path):
    path, rng = tmp_path / "x.npz", np.random.default_rng(0)
    save_arrays(path, {"X": rng.normal(size=(2000, 30)), "labels": rng.integers(9, size=2000)})
    content = path.read_bytes()
    for index, bit in zip(rng.integers(len(content), size=200), rng.integers(8, size=200), strict=True):
        path.write_bytes(flipped(content, int(index), int(bit)))
        with pytest.raises(UnusableFileError, match="was damaged"):
            load_arrays(path)
        assert not path.exists()


@pytest.mark.parametrize("fault", ["EACCES", "EMFILE", "EIO", "ENOMEM"])
def test_a_file_that_cannot_be_read_is_not_damaged(saved, monkeypatch, fault):
    path, load, value = saved

    def refuse(*_, **__):
        raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(OSError, match=os.strerror(getattr(errno, fault))):
            load(path)
    assert equal(load(path), value)


def test_without_a_free_descriptor_nothing_is_removed(saved):
    path, load, value = saved
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            load(path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert equal(load(path), value)


# For each file, where else it may be put by mistake.
PLACES = {
    "pieces/iris/clusterlets/k5/seeds0-9.npz": [
        "pieces/wine/clusterlets/k5/seeds0-9.npz",
        "pieces/iris/frac/k5/seeds0-9.npz",
        "pieces/iris/clusterlets/k7/seeds0-9.npz",
        "pieces/iris/clusterlets/k5/seeds10-19.npz",
        "labels/iris/clusterlets/k5/seeds0-9.npz",
        "variants/scaled/pieces/iris/clusterlets/k5/seeds0-9.npz",
    ],
    "runs/iris/D/k5_hops2/seeds0-9.csv": ["runs/wine/D/k5_hops2/seeds0-9.csv", "runs/iris/B/k5_hops2/seeds0-9.csv"],
    "variants/kl/runs/iris/D/k5_hops2/seeds0-9.csv": [
        "runs/iris/D/k5_hops2/seeds0-9.csv",
        "variants/relative/runs/iris/D/k5_hops2/seeds0-9.csv",
    ],
    "prepared/iris.npz": ["prepared/wine.npz", "variants/scaled/prepared/iris.npz"],
    "geometry/iris.json": ["geometry/wine.json", "prepared/iris.json"],
    "variants/kl/runs.csv.sha256": ["runs.csv.sha256", "variants/relative/runs.csv.sha256"],
}


FORMS = ("arrays", "JSON", "text")


@pytest.mark.parametrize("place", PLACES)
def test_a_file_at_the_path_of_another_is_refused_and_kept(tmp_path, place):
    right = tmp_path / "results" / place
    for save, load, value in map(SAVED.get, FORMS):
        save(right, value)
        for other in PLACES[place]:
            path = tmp_path / "results" / other
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(right, path)
            with pytest.raises(UnusableFileError, match=f"{other} holds what belongs at {place}, .*: remove it or move it"):
                load(path)
            assert path.read_bytes() == right.read_bytes()
        assert equal(load(right), value)


@pytest.mark.parametrize("folder", ["elsewhere/deep", "runs", "prepared", "pieces/geometry", "a # place b", "variants"])
def test_the_folder_of_results_may_move_and_be_renamed(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    Path("link").symlink_to(folder)
    for place, (save, load, value) in itertools.product(PLACES, map(SAVED.get, FORMS)):
        save(Path("results", place), value)
        Path("results").rename(folder)
        detour = Path(folder, "..", Path(folder).name)
        for base in (Path(folder), tmp_path / folder, detour, Path("link")):
            assert equal(load(base / place), value)
        for subfolder in (Path(place).parent, Path(place).parents[-2]):
            with monkeypatch.context() as patch:
                patch.chdir(Path(folder, subfolder))
                assert equal(load(Path(place).relative_to(subfolder)), value)
        shutil.rmtree(folder)


def test_a_copied_table_is_refused_even_with_its_hash(tmp_path):
    for folder in ("results", "results/variants/kl"):
        save_checked_text(tmp_path / folder / "runs.csv", folder)
    for name in ("runs.csv", "runs.csv.sha256"):
        shutil.copy(tmp_path / "results/variants/kl" / name, tmp_path / "results" / name)
    with pytest.raises(UnusableFileError, match="runs.csv.sha256 holds what belongs at variants/kl/runs.csv.sha256"):
        check_checksum(tmp_path / "results/runs.csv")


def test_a_damaged_file_is_removed_from_the_cache_that_it_links_to_too(tmp_path):
    """Otherwise the next run would restore it."""
    cached, link = tmp_path / "cache" / "1f.npz", tmp_path / "results.npz"
    save_arrays(link, {"a": np.arange(3)})
    cached.parent.mkdir()
    link.rename(cached)
    link.symlink_to(cached)
    assert load_arrays(link)["a"].tolist() == [0, 1, 2]
    cached.write_bytes(cached.read_bytes()[:-1])
    with pytest.raises(UnusableFileError, match="was damaged"):
        load_arrays(link)
    assert not link.is_symlink() and not cached.exists()


@pytest.mark.parametrize(
    "content", ["a,b\n", "# a,b\n", "# seeds0-9.csv sha256 \na,b\n", "{}", '{"about": "x"}', '{"about": [1]}', "[]"]
)
def test_a_file_without_its_description_is_damaged(tmp_path, content):
    path = tmp_path / "seeds0-9.csv"
    for load in (load_arrays, load_json, load_text):
        path.write_text(content)
        with pytest.raises(UnusableFileError, match="was damaged"):
            load(path)
        assert not path.exists()


def test_an_ordinary_archive_of_another_program_is_damaged(tmp_path):
    """It has no ``about`` member, which says what the file is."""
    np.savez(tmp_path / "x.npz", **ARRAYS)
    with pytest.raises(UnusableFileError, match="was damaged"):
        load_arrays(tmp_path / "x.npz")


def test_content_replaced_under_an_old_hash_is_damaged(tmp_path):
    """Each member has a correct CRC, as written by a tool that does not know our checksum."""
    path, archive = tmp_path / "x.npz", tmp_path / "other.npz"
    save_arrays(path, {"a": np.array([1.0])})
    save_arrays(archive, {"a": np.array([2.0])})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(archive) as new:
        members = {"about.npy": old.read("about.npy"), "a.npy": new.read("a.npy")}
    with zipfile.ZipFile(path, "w") as replaced:
        for name, content in members.items():
            replaced.writestr(zipfile.ZipInfo(name), content)
    with pytest.raises(UnusableFileError, match="was damaged"):
        load_arrays(path)


def test_numpy_can_read_an_archive_and_its_description(tmp_path):
    save_arrays(tmp_path / "x.npz", ARRAYS)
    with np.load(tmp_path / "x.npz") as archive:
        assert set(archive.files) == {"about", *ARRAYS}
        about = json.loads(str(archive["about"]))
    assert about["place"] == "x.npz" and len(about["sha256"]) == 64


def test_the_key_of_the_description_cannot_be_used_for_something_else(tmp_path):
    for save, value in ((save_json, {"about": 1}), (save_arrays, {"about": np.zeros(1)})):
        with pytest.raises(ValueError, match="'about'"):
            save(tmp_path / "x", value)
    assert not (tmp_path / "x").exists()


def test_a_cell_can_be_checked_where_it_is(tmp_path):
    right, other = tmp_path / "runs/iris/D/k2/seeds0-1.csv", tmp_path / "runs/wine/D/k2/seeds0-1.csv"
    save_text(right, TEXT)
    other.parent.mkdir(parents=True)
    shutil.copy(right, other)
    assert is_intact(right) and not is_intact(other)
    right.write_bytes(flipped(right.read_bytes(), 0, 0))
    assert not is_intact(right) and right.exists()


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_whether_arrays_and_json_are_intact(tmp_path, suffix):
    file = tmp_path / f"file{suffix}"
    save_arrays(file, {"x": np.arange(3)}) if suffix == ".npz" else save_json(file, {"x": 3})
    assert is_intact(file)
    content = file.read_bytes()
    for place in range(len(content)):
        file.write_bytes(flipped(content, place, 0))
        assert not is_intact(file) and file.exists()


def test_a_missing_file_is_named(tmp_path):
    for load in (load_arrays, load_json, load_text):
        with pytest.raises(ClusterletsError, match="nowhere does not exist"):
            load(tmp_path / "nowhere")


def test_a_table_without_a_checksum_file_is_accepted(tmp_path):
    write_text(tmp_path / "runs.csv", TEXT)
    check_checksum(tmp_path / "runs.csv")
    write_checksum(tmp_path / "runs.csv")
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", "runs.csv.sha256"], cwd=tmp_path, check=True)
    (tmp_path / "runs.csv.sha256").write_text("")
    with pytest.raises(ClusterletsError, match="damaged"):
        check_checksum(tmp_path / "runs.csv")


# ---- where files are written -----------------------------------------------------------------------------------------


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
def test_a_path_that_cannot_be_written_is_named_and_stays(tmp_path, monkeypatch, kind):
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


def test_a_new_file_has_the_default_mode_of_the_system(tmp_path):
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
    """Also if it is redirected to a file, under any name: text printed before and after is kept.

    Does not use /dev/stdout itself, because a bug could delete it for the whole machine when run as root.
    """
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    if not (tmp_path / "stdout").exists():
        pytest.skip("there is no /proc here")
    command = [sys.executable, "-c", PRINTS, name]
    if goes_to == "file":
        with (tmp_path / "said.txt").open("w") as file:
            subprocess.run(command, cwd=tmp_path, stdout=file, check=True)
        output = (tmp_path / "said.txt").read_text()
    else:
        output = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True).stdout
        if name == "said.txt":
            output = (tmp_path / name).read_text().join(output.splitlines(keepends=True))
    assert output == "before\ncontent\nafter\n" and (tmp_path / "stdout").is_symlink()


def test_content_is_flushed_before_the_rename_and_the_folder_after_it(tmp_path, monkeypatch):
    path, flushed = tmp_path / "x.txt", []
    write_text(path, "old")
    flush = os.fsync

    def watch(handle):
        flush(handle)
        info = os.fstat(handle)
        flushed.append((stat.S_ISDIR(info.st_mode), info.st_size if stat.S_ISREG(info.st_mode) else None, path.read_text()))

    monkeypatch.setattr(os, "fsync", watch)
    write_text(path, "new content")
    assert flushed == [(False, 11, "old"), (True, None, "new content")]


@pytest.mark.parametrize(("fault", "is_told"), [("EINVAL", False), ("EIO", True)])
def test_files_are_written_even_if_folders_cannot_be_flushed(tmp_path, monkeypatch, fault, is_told):
    flush = os.fsync

    def refuse_folders(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))
        flush(handle)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    with pytest.raises(OSError) if is_told else nullcontext():
        write_text(tmp_path / "x.txt", "new")
    assert (tmp_path / "x.txt").read_text() == "new"
