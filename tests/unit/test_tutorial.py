"""The tutorial runs and prints what it shows; the API reference names what there is, as it is called."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
MATCHING = (path.stem for path in (ROOT / "clusterlets" / "algorithms" / "matching").glob("*.py"))
MODULES = [
    *(
        "clusterlets.estimators",
        "clusterlets.tuning",
        "clusterlets.metrics",
        "clusterlets.algorithms.frac",
        "clusterlets.algorithms.geometry",
    ),
    *(f"clusterlets.algorithms.matching.{name}".removesuffix(".__init__") for name in MATCHING),
]


def test_the_tutorial_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict = {}
    examples, prints = (re.findall(rf"```{kind}\n(.*?)```", TUTORIAL, re.DOTALL) for kind in ("python", "text"))
    assert len(examples) == 2 and len([line for line in examples[0].splitlines() if line.strip()]) <= 20
    for example, shown in zip(examples, prints):
        exec(example, names)
        names["plt"].close("all")
        assert capsys.readouterr().out == shown
    assert (tmp_path / "fair.png").read_bytes().startswith(b"\x89PNG")
    bars = [[bar.get_height() for bar in panel.containers[0]] for panel in names["panels"]]
    share = (names["diagnosis"] == "malignant").mean()
    deviations = [np.abs(np.array(heights) - share).mean() for heights in bars]
    assert deviations[1] < deviations[2] < deviations[0]  # the text says so


@pytest.mark.parametrize("page", ["api", "methods", "choosing"])
def test_the_examples_run_and_print_what_they_show(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```(?:\n\nIt prints\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert examples
    for example, shown in examples:
        exec(example, {})
        printed = capsys.readouterr().out
        assert printed == shown if shown else printed


def test_every_algorithms_module_is_in_the_reference_or_named_as_an_inner_one():
    inner = re.findall(r"`([a-z_]+)`", REFERENCE.partition("## Inner modules")[2])
    listed = {module.split(".")[2] for module, _ in entries() if module.startswith("clusterlets.algorithms.")}
    there = {path.stem for path in (ROOT / "clusterlets" / "algorithms").glob("[!_]*.py")} | {"matching"}
    assert inner and sorted([*inner, *listed]) == sorted(there)


@pytest.mark.parametrize("page", ["tutorial", "api", "choosing"])
def test_every_link_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    assert targets and [target for target in targets if not (ROOT / "docs" / target).exists()] == []


def entries():
    """Headings of the reference, as (module, text)."""
    for section in re.split(r"^## ", REFERENCE, flags=re.MULTILINE)[1:]:
        module = section.splitlines()[0]
        for heading in re.findall(r"^### `(.*)`$", section, re.MULTILINE):
            yield module, heading


def public_names(module):
    """Names that a module defines itself, constants too; or what it says that it offers."""
    offered = getattr(importlib.import_module(module), "__all__", None)
    if offered is not None:
        yield from offered
        return
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("module", sorted({*MODULES, *(module for module, _ in entries())}))
def test_the_reference_names_all_that_a_module_offers_and_nothing_else(module):
    listed = [heading.split("(")[0] for named, heading in entries() if named == module]
    assert sorted(listed) == sorted(public_names(module))


@pytest.mark.parametrize(("module", "heading"), [entry for entry in entries() if "(" in entry[1]])
def test_the_reference_shows_every_call_as_it_is(module, heading):
    function = getattr(importlib.import_module(module), heading.split("(")[0])
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    assert heading == function.__name__ + str(inspect.Signature(bare))


def test_the_reference_shows_how_every_function_is_called():
    shown = {(module, heading.split("(")[0]) for module, heading in entries() if "(" in heading}
    listed = {(module, heading.split("(")[0]) for module, heading in entries()}
    functions = {entry for entry in listed if inspect.isfunction(getattr(importlib.import_module(entry[0]), entry[1]))}
    assert functions and functions <= shown


def test_the_reference_names_every_fitted_attribute_and_score():
    from clusterlets.estimators import FRAC, ClusterletClustering, fairness_report

    X, sex = [[0.0], [1.0], [5.0], [6.0]], list("abab")
    for estimator in (ClusterletClustering(2, random_state=0), FRAC(2, random_state=0)):
        fitted = [name for name in vars(estimator.fit(X, sensitive_features=sex)) if name.endswith("_")]
        assert len(fitted) > 5 and [name for name in fitted if f"`{name}`" not in REFERENCE] == []
        described = inspect.getdoc(type(estimator))  # from 3.13 on Python itself takes the indentation away
        assert [name for name in fitted if f"\n{name} :" not in described] == []
    assert [name for name in fairness_report(X, [0, 0, 1, 1], sex) if f"`{name}`" not in REFERENCE] == []
