"""Files are complete or absent, equal content gives equal bytes, and damaged files are detected, named and refused."""

import errno
import hashlib
import itertools
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.storage import (
    check_checksum,
    load_arrays,
    load_json,
    load_rows,
    save_arrays,
    save_json,
    save_rows,
    write_bytes,
    write_checksum,
    write_text,
)

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b/0": np.array(["x", "yy"]), "empty": np.zeros((0, 4), dtype=np.uint8)}


def test_the_bytes_of_saved_arrays_never_change(tmp_path):
    """The bytes of numpy.savez change with the version of Python, even from 3.11.2 to 3.11.7."""
    save_arrays(tmp_path / "x.npz", ARRAYS)
    digest = hashlib.sha256((tmp_path / "x.npz").read_bytes()).hexdigest()
    assert digest == "3e4d7c00a2161acdae45d321b8bf4a58318a373d25165abe1fb82d6f11ea9bd2"
    with np.load(tmp_path / "x.npz") as archive:
        assert set(archive.files) == {"about", *ARRAYS}


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    write_text(path, "old")

    def raise_disk_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", raise_disk_full)
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


def save_text_rows(path, rows):
    save_rows(path, rows, list(rows[0]))


TEXT = "a,b\n1,# sha256 \n2,# x sha256 é\n"
# For each kind of file: the function that saves it, the one that loads it, and a value.
KINDS_OF_FILES = {
    "arrays": (save_arrays, load_arrays, {"a/0": np.array([0.5])}),
    "JSON": (save_json, load_json, {"a": 0.1, "é": {"b": [1, None]}}),
    "rows": (save_text_rows, load_rows, [{"a": "1", "b, c": 'x "é"\r\n'}, {"a": "", "b, c": ","}]),
    "text beside its hash": (save_checked_text, load_checked_text, TEXT),
}


@pytest.fixture(params=KINDS_OF_FILES)
def saved_file(request, tmp_path):
    """The path of a file in a folder of results, the function that loads it, and its value."""
    save, load, value = KINDS_OF_FILES[request.param]
    suffix = {load_arrays: ".npz", load_json: ".json"}.get(load, ".csv")
    path = tmp_path / f"results/pieces/iris/clusterlets/k5/seeds0-9{suffix}"
    save(path, value)
    return path, load, value


def equal(loaded, expected):
    if not isinstance(expected, dict):
        return loaded == expected
    return loaded.keys() == expected.keys() and all(
        np.array_equal(loaded[name], value) and loaded[name].dtype == value.dtype
        if isinstance(value, np.ndarray)
        else loaded[name] == value
        for name, value in expected.items()
    )


def test_saved_values_are_loaded_unchanged(saved_file):
    path, load, value = saved_file
    assert equal(load(path), value)


def with_flipped_bit(content, index, bit):
    return content[:index] + bytes([content[index] ^ 1 << bit]) + content[index + 1 :]


def damaged_versions(content):
    yield from (with_flipped_bit(content, index, bit) for index in range(len(content)) for bit in range(8))
    yield from (content[:length] for length in range(len(content)))
    yield from (content + b"\n", b"\n" + content, 2 * content)


def test_a_file_with_a_flipped_bit_a_cut_or_an_addition_is_named_and_refused_unless_the_damage_changes_no_value(saved_file):
    path, load, value = saved_file
    hash_file = path.with_name(f"{path.name}.sha256")
    contents = {file: file.read_bytes() for file in (path, hash_file) if file.exists()}
    n_harmless = n_versions = 0
    for damaged_file in contents:
        for damaged_content in damaged_versions(contents[damaged_file]):
            for file, content in contents.items():
                file.unlink(missing_ok=True)  # overwriting a file is slow on some file systems
                file.write_bytes(damaged_content if file == damaged_file else content)
            n_versions += 1
            try:
                loaded = load(path)
            except UnusableFileError as refused:
                assert re.search("is damaged.* left as it is. Remove it, and run the same command again", str(refused))
                assert refused.path == path and damaged_file.read_bytes() == damaged_content
            else:
                assert equal(loaded, value)
                n_harmless += 1
    # A reader of ZIP ignores dates, versions and modes; JSON may have other white space.
    assert n_harmless <= 0.2 * n_versions


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EMFILE, errno.EIO, errno.ENOMEM], ids=errno.errorcode.get)
def test_a_file_that_cannot_be_read_does_not_count_as_damaged(saved_file, monkeypatch, fault):
    path, load, value = saved_file

    def refuse(*_, **__):
        raise OSError(fault, os.strerror(fault))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(OSError, match=os.strerror(fault)):
            load(path)
    assert equal(load(path), value)


# For each file, the paths of other files at which somebody might put it by mistake.
WRONG_PATHS = {
    "pieces/iris/clusterlets/k5/seeds0-9.npz": [
        "pieces/wine/clusterlets/k5/seeds0-9.npz",
        "pieces/iris/frac/k5/seeds0-9.npz",
        "pieces/iris/clusterlets/k7/seeds0-9.npz",
        "pieces/iris/clusterlets/k5/seeds10-19.npz",
        "labels/iris/clusterlets/k5/seeds0-9.npz",
        "variants/scaled/pieces/iris/clusterlets/k5/seeds0-9.npz",
    ],
    "prepared/iris.npz": ["prepared/wine.npz", "variants/scaled/prepared/iris.npz"],
    "geometry/iris.json": ["geometry/wine.json", "prepared/iris.json"],
    "variants/kl/runs/iris/D/k5/seeds0-9.csv.budget": ["runs/iris/D/k5/seeds0-9.csv.budget"],
}


KINDS_THAT_RECORD_THEIR_PATH = [KINDS_OF_FILES[kind] for kind in ("arrays", "JSON")]


@pytest.mark.parametrize("right", WRONG_PATHS)
def test_a_file_at_the_path_of_a_different_file_is_refused_and_kept(tmp_path, right):
    right_path = tmp_path / "results" / right
    for save, load, value in KINDS_THAT_RECORD_THEIR_PATH:
        save(right_path, value)
        for wrong in WRONG_PATHS[right]:
            wrong_path = tmp_path / "results" / wrong
            wrong_path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(right_path, wrong_path)
            with pytest.raises(UnusableFileError, match=f"{wrong} holds what belongs at {right}, .*: remove it or move it"):
                load(wrong_path)
            assert wrong_path.read_bytes() == right_path.read_bytes()
        assert equal(load(right_path), value)


@pytest.mark.parametrize("folder", ["elsewhere/deep", "runs", "prepared", "pieces/geometry", "a # place b", "variants"])
def test_the_folder_of_results_may_move_and_be_renamed(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    Path("link").symlink_to(folder)
    for path, (save, load, value) in itertools.product(map(Path, WRONG_PATHS), KINDS_THAT_RECORD_THEIR_PATH):
        save("results" / path, value)
        Path("results").rename(folder)
        detour = folder / ".." / folder.name
        for results in (folder, tmp_path / folder, detour, Path("link")):
            assert equal(load(results / path), value)
        for subfolder in (path.parent, path.parents[-2]):
            with monkeypatch.context() as patch:
                patch.chdir(folder / subfolder)
                assert equal(load(path.relative_to(subfolder)), value)
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "content", ["", "a,b\n", "a,crc32\n", "a,crc32\n1,\n", "a,crc32\n1,2,3\n", "{}", '{"about": "x"}', '{"about": [1]}', "[]"]
)
def test_a_file_without_a_valid_description_counts_as_damaged(tmp_path, content):
    path = tmp_path / "seeds0-9.csv"
    for load in (load_arrays, load_json, load_rows):
        path.write_text(content)
        with pytest.raises(UnusableFileError, match="is damaged"):
            load(path)
        assert path.read_text() == content


def test_arrays_that_do_not_say_what_they_are_count_as_damaged(tmp_path):
    np.savez(tmp_path / "x.npz", **ARRAYS)
    with pytest.raises(UnusableFileError, match="is damaged"):
        load_arrays(tmp_path / "x.npz")


def test_an_array_whose_header_was_damaged_to_a_smaller_shape_is_not_cut(tmp_path):
    """numpy.load would stop after the rows that the header names, before the CRC of the member."""
    save_arrays(tmp_path / "x.npz", {"a": np.arange(9000.0)})
    content = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(content.replace(b"(9000,)", b"(1000,)"))
    with pytest.raises(UnusableFileError, match="is damaged"):
        load_arrays(tmp_path / "x.npz")


def test_values_cannot_have_the_key_that_is_reserved_for_the_description(tmp_path):
    for save, value in ((save_json, {"about": 1}), (save_arrays, {"about": np.zeros(1)})):
        with pytest.raises(ValueError, match="'about'"):
            save(tmp_path / "x", value)
    assert not (tmp_path / "x").exists()


def test_a_missing_file_is_named(tmp_path):
    for load in (load_arrays, load_json, load_rows):
        with pytest.raises(ClusterletsError, match="nowhere does not exist"):
            load(tmp_path / "nowhere")


def test_a_missing_checksum_file_is_accepted_but_an_empty_one_is_refused(tmp_path):
    write_text(tmp_path / "runs.csv", TEXT)
    check_checksum(tmp_path / "runs.csv")
    (tmp_path / "runs.csv.sha256").write_text("")
    with pytest.raises(ClusterletsError, match="damaged"):
        check_checksum(tmp_path / "runs.csv")


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum")
def test_sha256sum_can_check_a_checksum_file(tmp_path):
    save_checked_text(tmp_path / "runs.csv", TEXT)
    subprocess.run(["sha256sum", "--check", "--strict", "runs.csv.sha256"], cwd=tmp_path, check=True)


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


@pytest.mark.parametrize("target", ["existing/x.txt", "absent/x.txt"])
def test_writing_to_a_link_to_a_link_writes_the_target(tmp_path, target):
    write_text(tmp_path / "existing/x.txt", "old")
    (tmp_path / "second").symlink_to(tmp_path / target)
    (tmp_path / "first").symlink_to("second")
    write_text(tmp_path / "first", "new")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / target).read_text() == "new"


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_gets_the_default_mode(tmp_path):
    former_umask = os.umask(0o027)
    try:
        write_text(tmp_path / "x.txt", "new")
    finally:
        os.umask(former_umask)
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["link to itself", "folder", "socket"])
def test_a_path_that_cannot_be_written_is_named_and_left_unchanged(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    path = Path("taken")
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "link to itself":
            path.symlink_to("taken")
        elif kind == "folder":
            path.mkdir()
        else:
            listener.bind("taken")
        before = path.lstat()
        with pytest.raises(OSError) as refused:
            write_text(path, "new")
        assert refused.value.filename == "taken"
        assert path.lstat() == before
        assert os.listdir() == ["taken"]


PRINTING_PROGRAM = """
import sys
from clusterlets.storage import write_text
print("before")
write_text(sys.argv[1], "content" + chr(10))
print("after")
"""


@pytest.fixture
def stdout_link(tmp_path):
    """A copy of the link /dev/stdout. If the tests run as root, a bug could delete the original for the whole machine."""
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    if not link.exists():
        pytest.skip("there is no /proc here")
    return link


@pytest.mark.parametrize("name", ["stdout", "output.txt"])
def test_writing_to_the_file_of_standard_output_keeps_what_the_program_prints(tmp_path, stdout_link, name):
    with (tmp_path / "output.txt").open("w") as file:
        subprocess.run([sys.executable, "-c", PRINTING_PROGRAM, name], cwd=tmp_path, stdout=file, check=True)
    assert (tmp_path / "output.txt").read_text() == "before\ncontent\nafter\n"
    assert stdout_link.is_symlink()


@pytest.mark.parametrize(("name", "printed"), [("stdout", "before\ncontent\nafter\n"), ("output.txt", "before\nafter\n")])
def test_writing_while_standard_output_is_a_pipe_keeps_what_the_program_prints(tmp_path, stdout_link, name, printed):
    assert subprocess.check_output([sys.executable, "-c", PRINTING_PROGRAM, name], cwd=tmp_path, text=True) == printed
    assert name == "stdout" or (tmp_path / name).read_text() == "content\n"
    assert stdout_link.is_symlink()
