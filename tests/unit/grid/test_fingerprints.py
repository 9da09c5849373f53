"""Which changes of the code change the fingerprint of a step, so that the step runs again, and which do not."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest
import tiny_grid
from modules import MODULES, PACKAGE

from clusterlets.grid import fingerprints, step_fingerprints
from clusterlets.grid.cells import cells
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.plan import Plan
from clusterlets.steps.options import STEPS

SOURCE = '''"""A module."""

__version__ = "1"


def f(x):
    """A function."""
    return x + 1  # a comment
'''
CHANGES_WITHOUT_EFFECT = {
    "a comment": SOURCE.replace("# a comment", "# a different comment"),
    "docstrings": SOURCE.replace("A module", "One").replace("A function", "One"),
    "no docstring": SOURCE.replace('    """A function."""\n', ""),
    "line endings and blank lines": SOURCE.replace("\n", "\r\n").replace("return", "\r\n    return"),
    "the version": SOURCE.replace('"1"', '"2"'),
}
CHANGES_WITH_EFFECT = {
    "a number": SOURCE.replace("x + 1", "x + 2"),
    "a default": SOURCE.replace("f(x)", "f(x=1)"),
    "a statement": SOURCE + "f(1)\n",
    "text that is not a docstring": SOURCE + '"text"\n',
    "a syntax error": SOURCE + "f(\n",
}


@cache
def modules_outside_fingerprints():
    """The modules that are in no fingerprint, because no result depends on them."""
    return [module for module in MODULES if not fingerprints._in_fingerprints(module)]


def fingerprint_of(path, source):
    path.write_bytes(source.encode())
    fingerprints._digest.cache_clear()
    fingerprints._tree.cache_clear()
    return fingerprints.fingerprint([], user_files=[str(path)])


@pytest.mark.parametrize("change", CHANGES_WITHOUT_EFFECT)
def test_a_change_that_cannot_change_results_changes_no_fingerprint(tmp_path, change):
    assert fingerprint_of(tmp_path / "a.py", CHANGES_WITHOUT_EFFECT[change]) == fingerprint_of(tmp_path / "a.py", SOURCE)


def test_every_other_change_gives_a_different_fingerprint(tmp_path):
    fingerprints_of_changes = {fingerprint_of(tmp_path / "a.py", source) for source in (SOURCE, *CHANGES_WITH_EFFECT.values())}
    assert len(fingerprints_of_changes) == 1 + len(CHANGES_WITH_EFFECT)


def test_every_byte_counts_in_a_file_that_is_not_python(tmp_path):
    assert fingerprint_of(tmp_path / "a.R", SOURCE) != fingerprint_of(tmp_path / "a.R", CHANGES_WITHOUT_EFFECT["a comment"])


def files_in(fingerprint):
    """The files that a fingerprint names. Its parts look like ``storage.py:0123abcd``."""
    return {part.partition(":")[0] for part in fingerprint.split()}


def test_every_step_depends_on_the_modules_that_run_it_and_on_no_command():
    files = files_in(step_fingerprints.step_fingerprint("steps.datasets_table"))
    assert {"__main__.py", "steps/options.py", "../workflow/step.py", "errors.py"} <= files
    assert not {file for file in files if file.startswith("commands/")}


def test_a_module_outside_fingerprints_counts_only_where_it_is_named():
    fit = step_fingerprints.step_fingerprint("steps.fitting", "methods")
    account = step_fingerprints.step_fingerprint("steps.accounts", "provenance.accounts")
    outside = {f"{module.removeprefix('clusterlets.').replace('.', '/')}.py" for module in modules_outside_fingerprints()}
    assert len(outside) >= 5 and not outside & files_in(fit)
    assert "provenance/accounts.py" in files_in(account)


@pytest.mark.parametrize(("one", "other"), [("B", "D"), ("G-D", "G-B"), ("FRAC", "stripes")])
def test_a_method_depends_on_no_other_method(one, other, tmp_path):
    settings = tmp_path / "settings.yaml"
    command = {"name": "stripes", "command": "cp {table} {labels}"}
    settings.write_text(json.dumps({"datasets": ["iris"], "methods": ["B", "D", "G-B", "G-D", "FRAC", command]}))
    plan = Plan(read_configuration(settings))
    fingerprint, other_fingerprint = (
        plan.method_fingerprint("steps.scoring")(SimpleNamespace(method=method)) for method in (one, other)
    )
    file = {"stripes": "grid/program.py"}.get(other, f"methods/{other.lower().replace('-', '_')}.py")
    assert file in other_fingerprint and file not in fingerprint


def test_every_file_is_opened_once_for_all_jobs():
    for function in (
        fingerprints._digest,
        fingerprints._tree,
        fingerprints._imports,
        fingerprints._in_fingerprints,
        fingerprints.import_closure,
        step_fingerprints.step_fingerprint,
        step_fingerprints.dataset_fingerprint,
        step_fingerprints.analysis_fingerprint,
    ):
        function.cache_clear()
    plan, n_opened, is_counting = Plan(read_configuration()), Counter(), True

    def count(event, arguments):
        if is_counting and event == "open" and str(arguments[0]).startswith(str(PACKAGE)):
            n_opened[str(arguments[0])] += 1

    sys.addaudithook(count)  # An audit hook cannot be removed, so is_counting switches it off.
    for cell in cells(plan.config):
        for step in ("steps.fitting", "steps.scoring"):
            plan.method_fingerprint(step)(SimpleNamespace(method=cell.method))
        plan.prepare_fingerprint(SimpleNamespace(base="results", dataset=cell.dataset))
    for steps in (["steps.analysis"], ["steps.report"], ["steps.leaderboard"], ["steps.figures", "report.figures.heatmaps"]):
        step_fingerprints.analysis_fingerprint(*steps)
    is_counting = False
    n_opened_modules = {file: number for file, number in n_opened.items() if file.endswith(".py")}
    assert len(n_opened_modules) > 100 and set(n_opened_modules.values()) == {1}


# A program that runs steps of the workflow with stubs in place of some modules, and prints the modules that it loaded.
RUN_STEPS = """
import json, sys, types

class Nothing(float):
    def __call__(self, *_, **__): return self
    def __enter__(self): return self
    def __exit__(self, *_): return None

class Stub(types.ModuleType):
    def __getattr__(self, name): return Nothing()

for name in json.loads(sys.argv[1]):
    sys.modules[name] = Stub(name)
from clusterlets.__main__ import main
for step in json.loads(sys.argv[2]):
    assert main(step) == 0, step
print(json.dumps([name for name, module in sys.modules.items() if name.startswith("clusterlets") and type(module) is not Stub]))
"""


@pytest.mark.slow
def test_results_do_not_depend_on_the_modules_outside_fingerprints(tmp_path):
    grid = {
        "datasets": ["iris"],
        "k": [3],
        "omega": [0.5],
        "methods": ["C", "k-means"],
        "seeds": {"count": 2, "block": 2},
        "sample_size": 50,
        "budget": {"seconds": 60, "memory_mb": None},
    }
    cells = [f"results/runs/iris/{cell}/seeds0-1.csv" for cell in ("C/k3_omega0.5", "k-means/k3")]
    steps = tiny_grid.plan(tmp_path, grid, cells)
    contents, loaded = [], set()
    for folder, stubs in ((tmp_path / "real", []), (tmp_path / "stubs", modules_outside_fingerprints())):
        folder.mkdir()
        command = [sys.executable, "-P", "-c", RUN_STEPS, json.dumps(stubs), json.dumps(steps)]
        process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert process.returncode == 0, process.stderr
        loaded |= set(json.loads(process.stdout))
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
        contents.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert contents[0] == contents[1] and len(contents[0]) >= 10
    modules = {f"steps.{STEPS[step].split(':')[0]}" for step, *_ in steps}
    modules |= {"__main__", "methods.k_means", "methods.c", "datasets.bundled"}
    imported = set().union(*(fingerprints.import_closure(f"clusterlets.{module}") for module in modules))
    assert loaded <= {*imported, *modules_outside_fingerprints(), "clusterlets", "clusterlets.grid.fingerprints"}
