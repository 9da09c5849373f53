"""What the README shows, and the pages on running the grid and the commands, works."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clusterlets import __main__ as command_line
from clusterlets.analysis.selection import PAPER_NAMES
from clusterlets.grid.cells import cells
from clusterlets.grid.configuration import read_configuration

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"
CONFIG = read_configuration()
GRID = list(cells(CONFIG))


def test_it_is_short_and_names_what_ci_calls():
    assert len(README.splitlines()) <= 100
    assert all(f"`make {target}`" in README for target in ("test", "lint", "docs"))


def test_the_library_example_runs_and_is_fair(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict = {}
    exec(example, names)
    sex, model, report = names["sex"], names["model"], names["report"]
    assert names["frac"].shape == names["clusterlets"].shape == (500,)
    share = sex.mean()
    assert all(abs(sex[model.labels_ == cluster].mean() / share - 1) < 0.15 for cluster in range(5))
    assert capsys.readouterr().out.split() == [str(report["deviation_max"]), str(report["price_of_fairness"])]
    assert 1 <= report["price_of_fairness"] < 1.5


def test_its_findings_are_those_of_the_committed_reference():
    with open(REFERENCE / "comparison_counts.csv", encoding="utf-8") as file:
        counts = {row["table"]: row for row in csv.DictReader(file)}["all"]
    words = "Of {counted_here} numbers .* {reproduced} are reproduced, {differs} differ, and {uninformative} are inconclusive"
    compared = sum(int(counts[verdict]) for verdict in ("reproduced", "close", "uninformative", "differs"))
    said = " ".join(README.split())
    assert re.search(words.format(counted_here=compared, **counts), said) and int(counts["close"]) == 0
    with open(REFERENCE / "leaderboard_overall.csv", encoding="utf-8") as file:
        ranks = {row["method"]: float(row["mean_rank"]) for row in csv.DictReader(file) if row["limit"] == "0.05"}
    first, second = sorted(ranks, key=ranks.get)[:2]
    assert (first, second) == ("FRAC (fair)", "C")
    assert f"(mean rank {ranks[first]:.2f} of {len(ranks)} methods), then C ({ranks[second]:.2f})" in said
    with open(ROOT / "docs/reference-field/leaderboard_overall.csv", encoding="utf-8") as file:
        field = {row["method"]: row for row in csv.DictReader(file) if row["limit"] == "0.05"}
    frac, fair_flow, c = (field[method] for method in ("FRAC (fair)", "fair-flow", "C"))
    assert next(iter(field)) == "FRAC (fair)" and max(field.values(), key=lambda row: int(row["first"])) is fair_flow
    assert f"mean rank {float(frac['mean_rank']):.2f} of {len(field)} methods" in said
    assert f"keeps the limit in {frac['ranked']} of {frac['blocks']} cases" in said
    assert f"least in {fair_flow['first']} cases, FRAC in {frac['first']}, C in none" in said and c["first"] == "0"
    with open(REFERENCE / "claims.csv", encoding="utf-8") as file:
        claims = {row["claim"]: row["statistic_ours"] for row in csv.DictReader(file)}
    nearest, fair = (claims[f"deviation_lower_{kind}"].split(" datasets")[0] for kind in ("nearest", "fair"))
    assert f"as the paper scored it on {nearest} datasets" in said and f"define it on {fair}." in said
    assert f"{claims['c_first'].split(',')[0].replace('C ', 'mean deviation ')} (paper: 0.029)" in said


@pytest.mark.parametrize("page", [README, COMMANDS], ids=["README", "commands"])
def test_the_command_with_bounds_runs(page, tmp_path, monkeypatch, capsys):
    (command,) = re.findall(r"^    clusterlets (cluster .*--method fair-flow .*)$", page, re.MULTILINE)
    rows = [f"{row % 7},{row * row % 11},{'fm'[row % 3 > 0]}" for row in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,income,sex", *rows]))
    monkeypatch.chdir(tmp_path)
    assert command_line.main(command.split()) == 0
    assert "\nasked for   delta 0.1: kept" in capsys.readouterr().out


def test_every_cell_that_running_names_is_in_the_papers_grid():
    named = re.findall(r"results/runs/\S+\.csv", RUNNING)
    assert len(named) == 4 and set(named) <= {f"results/{cell.path}" for cell in GRID}


def test_running_counts_rows_and_cells_as_the_papers_grid_has_them():
    rows = 10 * sum(len(CONFIG["grids"][cell.method]["names"]) for cell in GRID)
    of_baselines = 10 * sum(CONFIG["grids"][cell.method]["role"] == "baseline" for cell in GRID)
    assert f"{rows:,} on eleven datasets, the baselines' {of_baselines:,} among them" in RUNNING
    assert f"/{len(GRID):,} cells · " in RUNNING


def test_running_tells_the_papers_names_of_matchers():
    (sentences,) = re.findall(r"^Matchers: .*?(?:\n\n|\Z)", RUNNING, re.DOTALL | re.MULTILINE)
    assert all(f"`{name}`" in sentences and paper in sentences for name, paper in PAPER_NAMES.items())


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|    |mirror )make ([a-z-]+)", README + RUNNING)) <= targets


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
@pytest.mark.parametrize("excluded", ["nbfi,adult", "nbfi, adult", " nbfi , adult ", "nbfi adult"])
def test_datasets_may_be_left_out_with_spaces_in_the_list(excluded):
    command = ["make", "--dry-run", "data", f"EXCLUDE={excluded}", "VENV=.", "--old-file=./.ready"]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # make itself runs these tests
    printed = subprocess.run(command, cwd=ROOT, env=alone, text=True, capture_output=True, check=True).stdout
    assert printed.rstrip().endswith(" --config exclude=nbfi,adult")


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
@pytest.mark.parametrize("home", ["/proc/nobody", "/dev/null", "writable"])
def test_make_names_another_cache_where_home_cannot_be_written_and_utf_8(home, tmp_path):
    home = str(tmp_path) if home == "writable" else home
    apart = ("XDG_CACHE_HOME", "PYTHONUTF8", "MAKE", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(apart)}
    command = ["make", "--dry-run", "--print-data-base", "data", "VENV=.", "--old-file=./.ready"]
    done = subprocess.run(command, cwd=ROOT, env=environment | {"HOME": home}, capture_output=True, text=True, check=True)
    assert (f"XDG_CACHE_HOME := {ROOT}/.snakemake/cache" in done.stdout) is (home != str(tmp_path))
    assert "PYTHONUTF8 := 1" in done.stdout


def test_one_word_for_what_is_reproduced():
    """Numbers are reproduced, and a verdict without an answer is inconclusive, wherever a person reads."""
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "clusterlets/report/captions.py"]
    texts += [path for suffix in ("yaml", "html") for path in (ROOT / "clusterlets").rglob(f"*.{suffix}")]
    texts += (ROOT / "clusterlets" / part for part in ("paper/sensitivity.py", "report/narrative.py", "report/verdict.py"))
    assert len(texts) > 20
    other_words = re.compile(r"\b(com(es?|ing)|came)\s+back\b|cannot\s+be\s+told")
    assert [path.name for path in texts if other_words.search(path.read_text(encoding="utf-8"))] == []
