"""``clusterlets compare`` succeeds if the promised numbers agree. Otherwise it prints changed verdicts and all differences."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from clusterlets.benchmark.analysis import differences
from clusterlets.benchmark.provenance import manifest

COMPARISON = (
    "table,row,dataset,quantity,reproduced,verdict\nt1,C,,size,9,close\nt1,C,,cohesion,0.5,reproduced\nt1,D,,size,8,differs\n"
)
TABLE = "dataset,size,deviation\npima,9,0.25\ncredit,8,0.5\n"
MANIFEST = {
    "settings": {"k": [2, 5], "budget": {"seconds": 600}},
    "libraries": {"numpy": "2.4.6"},
    "datasets": {"pima": {"fingerprint": "a"}, "credit": {"fingerprint": "b"}},
    "processor": {"processor": "Vendor Model 1", "openblas_kernel": "SkylakeX"},
    "files": {
        "numbers": {
            "comparison.csv": "4",
            "claims.csv": "5",
            "runs.csv": "1",
            "tables/t2.csv": "2",
            "runs/pima/D/": "7",
            "runs/credit/D/": "8",
        },
        "approximate": {"statistics/wilcoxon.csv": "6"},
        "figures": {"figures/f.png": "3"},
        "sources": {},
    },
}


@pytest.fixture
def reference(tmp_path):
    folder = tmp_path / "reference"
    (folder / "tables").mkdir(parents=True)
    (folder / "comparison.csv").write_text(COMPARISON)
    (folder / "tables" / "t2.csv").write_text(TABLE)
    (folder / "manifest.json").write_text(json.dumps(manifest.sealed(MANIFEST)))
    (folder / "README.md").write_text("what this is")
    return folder


@pytest.fixture
def results(reference, tmp_path):
    """A folder that equals the reference."""
    return shutil.copytree(reference, tmp_path / "results")


@pytest.fixture
def compare(run):
    """A function that runs the command and returns its status, and its output followed by its errors."""

    def run_compare(*arguments):
        status, output, error = run("compare", *map(str, arguments))
        return status, output + error

    return run_compare


def replace_once(folder, file, old, new):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))


def change_manifest(folder, **parts):
    """Change entries of the folder's manifest. A name such as ``settings__k`` stands for the entry settings.k."""
    content = json.loads((folder / "manifest.json").read_text())
    for name, value in parts.items():
        *outer, last = name.split("__")
        parent = content
        for key in outer:
            parent = parent[key]
        parent[last] = value
    (folder / "manifest.json").write_text(json.dumps(manifest.sealed(content)))


def test_equal_runs_are_reported_as_the_same(reference, results, compare):
    status, text = compare(reference, results)
    assert status == 0
    assert text == (
        "The numbers are the same. 2 tables: 2 as promised, 0 different.\n\nThe same settings, data, versions and processor.\n"
    )


@pytest.mark.parametrize("option", ["--tolerance nan", "--tolerance -1", "--tolerance 1_0", "--most 1.5"])
def test_an_invalid_tolerance_or_limit_is_refused(reference, results, compare, option):
    name, value = option.split()
    status, error = compare(reference, results, name, value)
    assert status == 2 and f"argument {name}: '{value}' is no" in error


@pytest.mark.parametrize(
    ("old", "new", "n_within", "change"),
    [
        ("0.25", "0.25000000000000006", 1, "pima: deviation: 0.25 -> 0.25000000000000006"),
        ("0.25", "0.250", 1, "pima: deviation: 0.25 -> 0.250"),
        ("pima,9,0.25\ncredit,8,0.5\n", "credit,8,0.5\npima,9,0.25\n", 1, "all: all: these bytes -> the same values"),
        ("0.25", "0.25000001", 0, "pima: deviation: 0.25 -> 0.25000001"),
        ("0.25", "", 0, "pima: deviation: 0.25 -> \n"),
        ("0.25", "none", 0, "pima: deviation: 0.25 -> none"),
    ],
)
def test_any_changed_byte_of_a_table_is_a_difference(reference, results, compare, old, new, n_within, change):
    replace_once(results, "tables/t2.csv", old, new)
    status, output = compare(reference, results)
    assert status == 1 and f"tables/t2.csv: {change}" in output
    assert output.startswith("The numbers differ. 2 tables: 1 as promised, 1 different.\n\nother differences (")
    assert compare(reference, results, "--tolerance", "1e-9")[0] == (0 if n_within else 1)


def test_with_a_tolerance_different_hashes_do_not_count(reference, results, compare):
    replace_once(results, "tables/t2.csv", "0.25", "0.2500001")
    change_manifest(results, files__numbers={**MANIFEST["files"]["numbers"], "runs.csv": "other"})
    assert compare(reference, results, "--tolerance", "1e-9")[0] == 1
    status, output = compare(reference, results, "--tolerance", "1e-6")
    assert status == 0 and "different by hash (1):\n  runs.csv: these bytes -> other bytes\n" in output


STATISTICS = "ranking,better,worse,p_value\nmatchers,C,D,0.001953125\nmatchers,C,B,3e-20\n"


@pytest.mark.parametrize(("value", "status"), [("0.0019531250000000004", 0), ("0.0019531", 1), ("", 1)])
def test_statistics_are_promised_within_a_tolerance(reference, results, compare, value, status):
    for folder in (reference, results):
        (folder / "statistics").mkdir()
        (folder / "statistics/wilcoxon.csv").write_text(STATISTICS)
    assert compare(reference, results)[0] == 0
    replace_once(results, "statistics/wilcoxon.csv", "0.001953125", value)
    actual_status, output = compare(reference, results)
    assert actual_status == status and f"3 tables: {3 - status} as promised, {status} different." in output
    assert ("statistics/wilcoxon.csv: matchers, C, D: p_value" in output) == bool(status)


def test_promised_files_other_than_tables_are_compared_by_hash(reference, results, compare):
    files = MANIFEST["files"]["numbers"]
    change_manifest(results, files__numbers={**files, "runs/pima/D/": "other", "tables/t2.tex": "new"})
    status, output = compare(reference, results)
    assert status == 1
    lines = "  runs/pima/D/: these bytes -> other bytes\n  tables/t2.tex: absent -> present\n"
    assert f"\ndifferent by hash (2):\n{lines}" in output


def test_different_figures_and_pages_do_not_count_as_a_difference(reference, results, compare):
    change_manifest(results, files__figures={"figures/f.png": "4"}, files__sources={"report.html": "1"})
    change_manifest(reference, files__sources={"report.html": "2"})
    assert compare(reference, results)[0] == 0


def test_accounts_and_other_files_that_are_not_promised_are_ignored(reference, results, compare):
    for folder in (reference, results):
        for file in ("accounts/steps.csv", "demo/tables/t2.csv", "notes.csv"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(f"a,b\n1,{folder.name}\n")
    assert compare(reference, results)[0] == 0
    for folder in (reference, results):
        (folder / "manifest.json").unlink()
        shutil.rmtree(folder / "demo")
        (folder / "notes.csv").unlink()
    assert compare(reference, results)[0] == 0


def test_settings_versions_and_data_that_differ_are_listed_and_decide_nothing(reference, results, compare):
    changes = {"settings__budget__seconds": 60, "libraries__numpy": "2.5", "datasets__credit__fingerprint": "c"}
    change_manifest(results, **changes, processor__openblas_kernel="Haswell")
    status, output = compare(reference, results)
    assert status == 0 and "settings, data, versions and processor that differ (4):" in output
    for line in ("settings.budget.seconds: 600 -> 60", "libraries.numpy: 2.4.6 -> 2.5", "openblas_kernel: SkylakeX -> Haswell"):
        assert line in output
    replace_once(results, "comparison.csv", "9,close", "5,differs")
    status, output = compare(reference, results)
    assert status == 1
    assert "\nchanged verdicts (1):\n  comparison.csv: t1, C, size: verdict: close -> differs\n" in output


def test_the_tolerance_is_relative_above_one():
    table, near, far = (pd.DataFrame({"a": ["x"], "b": [value]}) for value in ("1000", "1000.0000009", "1000.01"))
    assert len(differences.compare_tables(table, near)) == 1
    assert differences.compare_tables(table, near, tolerance=1e-9).empty
    assert len(differences.compare_tables(table, far, tolerance=1e-9)) == 1
    assert differences.compare_tables(table, far, tolerance=1e-3).empty


@pytest.mark.parametrize(
    ("before", "after"), [("inf", "1"), ("1", "-inf"), ("inf", "-inf"), ("nan", "1"), ("few", "1"), ("few", "many"), ("", "0")]
)
def test_no_tolerance_makes_a_number_equal_to_what_is_none(before, after):
    tables = [pd.DataFrame({"dataset": ["pima"], "size": [size]}) for size in (before, after)]
    assert len(differences.compare_tables(*tables, tolerance=1e9)) == 1
    assert len(differences.compare_tables(*tables[::-1], tolerance=1e9)) == 1


def test_changed_verdicts_come_first(reference, results, compare):
    replace_once(results, "comparison.csv", "9,close", "9.1,reproduced")
    replace_once(results, "tables/t2.csv", "0.25", "0.26")
    status, output = compare(reference, results)
    assert status == 1
    verdicts, others = output.split("\nchanged verdicts (1):\n")[1].split("\nother differences (2):\n")
    assert verdicts == "  comparison.csv: t1, C, size: verdict: close -> reproduced\n"
    assert others.startswith(
        "  comparison.csv: t1, C, size: reproduced: 9 -> 9.1\n  tables/t2.csv: pima: deviation: 0.25 -> 0.26\n"
    )


def test_the_option_most_limits_how_many_differences_are_shown(reference, results, compare):
    replace_once(results, "tables/t2.csv", "0.25", "0.26")
    replace_once(results, "tables/t2.csv", "0.5", "0.7")
    output = compare(reference, results, "--most", "1")[1]
    assert "pima: deviation" in output and "credit: deviation" not in output and "and 1 more" in output
    change_manifest(results, settings={"k": [3], "budget": {"seconds": 60}})
    output = compare(reference, results, "--most", "1")[1].split("settings, data, versions and processor that differ (2):")[1]
    assert "settings.k: [2, 5] -> [3]\n  and 1 more; --most 2" in output


def test_a_table_row_or_column_on_one_side_only_is_listed_once(reference, results, compare):
    replace_once(results, "tables/t2.csv", "credit,8,0.5\n", "")
    replace_once(results, "comparison.csv", "quantity,reproduced,verdict", "quantity,ours,verdict")
    (reference / "claims.csv").write_text("claim,verdict\n1,holds\n")
    status, output = compare(reference, results)
    assert status == 1 and "other differences (4):" in output
    for line in (
        "claims.csv: all: all: present -> absent",
        "tables/t2.csv: credit: all: present -> absent",
        "comparison.csv: all: reproduced: present -> absent",
        "comparison.csv: all: ours: absent -> present",
    ):
        assert line in output


def test_rows_are_matched_by_key_and_rows_with_the_same_key_by_line():
    ordered = pd.DataFrame({"dataset": ["a", "b"], "method": ["m", "m"], "size": ["1", "2"]})
    assert differences.compare_tables(ordered, ordered.iloc[::-1]).empty
    rows = pd.DataFrame({"a": ["x", "x"], "b": ["1", "1"]})
    last_changed = pd.DataFrame({"a": ["x", "x"], "b": ["1", "3"]})
    changes = differences.compare_tables(pd.concat([rows, rows]), pd.concat([rows, last_changed]))
    assert changes.to_numpy().tolist() == [["line 5", "b", "1", "3"]]  # line 1 is the header


def test_runs_on_different_datasets_cannot_be_compared(reference, results, compare):
    change_manifest(results, datasets={"pima": MANIFEST["datasets"]["pima"]})
    status, output = compare(reference, results)
    assert status == 2 and "are runs on different datasets (pima, credit; pima)" in output and "tables" not in output


def test_without_a_manifest_the_tables_are_still_compared(reference, results, compare):
    (results / "manifest.json").unlink()
    status, output = compare(reference, results)
    assert status == 0 and "there is no" in output and "manifest.json" in output
    replace_once(results, "tables/t2.csv", "0.25", "0.26")
    status, output = compare(reference, results)
    assert status == 1 and "tables/t2.csv: pima: deviation: 0.25 -> 0.26" in output


def test_folders_that_cannot_be_compared_give_status_2(reference, results, compare, tmp_path):
    (tmp_path / "empty").mkdir()
    (results / "comparison.csv").write_text("")
    for other_folder in (results, tmp_path / "nowhere", tmp_path / "empty", tmp_path):
        status, output = compare(reference, other_folder)
        assert status == 2 and "clusterlets compare:" in output and "Traceback" not in output


@pytest.mark.parametrize("name", ["paper", "field"])
def test_the_committed_references_equal_themselves_list_their_cells_and_hold_no_paths(compare, name):
    folder = Path(__file__).resolve().parents[4] / "reference" / name
    assert compare(folder, folder)[0] == 0
    committed = manifest.read(folder / "manifest.json")
    assert any(file.startswith("runs/adult") for file in manifest.files(committed))
    assert "/" not in json.dumps(committed["settings"])
