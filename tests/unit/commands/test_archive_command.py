"""``clusterlets archive`` packs a finished run into a Workflow Run RO-Crate that a validator accepts."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from clusterlets import __main__ as command_line
from clusterlets.commands import archive
from clusterlets.datasets import describe
from clusterlets.errors import ClusterletsError
from clusterlets.provenance import manifest, packing
from clusterlets.storage import save_json, save_text

ROOT = Path(__file__).resolve().parents[3]
# `make test` installs rocrate and roc-validator into this folder, unless they are in the environment already.
LIBRARIES = Path(sys.prefix) / "archive-packages"
needs_libraries = pytest.mark.skipif(
    not LIBRARIES.is_dir() and not importlib.util.find_spec("rocrate_validator"),
    reason="rocrate and roc-validator are not installed: `make test` installs them",
)
TABLE = "tables/table1_matchers.csv"
RESULT_FILES = "runs.csv runs.csv.sha256 report.html leaderboard.html leaderboard.csv".split()
RESULT_FILES += [TABLE, "statistics/wilcoxon.csv", "figures/f.png"]
DATASET = {"fingerprint": "f00d", "scaling": "none", "rows": 150, "features": 4, "groups": {"a": 150}}
SETTINGS = {
    "k": [2, 5],
    "deviation": "absolute",
    "tables": {
        "adult": {"name": "adult"},
        "adult.sex": {"name": "adult"},
        "iris": {"name": "iris"},
        "people": {"path": "p.csv", "sensitive": ["city", "sex"]},
    },
    "datasets": ["iris"],
    "methods": ["D"],
    "seeds": {"count": 2, "block": 2},
    "grids": {"D": {"is_matcher": True, "needs_partitions": False, "parameters": {"hops": [1]}}},
}
CELLS = [f"runs/iris/D/k{k}_hops1/seeds0-1.csv" for k in SETTINGS["k"]]
PROVENANCE = {
    "python": "CPython 3.11.7",
    "libraries": {"numpy": {"installed": "2.4.6"}, "snakemake": {"installed": "9.27.1"}, "seaborn": {"installed": None}},
    "source": {"commit": 40 * "0", "dirty": True},
    "machine": {"cores": 2},
    "jobs": {"first_job_began": "2026-11-21T13:00:00Z", "last_job_ended": "2026-11-21T13:09:07Z", "counted": 12},
    "settings": SETTINGS | {"results": "results"},
    "configfiles": {"my.yaml": "k: [2, 5]  # few\n", "../all/of us.yaml": "seeds: {count: 2, block: 2}\n"},
}
METHOD_SOURCE = "class Mine: pass\n"


def write_finished_run(folder, provenance=PROVENANCE):
    """Write what a finished run leaves in its results folder, and next to it the module of a user's method."""
    for file in RESULT_FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    for cell in CELLS:
        save_text(folder / cell, cell)
    descriptions = dict.fromkeys(SETTINGS["tables"], DATASET) | {"people": DATASET | {"source_sha256": "beef"}}
    (folder.parent / "mine.py").write_text(METHOD_SOURCE)
    user_hashes = {"mine.py": hashlib.sha256(METHOD_SOURCE.encode()).hexdigest()}
    contents = manifest.make(
        folder,
        RESULT_FILES,
        settings=PROVENANCE["settings"],
        datasets=descriptions,
        locked={"numpy": "2.4.6"},
        processor={},
        user_files=user_hashes,
    )
    (folder / "manifest.json").write_text(json.dumps(contents))
    (folder / "accounts").mkdir(exist_ok=True)
    (folder / "accounts" / "steps.csv").write_text("step,jobs\n")
    save_json(folder / "accounts" / "provenance.json", provenance)
    return folder


def run_archive(*arguments, cwd):
    return run_with_libraries("-m", "clusterlets", "archive", "--agent", "Ada Lovelace", *arguments, cwd=cwd)


def run_with_libraries(*command, cwd):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(LIBRARIES), str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def archived_run(tmp_path_factory):
    """A folder with the results of a finished run and the archive of this run."""
    folder = tmp_path_factory.mktemp("archive")
    write_finished_run(folder / "results")
    process = run_archive(cwd=folder)
    assert process.returncode == 0, process.stderr
    assert re.fullmatch(
        r"results\.crate\.zip: \d+ files, .* valid according to workflow-run-crate-0\.5\. "
        r"Ready to deposit, as run by Ada Lovelace\.\n"
        r"About your table people, the archive reveals the values of city and sex .*\. May these be public\?\n",
        process.stdout,
    )
    return folder


@pytest.fixture(scope="module")
def entities(archived_run):
    """The entities in the metadata of the archive, by id."""
    with zipfile.ZipFile(archived_run / "results.crate.zip") as packed:
        graph = json.loads(packed.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def ids(references):
    return {reference["@id"] for reference in references}


def test_the_personal_contents_of_a_users_table_are_described(tmp_path):
    results = write_finished_run(tmp_path / "results")
    run = packing.read(results, "Ada")
    assert packing.revealed_contents(run) == {"people": "the values of city and sex with their counts (1 group)"}
    (results / "clusterings").mkdir()
    lines = ["dataset,row,x,y,group,cluster", "people,0,1,2,a,1", "people,0,1,2,a,2", "people,7,1,2,b,1", "iris,3,1,2,a,1"]
    (results / "clusterings" / "projection.csv").write_text("\n".join(lines))
    ((dataset, contents),) = packing.revealed_contents(run).items()
    assert dataset == "people" and "for 2 rows identified by number, the group, the cluster and two coordinates" in contents


@needs_libraries
def test_the_archive_holds_the_run_its_workflow_and_the_users_files(archived_run, tmp_path):
    with zipfile.ZipFile(archived_run / "results.crate.zip") as packed:
        names = set(packed.namelist())
        packed.extractall(tmp_path)
    assert manifest.check(tmp_path / "results").passed
    user_files = {path.relative_to(tmp_path / "user").as_posix(): path.read_text() for path in (tmp_path / "user").iterdir()}
    assert user_files == {
        "mine.py": METHOD_SOURCE,
        "my.yaml": "k: [2, 5]  # few\n",
        # The file is outside the working directory, so the first digits of a hash of its path are part of the name.
        "d71711ec_of_us.yaml": "seeds: {count: 2, block: 2}\n",
    }
    workflow_files = "Snakefile config.yaml clusterlets/metrics/table.py workflow/rules/common.smk requirements.lock".split()
    assert {*workflow_files, "results/accounts/provenance.json"} <= names
    assert not any("__pycache__" in name or "adult.data" in name or name.endswith("p.csv") for name in names)


@needs_libraries
def test_packing_again_gives_the_same_bytes(archived_run):
    process = run_archive("--results", "results", "-o", "again.zip", cwd=archived_run)
    assert process.returncode == 0, process.stderr
    assert (archived_run / "again.zip").read_bytes() == (archived_run / "results.crate.zip").read_bytes()


@needs_libraries
def test_the_metadata_give_the_checksum_of_every_file(archived_run, entities):
    with zipfile.ZipFile(archived_run / "results.crate.zip") as packed:
        files = [entity for name, entity in entities.items() if name in packed.namelist() and "sha256" in entity]
        assert len(files) > 100
        assert [item["@id"] for item in files if hashlib.sha256(packed.read(item["@id"])).hexdigest() != item["sha256"]] == []
        described_files = {item["@id"] for item in files} | {"ro-crate-metadata.json"}
        assert {name for name in packed.namelist() if not name.endswith("/")} == described_files


@needs_libraries
def test_the_metadata_of_the_run_give_its_times_software_inputs_and_results(entities):
    run, workflow = entities["#run"], entities["Snakefile"]
    assert (run["startTime"], run["endTime"]) == ("2026-11-21T13:00:00+00:00", "2026-11-21T13:09:07+00:00")
    assert run["instrument"] == {"@id": "Snakefile"} == entities["./"]["mainEntity"]
    agent = entities[run["agent"]["@id"]]
    assert (agent["@type"], agent["name"]) == ("Person", "Ada Lovelace")
    assert {f"results/{name}" for name in RESULT_FILES if not name.startswith("runs/")} <= ids(run["result"])
    assert ids(entities["results/runs/"]["hasPart"]) == {f"results/{cell}" for cell in CELLS}
    assert {"results/runs/", "results/manifest.json", "results/accounts/provenance.json"} <= ids(run["result"])
    assert workflow["identifier"] == f"git commit {40 * '0'}, with changes"
    assert workflow["codeRepository"] == yaml.safe_load((ROOT / "CITATION.cff").read_text())["repository-code"]
    assert {"config.yaml", "user/my.yaml", "user/mine.py"} <= ids(run["object"])
    settings = {entities[name]["name"]: entities[name]["value"] for name in ids(run["object"]) if name.startswith("#setting")}
    assert settings["k"] == "[2, 5]" and settings["deviation"] == "absolute"
    assert settings.keys() == SETTINGS.keys() - {"tables", "grids"}
    software = {(entities[name]["name"], entities[name]["softwareVersion"]) for name in ids(workflow["softwareRequirements"])}
    assert software == {("CPython", "3.11.7"), ("numpy", "2.4.6"), ("snakemake", "9.27.1")}


@needs_libraries
def test_the_metadata_name_the_raw_data_the_licence_and_the_papers(entities):
    raw_files = {entities[name]["name"]: entities[name] for name in ids(entities["#run"]["object"]) if "name" in entities[name]}
    for file in describe("adult")["files"]:
        assert raw_files[f"adult/{file['name']}"]["sha256"] == file["sha256"]
    assert raw_files["adult/adult.data"]["@id"] == "https://archive.ics.uci.edu/static/public/2/adult.zip#adult.data"
    assert "scikit-learn" in raw_files["iris/iris.csv"]["description"] and raw_files["p.csv"]["sha256"] == "beef"
    citation, root = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")), entities["./"]
    assert root["license"] == {"@id": f"https://spdx.org/licenses/{citation['license']}"}
    assert entities[root["author"]["@id"]]["name"] == citation["authors"][0]["name"]
    papers = {entities[name]["name"]: entities[name] for name in ids(root["citation"])}
    assert papers.keys() == {paper["title"] for paper in citation["references"]}
    authors = papers["Fair Clustering with Clusterlets"]["author"]
    assert [entities[author["@id"]]["name"] for author in authors] == ["Mattia Setzu", "Riccardo Guidotti"]


@needs_libraries
def test_the_validator_reports_missing_properties(archived_run, tmp_path):
    with zipfile.ZipFile(archived_run / "results.crate.zip") as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    metadata = json.loads(contents["ro-crate-metadata.json"])
    graph = {entity["@id"]: entity for entity in metadata["@graph"]}
    del graph["./"]["license"], graph["#run"]["instrument"], graph["Snakefile"]["programmingLanguage"]
    contents["ro-crate-metadata.json"] = json.dumps(metadata).encode()
    (tmp_path / "incomplete.zip").write_bytes(packing.pack(contents))
    code = "from pathlib import Path; from clusterlets.provenance import crate; print(*crate.faults(Path('incomplete.zip')))"
    process = run_with_libraries("-c", code, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert all(name in process.stdout for name in ("license", "instrument", "programmingLanguage")), process.stdout


def refusal(capsys, *arguments):
    """The message with which the command refuses to write an archive."""
    assert command_line.main(["archive", "--agent", "Ada Lovelace", *arguments]) == 1
    assert not list(Path().glob("*.zip"))
    return capsys.readouterr().err


# Part of a message -> a change of the results folder of a finished run that causes it.
CHANGES_BY_MESSAGE = {
    "A finished run of the workflow writes it": lambda folder: (folder / "manifest.json").unlink(),
    "missing or changed, first runs/iris/D/k2_hops1/seeds0-1.csv": lambda folder: (folder / CELLS[0]).unlink(),
    "missing or changed, first tables/table1_matchers.csv": lambda folder: (folder / TABLE).write_text("better"),
    "provenance.json does not exist": lambda folder: (folder / "accounts/provenance.json").unlink(),
    "1 file missing or changed, first mine.py": lambda folder: (folder.parent / "mine.py").write_text("class Other: pass\n"),
    "mine.py, which belongs to a method of the run, cannot be read": lambda folder: (folder.parent / "mine.py").unlink(),
    "have different settings": lambda folder: write_finished_run(folder, PROVENANCE | {"settings": SETTINGS | {"k": [3]}}),
    "counts no job": lambda folder: write_finished_run(
        folder, PROVENANCE | {"jobs": {"first_job_began": None, "last_job_ended": None, "counted": 0}}
    ),
}


@pytest.mark.parametrize("message", CHANGES_BY_MESSAGE)
def test_a_run_that_is_unfinished_or_was_changed_is_refused(message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    CHANGES_BY_MESSAGE[message](write_finished_run(tmp_path / "results"))
    assert message in refusal(capsys)


def test_without_the_name_of_an_agent_nothing_is_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    write_finished_run(tmp_path / "results")
    assert command_line.main(["archive"]) == 1
    assert "add `--agent 'Their name'`" in capsys.readouterr().err


def test_the_command_says_how_to_install_a_missing_library(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(archive, "find_spec", lambda name: None)
    write_finished_run(tmp_path / "results")
    assert "rocrate is not installed. `make archive RESULTS=results`" in refusal(capsys)


@pytest.fixture
def checkout(tmp_path):
    """A git checkout whose Snakefile changed after its only commit: the folder, and the hash of the commit."""

    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        result = subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], capture_output=True, text=True, check=True)
        return result.stdout.strip()

    git("init", "--quiet")
    for name in ("Snakefile", "clusterlets/a.py", "clusterlets/__pycache__/a.pyc", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    git("add", "Snakefile", "clusterlets/a.py", "notes.txt")
    git("commit", "--quiet", "--message", "m")
    (tmp_path / "Snakefile").write_text("after")
    return tmp_path, git("rev-parse", "HEAD")


def test_the_archive_contains_the_source_that_made_the_results(checkout):
    folder, commit = checkout
    committed = packing.source_files({"commit": commit, "dirty": False}, folder)
    assert committed == {"Snakefile": b"before", "clusterlets/a.py": b"before"}
    current = {"Snakefile": b"after", "clusterlets/a.py": b"before"}
    assert packing.source_files({"commit": commit, "dirty": True}, folder) == packing.source_files(None, folder) == current

    with pytest.raises(ClusterletsError, match="Commit 0000.* made the results, and .* does not have it"):
        packing.source_files({"commit": "0" * 40, "dirty": False}, folder)
