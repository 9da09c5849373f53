"""Preparing a damaged raw file gives one clear message and leaves nothing half-written."""

import errno
import json

import numpy as np
import pytest

from clusterlets import storage
from clusterlets.benchmark import datasets
from clusterlets.benchmark.steps.fetch_dataset import fetch_dataset
from clusterlets.benchmark.steps.prepare_dataset import prepare_dataset
from clusterlets.errors import ClusterletsError

# The header line of pima with rows for it, and the header line of bank with a row for it.
PIMA = "Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome\n"
ROWS = [f"{row},148,72,35,0,33.6,0.627,50,{row % 2}\n" for row in range(6)]
BANK = '"age";"education";"default";"balance";"housing";"loan";"campaign";"pdays";"previous";"marital";"y"\n'
BANK_ROW = '58;"tertiary";"no";1;"no";"no";1;1;0;"single";"no"\n'


@pytest.fixture
def steps(tmp_path):
    """The steps that fetch and prepare a dataset, with the paths of their files."""

    class Steps:
        raw, receipt = tmp_path / "raw", tmp_path / "receipt.json"
        npz, json = tmp_path / "prepared" / "data.npz", tmp_path / "prepared" / "data.json"

        def put(self, name, file, content):
            path = self.raw / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            return path

        def fetch(self, name):
            fetch_dataset(name, raw_dir=self.raw, receipt_path=self.receipt)

        def prepare(self, name, scaling="none"):
            prepare_dataset(name, self.raw, self.receipt, scaling, self.npz, self.json)

        def assert_refused(self, name, match):
            with pytest.raises(ClusterletsError, match=match) as error:
                self.prepare(name)
            assert str(error.value).startswith(f"{name}: ")
            assert not self.npz.parent.exists() or not list(self.npz.parent.iterdir())
            assert not self.receipt.exists(), "the next run would not fetch again"
            return str(error.value)

    return Steps()


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("pima", PIMA + "".join(ROWS), "expected 768 rows, found 6"),
        ("pima", PIMA + "".join(ROWS)[:-20], r"diabetes.csv, line 7: \d cells where 9 are expected"),
        ("pima", PIMA + ROWS[0] + ROWS[1].replace("33.6", "nan"), "line 3: column BMI holds 'nan', which is not a finite"),
        ("pima", PIMA + ROWS[0] + ROWS[1].replace(",1\n", ",2\n"), "line 3: column Outcome holds '2', expected one of 0, 1"),
        ("pima", PIMA + ROWS[0] + "\n" + ROWS[1].replace("50", "50,50"), "line 4: 10 cells where 9"),
        ("bank", '"age";"job"\n58;"none"\n', "bank-full.csv has no column education, default"),
        ("bank", BANK.replace(";", ","), "bank-full.csv, line 1: ';' expected"),
        ("bank", BANK + BANK_ROW.replace("tertiary", "third"), "line 2: column education holds 'third', expected one of"),
        ("bank", BANK + BANK_ROW.replace(";1;", ";1_0;", 1), "line 2: column balance holds '1_0'"),
        ("speeddating", "@relation x\n@attribute a real\n@data\n1\n", "has no column gender, age"),
        ("nbfi", "ID,Default\n1,0\n", "has no column Own_House_Age"),
        ("iris", "2,4,a,b\n1,2,3,4,0\n1,2,x,4,1\n", "iris.csv cannot be read"),
        ("iris", "2,4,a,b\n1,2,3,4,0\n1,2,3,4,7\n", r"the codes 0..1 of the classes"),
        ("digits", b"\x1f\x8b\x08\x00broken", "digits.csv.gz cannot be read"),
    ],
)
def test_the_message_about_a_damaged_file_names_the_place_and_the_remedy(name, content, problem, steps):
    file = datasets.describe(name)["files"][0]["name"]
    steps.put(name, file, content)
    steps.fetch(name)
    message = steps.assert_refused(name, problem)
    assert f"Delete {file}" in message and "CLUSTERLETS_MIRROR" in message and f"EXCLUDE={name}" in message


def test_a_table_of_the_right_shape_with_changed_values_is_refused(steps):
    steps.fetch("iris")
    path = steps.raw / "iris" / "iris.csv"
    steps.put("iris", "iris.csv", path.read_text().replace("5.1,3.5,1.4,0.2,0", "5.1,3.5,1.4,0.3,0", 1))
    steps.fetch("iris")
    assert json.loads(steps.receipt.read_text())["sha256_matches"] is False
    steps.assert_refused("iris", "its values differ")


def test_other_line_ends_are_accepted_with_a_warning(steps):
    steps.fetch("iris")
    path = steps.raw / "iris" / "iris.csv"
    steps.put("iris", "iris.csv", path.read_bytes().replace(b"\n", b"\r\n"))
    steps.fetch("iris")
    steps.prepare("iris")
    description = json.loads(steps.json.read_text())
    assert (description["source"], description["sha256_matches"]) == ("by hand", False)
    assert "raw bytes differ" in description["warnings"][0]


def test_a_file_that_changed_after_the_fetch_is_named_and_fetched_again_once_deleted(steps):
    steps.fetch("iris")
    path = steps.raw / "iris" / "iris.csv"
    intact_content = path.read_bytes()
    path.write_bytes(intact_content[: len(intact_content) // 2])
    steps.assert_refused("iris", "iris.csv has changed since it was fetched")
    path.unlink()
    steps.fetch("iris")
    path.unlink()
    steps.assert_refused("iris", "iris.csv is missing")
    steps.fetch("iris")
    steps.prepare("iris")
    assert path.read_bytes() == intact_content and json.loads(steps.receipt.read_text())["source"] == "bundled"


@pytest.mark.parametrize(
    "change",
    [
        lambda receipt: receipt | {"files": {}},
        lambda receipt: receipt | {"files": {"../iris.csv": {"sha256": "abc"}}},
        lambda receipt: receipt | {"dataset": "wine"},
    ],
)
def test_a_receipt_that_lists_other_files_is_removed_and_the_raw_file_stays(change, steps):
    steps.fetch("iris")
    storage.save_json(steps.receipt, change(storage.load_json(steps.receipt)))
    raw_files = {path.name: path.read_bytes() for path in (steps.raw / "iris").iterdir()}
    steps.assert_refused("iris", "the receipt .* lists other files and has been removed")
    assert not steps.receipt.exists() and {path.name: path.read_bytes() for path in (steps.raw / "iris").iterdir()} == raw_files


def test_an_unknown_scaling_is_refused_before_anything_is_read(steps):
    with pytest.raises(ClusterletsError, match="'zscore' is unknown; it must be one of none, standard"):
        steps.prepare("iris", scaling="zscore")


def test_arrays_are_removed_if_their_description_cannot_be_written(steps, monkeypatch):
    steps.fetch("iris")
    original_write = storage.write_bytes

    def write_to_full_disk(path, content):
        if str(path).endswith(".json"):
            raise OSError(errno.ENOSPC, "No space left on device")
        original_write(path, content)

    monkeypatch.setattr(storage, "write_bytes", write_to_full_disk)
    with pytest.raises(OSError, match="No space left"):
        steps.prepare("iris")
    assert list(steps.npz.parent.iterdir()) == []


def test_the_prepared_files_hold_the_table_and_its_description(steps):
    steps.fetch("iris")
    steps.prepare("iris")
    arrays, description = storage.load_arrays(steps.npz), json.loads(steps.json.read_text())
    assert arrays["X"].shape == (150, 4) and arrays["X"].dtype == np.float64
    assert arrays["groups"].dtype == np.int64 and np.bincount(arrays["groups"]).tolist() == [50, 50, 50]
    assert arrays["group_values"].tolist() == [["setosa"], ["versicolor"], ["virginica"]]
    assert arrays["feature_names"].tolist()[0] == "sepal length (cm)"
    expected = {"rows": 150, "features": 4, "positives": None, "source": "bundled", "warnings": []}
    expected |= {"groups": {"setosa": 50, "versicolor": 50, "virginica": 50}}
    expected |= {"fingerprint": datasets.describe("iris")["fingerprint"]}
    assert {key: description[key] for key in expected} == expected


def test_the_environment_can_set_the_mirror(steps, toy, site, monkeypatch):
    site.heal("/toy/diabetes.csv")
    monkeypatch.setenv("CLUSTERLETS_MIRROR", site.address)
    steps.fetch("toy")
    assert json.loads(steps.receipt.read_text())["source"] == "mirror"
