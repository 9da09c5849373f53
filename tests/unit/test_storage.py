"""Files are complete or absent, equal content gives equal bytes, and damaged files are detected, named and removed."""

import errno
import hashlib
import itertools
import os
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


def test_the_bytes_of_arrays_do_not_change(tmp_path):
    """The bytes do not depend on the version of Python, unlike those of numpy.savez, which differ in 3.11.2 and 3.11.7."""
    save_arrays(tmp_path / "x.npz", ARRAYS)
    digest = hashlib.sha256((tmp_path / "x.npz").read_bytes()).hexdigest()
    assert digest == "1896541d54d81a3495a49dd56bd6f93cd9ac7a36abcfe62382b1ee28cb615d1c"
    with np.load(tmp_path / "x.npz") as archive:
        assert set(archive.files) == {"about", *ARRAYS}


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
# For each kind of file: its saver, its loader, and a value.
KINDS_OF_FILES = {
    "arrays": (save_arrays, load_arrays, {"a/0": np.array([0.5])}),
    "JSON": (save_json, load_json, {"a": 0.1, "é": {"b": [1, None]}}),
    "text": (save_text, load_text, TEXT),
    "text beside its hash": (save_checked_text, load_checked_text, TEXT),
    "empty text": (save_text, load_text, ""),
}


@pytest.fixture(params=KINDS_OF_FILES)
def saved_file(request, tmp_path):
    """The path, loader and value of a file below a folder of results, once for each kind of file."""
    save, load, value = KINDS_OF_FILES[request.param]
    suffix = {load_arrays: ".npz", load_json: ".json"}.get(load, ".csv")
    path = tmp_path / f"results/pieces/iris/clusterlets/k5/seeds0-9{suffix}"
    save(path, value)
    return path, load, value


def equal(loaded, expected):
    if not isinstance(expected, dict) or not any(isinstance(value, np.ndarray) for value in expected.values()):
        return loaded == expected
    return loaded.keys() == expected.keys() and all(
        np.array_equal(loaded[name], expected[name]) and loaded[name].dtype == expected[name].dtype for name in expected
    )


def test_saved_values_are_loaded_unchanged(saved_file):
    path, load, value = saved_file
    assert equal(load(path), value) and (load is load_checked_text or is_intact(path))
    for arrays in (ARRAYS, {}):
        save_arrays(path, arrays)
        assert equal(load_arrays(path), arrays)


def with_flipped_bit(content, at, bit):
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def damaged_versions(content):
    yield from (with_flipped_bit(content, index, bit) for index in range(len(content)) for bit in range(8))
    yield from (content[:length] for length in range(len(content)))
    yield from (content + b"\n", b"\n" + content, 2 * content)


def test_a_file_with_a_flipped_bit_a_cut_or_an_addition_is_named_and_removed(saved_file):
    path, load, _ = saved_file
    hash_file = path.with_name(f"{path.name}.sha256")
    contents = {file: file.read_bytes() for file in (path, hash_file) if file.exists()}
    for file, content in contents.items():
        for damaged in damaged_versions(content):
            for other in contents:
                if not other.exists():  # overwriting a file is slow on some file systems
                    other.write_bytes(contents[other])
            file.unlink()
            file.write_bytes(damaged)
            assert file != path or load is load_checked_text or not is_intact(path)
            with pytest.raises(UnusableFileError, match="was damaged .* removed.*Run the same command again") as refused:
                raise AssertionError(load(path))
            assert refused.value.path == file and not file.exists()


@pytest.mark.parametrize("fault", ["EACCES", "EMFILE", "EIO", "ENOMEM"])
def test_a_file_that_cannot_be_read_does_not_count_as_damaged(saved_file, monkeypatch, fault):
    path, load, value = saved_file

    def refuse(*_, **__):
        raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(OSError, match=os.strerror(getattr(errno, fault))):
            load(path)
    assert equal(load(path), value)


# For each file, paths at which it may be put by mistake.
WRONG_PATHS = {
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


DESCRIBED_KINDS = ("arrays", "JSON", "text")


@pytest.mark.parametrize("place", WRONG_PATHS)
def test_a_file_at_the_path_of_a_different_file_is_refused_and_kept(tmp_path, place):
    right = tmp_path / "results" / place
    for save, load, value in map(KINDS_OF_FILES.get, DESCRIBED_KINDS):
        save(right, value)
        for wrong in WRONG_PATHS[place]:
            path = tmp_path / "results" / wrong
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(right, path)
            with pytest.raises(UnusableFileError, match=f"{wrong} holds what belongs at {place}, .*: remove it or move it"):
                load(path)
            assert not is_intact(path) and path.read_bytes() == right.read_bytes()
        assert equal(load(right), value)


@pytest.mark.parametrize("folder", ["elsewhere/deep", "runs", "prepared", "pieces/geometry", "a # place b", "variants"])
def test_the_folder_of_results_may_move_and_be_renamed(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    Path("link").symlink_to(folder)
    for place, (save, load, value) in itertools.product(WRONG_PATHS, map(KINDS_OF_FILES.get, DESCRIBED_KINDS)):
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


def test_a_damaged_file_is_also_removed_from_the_cache_that_it_links_to(tmp_path):
    """Otherwise the next run would restore the damaged file from the cache."""
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
def test_a_file_without_its_description_counts_as_damaged(tmp_path, content):
    path = tmp_path / "seeds0-9.csv"
    for load in (load_arrays, load_json, load_text):
        path.write_text(content)
        with pytest.raises(UnusableFileError, match="was damaged"):
            load(path)
        assert not path.exists()


def test_content_without_its_own_hash_counts_as_damaged(tmp_path):
    """A tool that does not know our hash leaves it out, or keeps the old one while it writes a correct CRC for every member."""
    path, other_path = tmp_path / "x.npz", tmp_path / "other.npz"
    np.savez(path, **ARRAYS)
    with pytest.raises(UnusableFileError, match="was damaged"):
        load_arrays(path)
    save_arrays(path, {"a": np.array([1.0])})
    save_arrays(other_path, {"a": np.array([2.0])})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other_path) as new:
        members = {"about.npy": old.read("about.npy"), "a.npy": new.read("a.npy")}
    with zipfile.ZipFile(path, "w") as mixture:
        for name, content in members.items():
            mixture.writestr(zipfile.ZipInfo(name), content)
    with pytest.raises(UnusableFileError, match="was damaged"):
        load_arrays(path)


def test_values_cannot_have_the_key_that_is_reserved_for_the_description(tmp_path):
    for save, value in ((save_json, {"about": 1}), (save_arrays, {"about": np.zeros(1)})):
        with pytest.raises(ValueError, match="'about'"):
            save(tmp_path / "x", value)
    assert not (tmp_path / "x").exists()


def test_a_missing_file_is_named(tmp_path):
    for load in (load_arrays, load_json, load_text):
        with pytest.raises(ClusterletsError, match="nowhere does not exist"):
            load(tmp_path / "nowhere")


def test_a_table_without_a_checksum_file_is_accepted_but_not_with_an_empty_one(tmp_path):
    write_text(tmp_path / "runs.csv", TEXT)
    check_checksum(tmp_path / "runs.csv")
    write_checksum(tmp_path / "runs.csv")
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", "runs.csv.sha256"], cwd=tmp_path, check=True)
    (tmp_path / "runs.csv.sha256").write_text("")
    with pytest.raises(ClusterletsError, match="damaged"):
        check_checksum(tmp_path / "runs.csv")


# ---- where files are written -----------------------------------------------------------------------------------------


def test_a_pipe_stays_a_pipe_and_passes_all_content_on(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = bytes(range(256)) * 4000  # more than a pipe holds
    with (tmp_path / "read").open("wb") as output, subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=output) as reader:
        try:
            write_bytes(tmp_path / "pipe", content)
            reader.wait(timeout=10)
        finally:
            reader.kill()
    assert (tmp_path / "read").read_bytes() == content
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("target", ["real/x.txt", "absent/x.txt"])
def test_writing_to_a_symbolic_link_writes_its_target(tmp_path, target):
    write_text(tmp_path / "real" / "x.txt", "old")
    (tmp_path / "two").symlink_to(tmp_path / target)
    (tmp_path / "one").symlink_to("two")
    write_text(tmp_path / "one", "new")
    assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()
    assert (tmp_path / target).read_text() == "new"


def test_a_file_keeps_its_mode_and_owner_and_a_new_file_gets_the_default_mode(tmp_path):
    path, new = tmp_path / "x.txt", tmp_path / "new.txt"
    path.write_text("old")
    if os.geteuid() == 0:
        os.chown(path, 12345, 54321)
    path.chmod(0o640)
    before, former_umask = path.stat(), os.umask(0o027)
    try:
        write_text(path, "new")
        write_text(new, "new")
    finally:
        os.umask(former_umask)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert path.read_text() == "new" and stat.S_IMODE(new.stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["circle", "folder", "socket"])
def test_a_path_that_cannot_be_written_is_named_and_left_unchanged(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    path = Path("taken")
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "circle":
            path.symlink_to("taken")
        elif kind == "folder":
            path.mkdir()
        else:
            listener.bind("taken")
        before = path.lstat()
        with pytest.raises(OSError) as refused:
            write_text(path, "new")
        assert refused.value.filename == "taken" and path.lstat() == before and os.listdir() == ["taken"]


PRINTING_PROGRAM = """
import sys
from clusterlets.storage import write_text
print("before")
write_text(sys.argv[1], "content" + chr(10))
print("after")
"""


@pytest.mark.parametrize("name", ["stdout", "said.txt"])
@pytest.mark.parametrize("goes_to", ["file", "pipe"])
def test_writing_to_standard_output_keeps_what_the_program_prints(tmp_path, name, goes_to):
    """Text that is printed before and after is kept, even if output is redirected to a file that is also written by its name.

    The test avoids /dev/stdout itself, because a bug could delete it for the whole machine when run as root.
    """
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    if not (tmp_path / "stdout").exists():
        pytest.skip("there is no /proc here")
    command = [sys.executable, "-c", PRINTING_PROGRAM, name]
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
    path, flushes = tmp_path / "x.txt", []
    write_text(path, "old")
    flush = os.fsync

    def watch(handle):
        flush(handle)
        info = os.fstat(handle)
        flushes.append((stat.S_ISDIR(info.st_mode), info.st_size if stat.S_ISREG(info.st_mode) else None, path.read_text()))

    monkeypatch.setattr(os, "fsync", watch)
    write_text(path, "new content")
    assert flushes == [(False, 11, "old"), (True, None, "new content")]


@pytest.mark.parametrize(("fault", "is_raised"), [("EINVAL", False), ("EIO", True)])
def test_a_file_is_written_even_if_its_folder_cannot_be_flushed(tmp_path, monkeypatch, fault, is_raised):
    flush = os.fsync

    def refuse_folders(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))
        flush(handle)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    with pytest.raises(OSError) if is_raised else nullcontext():
        write_text(tmp_path / "x.txt", "new")
    assert (tmp_path / "x.txt").read_text() == "new"
