"""What the README shows of the demo, of a run after a change, and of a method's rank is what its commands print."""

import re
import shlex

from readme import README, command, is_cut_from, lines_below

DEMO = "workflow/configs/demo.yaml"


def test_the_demo_ends_with_the_lines_that_the_readme_shows(demo):
    summary = (demo.folder / "results/demo/summary.txt").read_text(encoding="utf-8")
    assert summary.splitlines() == lines_below("make demo")


def test_the_method_has_the_rank_that_the_readme_shows(demo):
    (demo.folder / "shuffled.py").write_text(re.search(r"```python\n(# shuffled.py\n.*?)```", README, re.DOTALL)[1])
    rank = command("clusterlets rank")
    run = demo.command(*shlex.split(rank)[1:])
    assert run.status == 0, run.output
    lines = lines_below(rank)
    assert len(lines) == 4 and is_cut_from(lines, run.output)


def test_after_a_changed_line_as_many_cells_run_as_the_readme_shows(demo):
    old, new = re.search(r"`(theta: [^`]*)` to `(theta: [^`]*)`", README).groups()
    settings = (demo.folder / DEMO).read_text(encoding="utf-8")
    assert settings.count(old) == 1
    (demo.folder / DEMO).write_text(settings.replace(old, new), encoding="utf-8")
    planned = command("snakemake --cores 2 --configfile")
    run = demo.snakemake(*shlex.split(planned)[1:])
    assert run.status == 0 and is_cut_from(lines_below(planned), run.output), run.output

    cells = {path: path.stat().st_mtime_ns for path in demo.folder.glob("results/demo/runs/**/*.csv")}
    assert f"Of the {len(cells)} cells" in " ".join(README.split())
    run = demo.snakemake("--cores", "2", "results/demo/runs.csv", "--configfile", DEMO)
    assert run.status == 0, run.output
    changed = [path for path, time in cells.items() if path.stat().st_mtime_ns != time]
    assert len(changed) == 3 and all("scaff-tree" in path.parts for path in changed)
