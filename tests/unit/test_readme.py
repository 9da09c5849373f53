"""What the README shows, works."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from clusterlets import __main__ as command_line
from clusterlets.analysis.selection import PAPER_NAMES
from clusterlets.estimators import rivals
from clusterlets.grid.cells import cells
from clusterlets.grid.configuration import read_configuration

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONFIG = read_configuration()
GRID = list(cells(CONFIG))


def test_the_library_examples_run_and_are_fair():
    first, second = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict = {}
    exec(first, names)
    exec(second, names)
    colours, labels, fair, flow = names["colours"], names["labels"], names["fair"], names["flow"].labels_
    assert labels.shape == fair.shape == flow.shape == (500,)
    share = colours.mean()
    for found in (labels, fair, flow):
        assert 1 < found.max() + 1 < 20
    assert all(abs(colours[fair == cluster].mean() - share) < 0.02 for cluster in np.unique(fair))
    assert all(abs(colours[flow == cluster].mean() / share - 1) < 0.15 for cluster in np.unique(flow))
    assert 1 <= names["report"]["price_of_fairness"] < 1.5


def test_every_rival_is_named():
    named = re.findall(r"`([A-Za-z]+)`", README.partition("The rivals have estimators too")[2].partition("[docs/")[0])
    classes = [rival for rival in vars(rivals).values() if getattr(rival, "__module__", "") == rivals.__name__]
    assert sorted(named) == sorted(rival.__name__ for rival in classes)


def test_the_command_with_bounds_runs(tmp_path, monkeypatch, capsys):
    (command,) = re.findall(r"^    clusterlets (cluster .*--method fair-flow .*)$", README, re.MULTILINE)
    rows = [f"{row % 7},{row * row % 11},{'fm'[row % 3 > 0]}" for row in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,income,sex", *rows]))
    monkeypatch.chdir(tmp_path)
    assert command_line.main(command.split()) == 0
    assert "\nasked for   delta 0.1: kept" in capsys.readouterr().out


def test_every_link_leads_somewhere():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_cell_it_names_is_in_the_papers_grid():
    named = re.findall(r"results/runs/\S+\.csv", README)
    assert len(named) == 4 and set(named) <= {f"results/{cell.path}" for cell in GRID}


def test_it_counts_rows_and_cells_as_the_papers_grid_has_them():
    rows = 10 * sum(len(CONFIG["grids"][cell.method]["names"]) for cell in GRID)
    of_baselines = 10 * sum(CONFIG["grids"][cell.method]["role"] == "baseline" for cell in GRID)
    assert f"{rows:,} on eleven datasets, the baselines' {of_baselines:,} among them" in README
    assert f"/{len(GRID):,} cells · " in README


def test_it_tells_the_papers_names_of_matchers():
    (sentences,) = re.findall(r"^Matchers: .*?\n\n", README, re.DOTALL | re.MULTILINE)
    assert all(f"`{name}`" in sentences and paper in sentences for name, paper in PAPER_NAMES.items())


def test_its_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|    |mirror )make ([a-z]+)", README)) <= targets


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
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "workflow" / "report").glob("*.rst")]
    texts += [path for suffix in ("yaml", "html") for path in (ROOT / "clusterlets").rglob(f"*.{suffix}")]
    texts += (ROOT / "clusterlets" / part for part in ("paper/sensitivity.py", "report/narrative.py", "report/verdict.py"))
    assert len(texts) > 20
    other_words = re.compile(r"\b(com(es?|ing)|came)\s+back\b|cannot\s+be\s+told")
    assert [path.name for path in texts if other_words.search(path.read_text(encoding="utf-8"))] == []
