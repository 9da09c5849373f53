"""Every example of the gallery runs and draws a figure. `make docs` runs them too, and shows what they draw."""

import re
import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "docs" / "examples").glob("plot_*.py"))


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_a_figure(example, monkeypatch):
    matplotlib.use("Agg")
    pyplot.close("all")
    monkeypatch.setattr(pyplot, "show", lambda: None)  # the backend has no window to show
    runpy.run_path(str(example))
    drawn = [axes for number in pyplot.get_fignums() for axes in pyplot.figure(number).axes if axes.has_data()]
    pyplot.close("all")
    assert drawn and all(axes.get_title() for axes in drawn)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_what_it_teaches(example):
    text = example.read_text(encoding="utf-8")
    assert text.startswith('"""\n') and len(re.findall(r"^# \*\*Lesson\.\*\* ", text, re.MULTILINE)) == 1
