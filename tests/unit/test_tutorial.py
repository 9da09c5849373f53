"""The tutorial runs and prints what it shows, as the other pages with examples do; docstrings describe what there is."""

import inspect
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from clusterlets import FRAC, ClusterletClustering, fairness_report

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("page", ["choosing", "methods"])
def test_the_examples_run_and_print_what_they_show(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```(?:\n\nIt prints\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert examples
    for example, shown in examples:
        exec(example, {})
        printed = capsys.readouterr().out
        assert printed == shown if shown else printed


def test_every_fitted_attribute_and_score_is_described():
    X, sex = [[0.0], [1.0], [5.0], [6.0]], list("abab")
    for estimator in (ClusterletClustering(2, random_state=0), FRAC(2, random_state=0)):
        fitted = [name for name in vars(estimator.fit(X, sensitive_features=sex)) if name.endswith("_")]
        described = inspect.getdoc(type(estimator))  # from 3.13 on Python itself takes the indentation away
        assert len(fitted) > 5 and [name for name in fitted if f"\n{name} :" not in described] == []
    described = inspect.getdoc(fairness_report)
    assert [name for name in fairness_report(X, [0, 0, 1, 1], sex) if f"``{name}``" not in described] == []
