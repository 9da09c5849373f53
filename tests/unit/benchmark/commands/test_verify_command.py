"""``clusterlets verify`` names every file that differs from the manifest, and says what to do."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePath

import pytest

from clusterlets import __main__ as command_line
from clusterlets.benchmark.grid.cells import cells, seeds_of
from clusterlets.benchmark.grid.runs_columns import write_cell
from clusterlets.benchmark.provenance import manifest
from clusterlets.errors import ClusterletsError
from clusterlets.storage import hash_of_file

DATASETS = {"iris": {"fingerprint": "f", "scaling": "none", "rows": 150, "features": 4, "groups": {"a": 150}, "source": "x"}}
PROCESSOR = {"processor": "Vendor Model 1", "openblas_kernel": None}
# The settings that determine the grid's cells.
GRID = {
    "datasets": ["iris"],
    "k": [2],
    "methods": ["D"],
    "seeds": {"count": 4, "batch": 2},
    "method_settings": {"D": {"is_matcher": True, "needs_partitions": False, "parameters": {"hops": [1]}}},
}
CELL, SECOND_CELL = (f"runs/iris/D/k2/seeds{seeds}.csv" for seeds in ("0-1", "2-3"))
APPROXIMATE = "statistics/wilcoxon.csv"  # promised within a tolerance
FILES = "runs.csv figures/f.png figures/f.pdf datasets.csv report.html summary.txt".split()
FILES += [APPROXIMATE, "statistics/statistics.md", "statistics/mean_ranks.csv"]
PAGE = "<p>9 numbers<!-- provenance -->{}<!-- end of provenance --></p>"


def save_cell(results, cell, note=""):
    """Write a cell of D without scores."""
    columns = {"dataset": cell.dataset, "method": "Clusterlets", "matcher": cell.method, "k": cell.k, "note": note}
    write_cell(results / cell.path, [{**columns, "parameters": "hops=1", "seed": seed} for seed in seeds_of(cell.seeds)])


def write_manifest(results, **changes):
    """Write the manifest of a results folder. ``changes`` replace arguments of ``manifest.make``."""
    arguments = {
        "files": FILES,
        "settings": GRID,
        "datasets": DATASETS,
        "locked": {"scipy": "2", "numpy": "1"},
        "processor": PROCESSOR,
        "user_files": {},
    }
    (results / "manifest.json").write_text(json.dumps(manifest.make(results, **(arguments | changes))))


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A results folder with its manifest, and with files that are not results."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    for file in [*FILES, "README.md", "accounts/steps.csv", "logs/a.log", "demo/runs.csv", "pieces/g.npz"]:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
    (folder / "report.html").write_text(PAGE.format("on Monday"))
    for cell in cells(GRID):
        save_cell(folder, cell)
    write_manifest(folder, settings=GRID | {"results": "/home/me/results", "mirror": "/mnt/mirror"})
    return folder


def verify(capsys, *arguments):
    status = command_line.main(["verify", *arguments])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_the_manifest_has_groups_settings_versions_and_no_paths(results):
    content = manifest.read(results / "manifest.json")
    assert {group: list(files) for group, files in content["files"].items()} == {
        "numbers": ["runs.csv", "runs/iris/D/", "statistics/mean_ranks.csv"],
        "approximate": ["statistics/statistics.md", "statistics/wilcoxon.csv"],
        "figures": ["figures/f.pdf", "figures/f.png"],
        "sources": ["datasets.csv", "report.html", "summary.txt"],
    }
    assert content["processor"] == PROCESSOR
    assert content["settings"] == GRID and list(content["libraries"]) == ["numpy", "scipy"]
    assert content["datasets"]["iris"]["fingerprint"] == "f" and "source" not in content["datasets"]["iris"]


MALFORMED = {
    "an empty file": b"",
    "not JSON": b"{",
    "a list": b"[]",
    "no hash of its own": b'{"settings": {}, "libraries": {}, "datasets": {}, "processor": {}, "files": {}}',
    "a number of 5,000 digits": b'{"k": %s}' % (b"9" * 5000),
    "100,000 brackets": b"[" * 100_000,
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("command", ["verify", "compare"])
def test_a_malformed_manifest_is_reported_in_one_line(content, command, results, capsys):
    (results / "manifest.json").write_bytes(content)
    shutil.copytree(results, "reference")
    status = command_line.main([command, *(["reference", "results"] if command == "compare" else [])])
    captured = capsys.readouterr()
    assert status == {"verify": 1, "compare": 2}[command]
    assert re.search(rf"^clusterlets {command}: \w+/manifest.json is damaged \(.*\)\. Remove it", captured.err)
    assert captured.err.count("\n") == 1 and len(captured.err) < 500 and "Traceback" not in captured.err


@pytest.mark.parametrize("folder", ["results/runs.csv", "nowhere"])
def test_a_missing_manifest_is_an_error(results, capsys, folder):
    status, output = verify(capsys, "--results", folder)
    assert status == 1 and output.startswith(f"clusterlets verify: There is no {folder}/manifest.json. A finished run")


def replace_letter(folder):
    (folder / CELL).write_text((folder / CELL).read_text().replace("D", "E"))


@pytest.mark.parametrize(
    ("change", "expected_text", "to_remove"),
    [
        (replace_letter, f"wrote\n  results/{CELL}\n\n", f"results/{CELL} results/runs.csv"),
        (
            lambda folder: shutil.copy(folder / SECOND_CELL, folder / CELL),
            f"wrote\n  results/{CELL}\n\n",
            f"results/{CELL} results/runs.csv",
        ),
        (
            lambda folder: save_cell(folder, next(cells(GRID)), "other"),
            "results/runs/iris/D/ (all its",
            "-r results/runs/iris/D results/runs.csv",
        ),
        (
            lambda folder: (folder / APPROXIMATE).write_text("other"),
            f"wrote\n  results/{APPROXIMATE}",
            f"results/{APPROXIMATE}",
        ),
        (lambda folder: (folder / "figures/f.png").unlink(), "missing\n  results/figures/f.png", None),
        (lambda folder: (folder / CELL).unlink(), f"missing\n  results/{CELL}", "results/runs.csv"),
        (lambda folder: [(folder / name).unlink() for name in (CELL, "runs.csv")], f"results/{CELL}", None),
    ],
    ids=[
        "a cell with another letter",
        "a cell in the place of another",
        "a whole cell of another run",
        "a statistic",
        "a missing figure",
        "a missing cell",
        "a missing cell and a missing table of runs",
    ],
)
def test_changed_and_missing_files_are_named_with_advice_on_what_to_remove(results, capsys, change, expected_text, to_remove):
    change(results)
    before = sorted(results.rglob("*"))
    status, output = verify(capsys)
    assert status == 1 and expected_text in output and "EXCLUDE" in output and sorted(results.rglob("*")) == before
    assert f"  rm {to_remove}\n" in output if to_remove else " rm " not in output


@pytest.fixture
def own_files(results):
    """The files of a user's table and method. The manifest says that the results were made from them."""
    table, method = (results.parent / name for name in ("people.csv", "mine.py"))
    table.write_text("a,b\n1,x\n")
    method.write_text("class Mine: pass\n")
    datasets = {"people.b": {**DATASETS["iris"], "source_sha256": hashlib.sha256(table.read_bytes()).hexdigest()}}
    settings = GRID | {"tables": {"people.b": {"path": "people.csv"}}}
    hashes = {"mine.py": hashlib.sha256(method.read_bytes()).hexdigest()}
    write_manifest(results, settings=settings, datasets=datasets, user_files=hashes)
    return table, method


def test_a_changed_file_of_the_user_is_named(own_files, capsys):
    assert verify(capsys)[0] == 0
    for file in own_files:
        file.write_text(file.read_text() + "2")
    status, text = verify(capsys)
    assert status == 1
    assert "changed since the results were made from them: your own tables and methods\n  people.csv\n  mine.py\n" in text
    assert "all 6 files" not in text and " rm " not in text and "those made from a changed file, repeat the command" in text


def test_a_missing_file_of_the_user_is_not_checked(own_files, capsys):
    for file in own_files:
        file.unlink()
    assert verify(capsys)[0] == 0


@pytest.mark.parametrize(
    ("page", "status"),
    [
        (PAGE.format("on Tuesday,\nelsewhere"), 0),
        (PAGE.format("").replace("9 numbers", "8 numbers"), 1),
        ("<p>9 numbers</p>", 1),
        (2 * PAGE.format(""), 1),
        ("\xff", 1),
    ],
)
def test_the_report_is_checked_except_for_its_provenance(results, capsys, page, status):
    (results / "report.html").write_bytes(page.encode("latin-1"))
    actual_status, output = verify(capsys)
    assert actual_status == status and ("  results/report.html\n" in output) == bool(status)


@pytest.mark.parametrize("file", ["runs/iris/D/k2/seeds4-5.csv", "figures/old/f.png", "old.csv"])
def test_an_extra_file_is_named_but_is_not_an_error(results, capsys, file):
    (results / file).parent.mkdir(exist_ok=True)
    (results / file).write_text("")
    status, output = verify(capsys)
    assert status == 0 and "all 11 files" in output and "snakemake" not in output
    assert "\n1 file belongs to another configuration or was put there by hand. It does not affect the check.\n" in output
    assert output.endswith(f"\n  results/{file}\n")


def test_many_extra_files_are_counted_and_some_named(results, capsys):
    for number in range(1200):
        (results / "runs" / f"seeds{number:04d}.csv").write_text("")
    output = verify(capsys)[1]
    assert "1,200 files belong to another" in output and "They do not affect the check" in output
    assert "seeds0019.csv\n  and 1,180 more\n" in output and "seeds0020" not in output


def test_a_hidden_file_is_ignored(results, capsys):
    (results / "runs" / ".seeds0-1.csv.ab12").write_text("")
    assert verify(capsys)[0] == 0


def test_many_changed_files_are_all_listed_but_not_in_an_rm_command(results, capsys):
    settings = GRID | {"seeds": {"count": 20, "batch": 1}}
    names = [cell.path for cell in cells(settings)]
    for cell in cells(settings):
        save_cell(results, cell)
    write_manifest(results, files=["runs.csv"], settings=settings)
    for name in names:
        (results / name).write_text("changed")
    status, output = verify(capsys)
    assert status == 1 and all(f"  results/{name}\n" in output for name in names) and " rm " not in output
    assert "\nRemove the changed files and results/runs.csv.\n" in output


def test_a_flipped_bit_anywhere_in_a_manifest_is_noticed_and_the_manifest_kept(results, capsys):
    path = results / "manifest.json"
    content = path.read_bytes()
    for index in range(len(content)):
        damaged = content[:index] + bytes([content[index] ^ (1 << index % 7)]) + content[index + 1 :]
        path.write_bytes(damaged)
        status, output = verify(capsys)
        assert status == 1 and "manifest.json" in output and "again" in output, damaged[index - 9 : index + 9]
        assert path.read_bytes() == damaged
        path.unlink()


def test_a_manifest_that_lists_nothing_is_refused(results, capsys):
    write_manifest(results, files=[], settings=GRID | {"datasets": []}, datasets={})
    status, output = verify(capsys)
    assert status == 1 and "lists no file" in output and "run the workflow again" in output


@pytest.fixture
def written():
    """What the jobs logged that they wrote, when the results were in another folder."""
    return {PurePath("elsewhere/results", file): hash_of_file(Path("results", file)) for file in FILES}


def test_a_manifest_may_be_made_if_all_results_are_what_their_jobs_wrote(results, written):
    manifest.check_before(Path("results"), FILES, GRID, written)


@pytest.mark.parametrize(
    ("damaged", "to_remove"),
    [
        ("runs.csv", "results/runs.csv"),
        (CELL, f"results/{CELL} results/runs.csv"),
        ("figures/f.png", "results/figures/f.png"),
        ("report.html", "results/report.html"),
    ],
)
def test_no_manifest_is_made_over_a_result_that_is_not_what_its_job_wrote(results, written, damaged, to_remove):
    content = (results / damaged).read_bytes()
    (results / damaged).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    with pytest.raises(ClusterletsError, match=f"(?s)gets no manifest.json.* say:\n  results/{damaged}\n.*  rm {to_remove}\n"):
        manifest.check_before(Path("results"), FILES, GRID, written)


def test_no_manifest_is_made_without_a_cell(results, written):
    (results / CELL).unlink()
    with pytest.raises(ClusterletsError, match=f"say:\\n  results/{CELL}\\nRemove first:\\n  rm results/runs.csv\\nThen"):
        manifest.check_before(Path("results"), FILES, GRID, written)


def test_no_manifest_is_made_over_results_that_were_exchanged_or_whose_logs_are_missing(results, written):
    shutil.copy(results / "summary.txt", results / "datasets.csv")
    with pytest.raises(ClusterletsError, match="say:\n  results/datasets.csv\nRemove first"):
        manifest.check_before(Path("results"), FILES, GRID, written)
    with pytest.raises(ClusterletsError, match="(?s)results/runs.csv\n  results/figures/f.png.*"):
        manifest.check_before(Path("results"), FILES, GRID, {})


def test_the_command_imports_no_large_library():
    code = (
        "import sys, clusterlets.benchmark.commands.verify; print({'pandas', 'scipy', 'numba', 'jinja2'} & sys.modules.keys())"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "set()\n"
