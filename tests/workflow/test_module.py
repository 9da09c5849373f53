"""Another Snakefile can use the workflow as a module, under the restrictions that its messages name."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLER = f"""
configfile: "{ROOT}/config.yaml"

module paper:
    snakefile: "{ROOT}/Snakefile"
    config: config

use rule * from paper as paper_*

rule count_runs:
    default_target: True
    input: "results/tiny/runs.csv"
    output: "lines.txt"
    shell: "wc -l < {{input}} > {{output}}"
"""
SMALL_GRID = {"datasets": ["iris"], "k": [2], "methods": ["G-B", "k-means", "random"]}


@pytest.fixture
def caller(tmp_path, workflow_in):
    """A Snakefile in a separate folder, with a rule that reads the runs of the workflow."""
    (tmp_path / "Snakefile").write_text(CALLER)
    return workflow_in(tmp_path, tmp_path)


def test_a_rule_of_another_snakefile_can_read_the_runs(caller, tmp_path):
    run = caller.run(config=SMALL_GRID)
    assert run.status == 0, run.output
    lines = (tmp_path / "results" / "tiny" / "runs.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 2  # header, three methods, two seeds
    assert (tmp_path / "lines.txt").read_text().split() == [str(len(lines))]


def test_all_rules_are_planned_under_the_names_that_the_caller_gives_them(caller):
    planned = caller.run("paper_all", "--dry-run", config=SMALL_GRID)
    assert planned.status == 0, planned.output
    jobs = {fields[0]: fields[1] for line in planned.output.splitlines() if len(fields := line.split()) == 2}
    # k-means and random are fitted, and all three methods are scored.
    assert jobs["paper_fit_method"] == "2" and jobs["paper_score_method"] == "3"
    assert {"paper_analyse", "paper_write_report", "paper_write_manifest"} <= jobs.keys()


def test_the_configuration_that_the_caller_passes_is_checked(caller):
    run = caller.run("--dry-run", config=SMALL_GRID | {"methods": ["G-X"]})
    assert run.status and "There is no method 'G-X'" in run.output


@pytest.mark.parametrize("line", ['prefix: "below"', 'replace_prefix: {"results": "below"}'])
def test_a_prefix_for_the_paths_of_the_module_is_refused(caller, tmp_path, line):
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(snakefile.read_text().replace("    config: config\n", f"    config: config\n    {line}\n"))
    run = caller.run("--dry-run", config=SMALL_GRID)
    assert run.status and "Set results: in the configuration instead" in run.output, run.output
    assert "Traceback" not in run.output and "Cyclic" not in run.output


def test_a_snakefile_that_snakemake_fetches_from_a_host_is_refused(caller, tmp_path, tmp_path_factory):
    repository = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / "workflow", repository / "workflow")
    for file in ("Snakefile", "config.yaml"):
        shutil.copy(ROOT / file, repository)
    author = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "."], [*author, "commit", "--quiet", "--message=m"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    snakefile = tmp_path / "Snakefile"
    remote_snakefile = 'github("some/where", path="Snakefile", branch="main")'
    snakefile.write_text(snakefile.read_text().replace(f'"{ROOT}/Snakefile"', remote_snakefile))
    environment = {
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
        # git clones the local repository in place of the address at GitHub, which tests cannot reach.
        **{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf"},
        "GIT_CONFIG_VALUE_0": "https://github.com/some/where",
    }
    run = caller.run("--dry-run", config=SMALL_GRID, environment=environment)
    assert run.status and "Clone the repository" in run.output, run.output
