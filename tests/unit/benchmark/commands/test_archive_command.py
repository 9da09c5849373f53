"""``clusterlets archive`` packs a finished run with all that is needed to verify and repeat it."""

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from clusterlets import __main__ as command_line
from clusterlets.benchmark.provenance import manifest, packing
from clusterlets.storage import save_json, write_text

TABLE = "tables/table1_matchers.csv"
RESULT_FILES = "runs.csv runs.csv.sha256 report.html leaderboard.csv".split()
RESULT_FILES += [TABLE, "statistics/wilcoxon.csv", "figures/f.png"]
DATASET = {"fingerprint": "f00d", "scaling": "none", "rows": 150, "features": 4, "groups": {"a": 150}}
SETTINGS = {
    "k": [2, 5],
    "deviation": "absolute",
    "tables": {
        "adult": {"name": "adult"},
        "adult.sex": {"name": "adult"},
        "iris": {"name": "iris"},
        "people": {"path": "data/p.csv", "sensitive": ["city", "sex"]},
    },
    "datasets": ["iris"],
    "methods": ["D"],
    "seeds": {"count": 2, "batch": 2},
    "method_settings": {"D": {"is_matcher": True, "needs_partitions": False, "parameters": {"hops": [1]}}},
}
CELLS = [f"runs/iris/D/k{k}/seeds0-1.csv" for k in SETTINGS["k"]]
PROVENANCE = {
    "python": "CPython 3.11.7",
    "machine": {"processor": "a processor"},
    "jobs": {"last_job_ended": "2026-11-21T13:09:07Z"},
    "settings": SETTINGS | {"results": "results"},
    "configfiles": {"my.yaml": "k: [2, 5]  # few\n", "all/of us.yaml": "seeds: {count: 2, batch: 2}\n"},
    "config_options": ["exclude=nbfi", "mirror=/my/mirror", "results=results"],
}
USER_FILES = {"own/mine.py": "class Mine: pass\n", "own/program": "#!/bin/sh\n", "data/p.csv": "city,sex\n"}


def git(folder, *arguments):
    identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def commit(tmp_path, monkeypatch):
    """The commit of a small checkout, which has changed since. The working directory is another folder."""
    checkout = tmp_path / "checkout"
    contents = {"Snakefile": "before", "requirements-uv.lock": "uv", "status.sh": "#!/bin/sh\n"}
    for name, text in {**contents, "CITATION.cff": "title: A title\nversion: 1.2.3\n", "clusterlets/a.py": ""}.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    (checkout / "status.sh").chmod(0o755)
    git(tmp_path, "init", "--quiet", checkout)
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "m")
    (checkout / "Snakefile").write_text("after")
    monkeypatch.setattr(packing, "PACKAGE", checkout / "clusterlets")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return git(checkout, "rev-parse", "HEAD")


def write_finished_run(commit, **provenance):
    """Write the results folder of a finished run, and the user's own files, in the working directory."""
    folder = Path("results")
    for file in RESULT_FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    for cell in CELLS:
        write_text(folder / cell, cell)
    hashes = {path: hashlib.sha256(content.encode()).hexdigest() for path, content in USER_FILES.items()}
    for path, content in USER_FILES.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(content)
    Path("own/program").chmod(0o700)
    contents = manifest.make(
        folder,
        RESULT_FILES,
        settings=PROVENANCE["settings"],
        datasets={
            **dict.fromkeys(SETTINGS["tables"], DATASET),
            "people": DATASET | {"source_sha256": hashes.pop("data/p.csv")},
        },
        locked={"numpy": "2.4.6"},
        processor={},
        user_files=hashes,
    )
    (folder / "manifest.json").write_text(json.dumps(contents))
    source = {"source": {"commit": commit, "dirty": False}}
    save_json(folder / "accounts/provenance.json", PROVENANCE | source | provenance)


def test_the_archive_holds_the_commit_the_users_files_at_their_paths_and_the_results(commit, capsys):
    write_finished_run(commit)
    assert command_line.main(["archive"]) == 0
    assert capsys.readouterr().out.endswith(
        "It holds your own files: my.yaml, all/of us.yaml, own/mine.py, own/program, data/p.csv. May they be public?\n"
    )
    with zipfile.ZipFile("clusterlets-results.zip") as archive:
        modes = {
            name.removeprefix("clusterlets-results/"): archive.getinfo(name).external_attr >> 16 for name in archive.namelist()
        }
        archive.extractall()
    unpacked = Path("clusterlets-results")
    own_files = USER_FILES | PROVENANCE["configfiles"]
    committed_files = {"Snakefile": "before", "requirements-uv.lock": "uv"}
    assert {path: (unpacked / path).read_text() for path in (*own_files, *committed_files)} == own_files | committed_files
    assert manifest.check(unpacked / "results").passed and (unpacked / "results/accounts/provenance.json").is_file()
    assert {name for name, mode in modes.items() if mode & 0o100} == {"own/program", "status.sh"}
    assert modes["results/runs.csv"] == 0o100644
    page = (unpacked / "REPEAT.md").read_text()
    assert f"# A title, version 1.2.3: a finished run\n\nThe checkout at commit {commit}," in page
    commands = [line.strip() for line in page.splitlines() if line.startswith("    ")]
    assert commands == [
        "unzip clusterlets-results.zip && cd clusterlets-results",
        "make environment && . .venv/bin/activate",
        "clusterlets verify --results results",
        "snakemake --cores 2 --configfile my.yaml --configfile 'all/of us.yaml' --config exclude=nbfi results=results/repeated",
        "clusterlets compare results results/repeated",
    ]


def test_packing_again_gives_the_same_bytes(commit):
    write_finished_run(commit)
    for output in ("one.zip", "other.zip"):
        assert command_line.main(["archive", "-o", output]) == 0
    assert Path("one.zip").read_bytes() == Path("other.zip").read_bytes()


def test_a_file_that_is_committed_is_packed_once_and_not_listed_as_the_users_own(commit):
    write_finished_run(commit, configfiles={"Snakefile": "before"})
    content, own_files = packing.pack(Path("results"), "run")
    assert own_files == list(USER_FILES)
    Path("run.zip").write_bytes(content)
    with zipfile.ZipFile("run.zip") as archive:
        assert archive.namelist().count("run/Snakefile") == 1


# Part of a message -> a change of a finished run that causes it. ``write`` writes the run with another provenance.
CHANGES_BY_MESSAGE = {
    "A finished run of the workflow writes it": lambda write: Path("results/manifest.json").unlink(),
    "missing or changed, first runs/iris/D/k2/seeds0-1.csv": lambda write: Path("results", CELLS[0]).unlink(),
    "missing or changed, first tables/table1_matchers.csv": lambda write: Path("results", TABLE).write_text("better"),
    "provenance.json does not exist": lambda write: Path("results/accounts/provenance.json").unlink(),
    "1 file missing or changed, first own/mine.py": lambda write: Path("own/mine.py").write_text("class Other: pass\n"),
    "own/mine.py, one of the run's own files, cannot be read": lambda write: Path("own/mine.py").unlink(),
    "data/p.csv, one of the run's own files, cannot be read": lambda write: Path("data/p.csv").unlink(),
    "have different settings": lambda write: write(settings=SETTINGS | {"k": [3]}),
    "../mine.yaml, one of the run's own files, lies outside this folder": lambda write: write(configfiles={"../mine.yaml": ""}),
    "had changes that were not committed. Commit": lambda write: write(source={"commit": 40 * "0", "dirty": True}),
    "ran outside a clone with git. Commit": lambda write: write(source=None),
    "checkout does not have it. Run this command in a clone": lambda write: write(source={"commit": 40 * "0", "dirty": False}),
}


@pytest.mark.parametrize("message", CHANGES_BY_MESSAGE)
def test_a_run_that_is_unfinished_or_was_changed_or_has_no_commit_is_refused(message, commit, capsys):
    write_finished_run(commit)
    CHANGES_BY_MESSAGE[message](lambda **provenance: write_finished_run(commit, **provenance))
    assert command_line.main(["archive"]) == 1
    assert message in capsys.readouterr().err
    assert not list(Path().glob("*.zip"))
