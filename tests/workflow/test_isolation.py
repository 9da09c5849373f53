"""A step imports the package next to its Snakefile and the libraries of its environment, and no file from other folders."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ["Snakefile", "config.yaml", "requirements.lock", "workflow", "clusterlets", "profiles", "envs"]
TARGETS = [f"results/tiny/runs/iris/{cell}/seeds0-1.csv" for cell in ("D/k2", "C/k2", "FRAC/k2")]
TARGETS += ["results/tiny/datasets.md"]
# Modules of the standard library and of other libraries. Some are imported at the start of a step, some later.
SHADOWED_MODULES = ["random", "csv", "yaml", "numpy", "scipy", "sklearn", "numba", "jsonschema"]


def add_failing_modules(folder, *names):
    """Add packages with these names that end any process that imports them."""
    for name in names:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('{name} of {folder.name} was run')\n")


def checkout_in(folder):
    """Copy the code to a folder, as in a second checkout, and return the folder."""
    folder.mkdir()
    for name in CODE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True)  # workflow/pythonpath holds a link to the package
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def test_no_file_in_the_working_folder_or_next_to_the_snakefile_replaces_a_module(tmp_path, workflow_in, finished):
    root = checkout_in(tmp_path / "code")
    add_failing_modules(root, *SHADOWED_MODULES)
    workflow = workflow_in(tmp_path / "run", root)
    workflow.folder.mkdir()
    add_failing_modules(workflow.folder, "clusterlets", *SHADOWED_MODULES)
    run = workflow.run(*TARGETS, environment={"PYTHONSAFEPATH": "1"})  # protects Snakemake itself
    assert run.status == 0, run.output
    actual, expected = workflow.results(), finished.results()
    cells = [name for name in actual if name.startswith("runs/")]
    assert len(cells) == len(TARGETS) - 1
    assert [name for name in cells if actual[name] != expected[name]] == []


SPECIAL_CHARACTERS = 'a:b c $(touch hit) `touch hit` it\'s "k" & ; ~ é # * ? [k] < > | \\ ! % ^ = + , @ -'


def test_a_checkout_runs_in_a_folder_with_special_characters_in_its_name(tmp_path, workflow_in):
    workflow = workflow_in(tmp_path / "run", checkout_in(tmp_path / SPECIAL_CHARACTERS))
    workflow.folder.mkdir()
    run = workflow.run(*TARGETS, "results/tiny/tables/all_tables.tex", config={"datasets": ["iris"], "k": [2]})
    assert run.status == 0, run.output
    assert not list(tmp_path.rglob("hit"))


def test_a_checkout_in_a_folder_with_braces_in_its_name_is_refused_with_a_message_of_one_line(tmp_path, workflow_in):
    workflow = workflow_in(tmp_path / "run", checkout_in(tmp_path / "a{k}"))
    workflow.folder.mkdir()
    run = workflow.run("--dry-run")
    assert run.status == 1 and "Traceback" not in run.output
    assert re.search(r"^The checkout is in .*/a\{k\}, but Snakemake reads braces .* Move it", run.output, re.MULTILINE)


RULE_FILES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]


@pytest.mark.parametrize("file", RULE_FILES, ids=lambda path: path.name)
def test_every_placeholder_in_a_shell_command_is_quoted(file):
    text = file.read_text(encoding="utf-8")
    commands = re.findall(r"^ +shell:\n((?: +[\"'].*\n)+)", text, re.MULTILINE)
    assert len(commands) == len(re.findall(r"^ +shell:$", text, re.MULTILINE))
    placeholders = re.findall(r"\{([^{}]+)\}", "".join(commands))
    assert all(placeholder.endswith(":q") for placeholder in placeholders), placeholders
    # Every rule has placeholders. If none is found in a file with rules, the patterns above miss them.
    assert bool(placeholders) == bool(re.search(r"^ *rule\b", text, re.MULTILINE))
