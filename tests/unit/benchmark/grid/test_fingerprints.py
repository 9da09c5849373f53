"""Which changes of the code change the parameters of a step's rule, so that the step runs again, and which do not."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny_grid
from modules import PACKAGE

from clusterlets.benchmark import datasets
from clusterlets.benchmark.grid import fingerprints, locks
from clusterlets.benchmark.grid.cells import cells
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.plan import Plan

SOURCE = '''"""A module."""

__version__ = "1"


class A(Base):
    """A class."""

    citation = "Someone, 2000"
    cost = "a second"
    width = Integer(1, 9, meaning="The width, " f"at most {LIMIT}.")


def f(x):
    """A function."""
    return x + 1  # a comment
'''
CHANGES_WITHOUT_EFFECT = {
    "a comment": SOURCE.replace("# a comment", "# a different comment"),
    "docstrings": SOURCE.replace("A module", "One").replace("A class", "One").replace("A function", "One"),
    "no docstring": SOURCE.replace('    """A function."""\n', ""),
    "line endings and blank lines": SOURCE.replace("\n", "\r\n").replace("return", "\r\n    return"),
    "the version": SOURCE.replace('"1"', '"2"'),
    "a citation": SOURCE.replace("Someone", "Nobody"),
    "no text on the cost": SOURCE.replace('    cost = "a second"\n', ""),
    "the meaning of a parameter": SOURCE.replace("The width", "How wide it is"),
}
CHANGES_WITH_EFFECT = {
    "a number": SOURCE.replace("x + 1", "x + 2"),
    "a default": SOURCE.replace("f(x)", "f(x=1)"),
    "a statement": SOURCE + "f(1)\n",
    "text that is not a docstring": SOURCE + '"text"\n',
    "a text that computes": SOURCE.replace("return x", 'cost = "euclidean"\n    return x'),
    "an argument that computes": SOURCE.replace("meaning=", "cost="),
    "a cost that is no text": SOURCE.replace('"a second"', "1.5"),
    "a bound of a parameter": SOURCE.replace("9", "8"),
    "a syntax error": SOURCE + "f(\n",
}


def clear_caches():
    names = ("import_closure", "_imports", "_module_file", "_digest", "_summaries")
    for name in names:
        getattr(fingerprints, name).cache_clear()


@pytest.fixture(autouse=True)
def cleared_caches():
    clear_caches()
    yield
    clear_caches()


def code_with(path, source):
    path.write_bytes(source.encode())
    clear_caches()
    return fingerprints.step_code(user_files=[str(path)])


@pytest.mark.parametrize("change", CHANGES_WITHOUT_EFFECT)
def test_a_change_that_cannot_change_results_changes_no_code(tmp_path, change):
    assert code_with(tmp_path / "a.py", CHANGES_WITHOUT_EFFECT[change]) == code_with(tmp_path / "a.py", SOURCE)


def test_every_other_change_gives_different_code(tmp_path):
    sources = (SOURCE, *CHANGES_WITH_EFFECT.values())
    codes = {str(code_with(tmp_path / "a.py", source)) for source in sources}
    assert len(codes) == len(sources)


def test_every_byte_counts_in_a_file_that_is_not_python(tmp_path):
    assert code_with(tmp_path / "a.R", SOURCE) != code_with(tmp_path / "a.R", CHANGES_WITHOUT_EFFECT["a comment"])


def test_the_code_names_each_file_of_the_user(tmp_path, monkeypatch):
    """A name has no braces, which Snakemake would read as wildcards."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    other = str(tmp_path / "other.py")
    names = {"mine {a}.py": "./mine%20%7Ba%7D.py", "folder/b.py": "./folder/b.py", other: other}
    before = {}
    for file, name in names.items():
        Path(file).write_text("x = 1")
        code = fingerprints.step_code(user_files=list(names)[: len(before) + 1])
        assert set(code) - set(fingerprints.step_code()) - set(before) == {name}
        before |= {name: code[name]}


def test_the_code_depends_on_sources_and_not_on_their_folder(tmp_path, monkeypatch):
    first = fingerprints.step_code("metrics.composition")
    copy = shutil.copytree(PACKAGE, tmp_path / "clusterlets", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE.parent / "workflow", tmp_path / "workflow")
    monkeypatch.setattr(fingerprints, "PACKAGE", copy)
    clear_caches()
    assert fingerprints.step_code("metrics.composition") == first
    (cache,) = (copy / "__pycache__").glob("fingerprints.*.json")
    for content in (cache.read_bytes(), cache.read_bytes()[:-9]):  # the summaries are cached, and damaged
        cache.write_bytes(content)
        clear_caches()
        assert fingerprints.step_code("metrics.composition") == first
    composition = copy / "metrics/composition.py"
    composition.write_bytes(composition.read_bytes() + b"CHANGED = True\n")
    clear_caches()
    changed = fingerprints.step_code("metrics.composition")
    assert {name for name in first if changed[name] != first[name]} == {"metrics/composition.py"}


def test_the_code_has_the_versions_of_the_lock(tmp_path):
    lock = tmp_path / "lock"
    lock.write_text(
        "numpy==2.4.6 \\\n    --hash=sha256:1\nscikit-learn==1.8.0 ; python_version > '3' \\\n    --hash=sha256:2\n"
    )
    assert locks.locked_versions(lock, ["scikit-learn", "numpy"]) == {"scikit-learn": "1.8.0", "numpy": "2.4.6"}
    assert fingerprints.step_code(libraries=["numba"])["numba"] == locks.locked_versions(locks.LOCK, ["numba"])["numba"]


def test_every_step_depends_on_the_modules_that_run_it_and_on_no_command():
    code = fingerprints.step_code("benchmark.steps.list_data")
    assert {"__main__.py", "benchmark/steps/__main__.py", "errors.py"} <= code.keys()
    assert not {name for name in code if name.startswith("commands/")}


def test_a_module_that_changes_no_result_counts_only_where_it_is_named():
    fit = fingerprints.step_code("benchmark.steps.fit_method", "methods")
    account = fingerprints.step_code("benchmark.steps.account", "benchmark.provenance.accounts")
    files = {fingerprints._module_file(module) for module in fingerprints.CHANGE_NO_RESULT}
    assert all(map(Path.is_file, files)) and not {str(file.relative_to(PACKAGE)) for file in files} & fit.keys()
    assert "benchmark/provenance/accounts.py" in account


def test_a_citation_of_a_dataset_does_not_count_and_its_files_do(monkeypatch):
    description = datasets.describe("iris")

    def code_of(**changes):
        monkeypatch.setattr(datasets, "describe", lambda name: {**description, **changes})
        return fingerprints.dataset_code("benchmark.steps.prepare_dataset", "iris")

    assert code_of(citation="Nobody, 2000") == code_of() != code_of(rows=151)


def items_of(parameters, **wildcards):
    """The parameters of a job, as the set that Snakemake compares."""
    return {value(SimpleNamespace(**wildcards)) if callable(value) else value for value in parameters.values()}


@pytest.mark.parametrize(("one", "other"), [("B", "D"), ("G-D", "G-B"), ("FRAC", "stripes")])
def test_a_method_depends_on_no_other_method(one, other, tmp_path):
    settings = tmp_path / "settings.yaml"
    command = {"name": "stripes", "command": "cp {table} {labels}"}
    settings.write_text(json.dumps({"datasets": ["iris"], "methods": ["B", "D", "G-B", "G-D", "FRAC", command]}))
    parameters = Plan(read_configuration(settings)).method_code("benchmark.steps.score_method")
    items, other_items = (items_of(parameters, method=method) for method in (one, other))
    file = {"stripes": "supervision/program.py"}.get(other, f"methods/{other.lower().replace('-', '_')}.py")
    (item,) = (item for item in other_items if item.startswith(f"{file}: "))
    assert item not in items


def test_jobs_have_all_of_their_code_and_only_the_changed_items_differ():
    shared = {"a.py": "1", "b.py": "2"}
    codes = {"short": shared | {"c.py": "3"}, "long": shared | {"c.py": "3", "d.py": "4", "e.py": "5"}}

    def items(job, codes=codes):
        parameters = fingerprints.parameters_by(lambda wildcards: wildcards.job, shared, codes)
        return items_of(parameters, job=job)

    assert items("short") == {"a.py: 1", "b.py: 2", "c.py: 3"}
    assert items("long") == items("short") | {"d.py: 4", "e.py: 5"}
    assert items("short", {**codes, "longer": codes["long"] | {"f.py": "6"}}) == items("short")
    edited = {job: code | {"c.py": "9"} for job, code in codes.items()}
    assert items("long") ^ items("long", edited) == {"c.py: 3", "c.py: 9"}


def test_every_file_is_opened_once_for_all_jobs():
    plan, n_opened, is_counting = Plan(read_configuration()), Counter(), True

    def count(event, arguments):
        if is_counting and event == "open" and str(arguments[0]).startswith(str(PACKAGE)):
            n_opened[str(arguments[0])] += 1

    sys.addaudithook(count)  # An audit hook cannot be removed, so is_counting switches it off.
    rules = [plan.method_code("benchmark.steps.fit_method"), plan.method_code("benchmark.steps.score_method")]
    for cell in cells(plan.config):
        for parameters in rules:
            items_of(parameters, method=cell.method)
    plan.prepare_code()
    for steps in (
        ["benchmark.steps.analyse"],
        ["benchmark.steps.write_report"],
        ["benchmark.steps.write_leaderboard"],
        ["benchmark.steps.plot", "benchmark.report.figures.heatmaps"],
    ):
        fingerprints.analysis_code(*steps)
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
from clusterlets.benchmark.steps.__main__ import main
for step in json.loads(sys.argv[2]):
    assert main(step) == 0, step
print(json.dumps([name for name, module in sys.modules.items() if name.startswith("clusterlets") and type(module) is not Stub]))
"""


@pytest.mark.slow
def test_results_do_not_depend_on_the_modules_that_change_none(tmp_path):
    grid = {
        "datasets": ["iris"],
        "k": [3],
        "omega": [0.5],
        "methods": ["C", "k-means"],
        "seeds": {"count": 2, "batch": 2},
        "sample_size": 50,
        "budget": {"seconds": 60, "memory_mb": None},
    }
    cells = [f"results/runs/iris/{cell}/seeds0-1.csv" for cell in ("C/k3", "k-means/k3")]
    steps = tiny_grid.plan(tmp_path, grid, cells)
    contents, loaded = [], set()
    for folder, stubs in (
        (tmp_path / "real", []),
        (tmp_path / "stubs", sorted(fingerprints.CHANGE_NO_RESULT - {"clusterlets"})),
    ):
        folder.mkdir()
        command = [sys.executable, "-P", "-c", RUN_STEPS, json.dumps(stubs), json.dumps(steps)]
        process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert process.returncode == 0, process.stderr
        loaded |= set(json.loads(process.stdout))
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
        contents.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert contents[0] == contents[1] and len(contents[0]) >= 10
    modules = {f"benchmark.steps.{step.replace('-', '_')}" for step, *_ in steps}
    modules |= {"benchmark.steps.__main__", "methods.k_means", "methods.c", "benchmark.datasets.bundled"}
    imported = set().union(*(fingerprints.import_closure(f"clusterlets.{module}") for module in modules))
    assert loaded <= {*imported, *fingerprints.CHANGE_NO_RESULT, "clusterlets.benchmark.grid.locks"}
