"""The examples in the README and the documentation run, and print the output that is shown there."""

import re
import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from readme import command, is_cut_from, lines_below
from sklearn.datasets import load_breast_cancer

from clusterlets import __main__ as command_line

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GALLERY = sorted((DOCS / "examples").glob("plot_*.py"))


def code_blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(autouse=True)
def temporary_folder_without_display(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    yield
    pyplot.close("all")


def test_the_readmes_example_gives_a_fair_clustering(capsys):
    *_, example = code_blocks(README, "python")
    names: dict = {}
    exec(example, names)
    sex, labels, price = names["sex"], names["model"].labels_, names["report"]["price_of_fairness"]
    assert all(abs(sex[labels == cluster].mean() - sex.mean()) < 0.02 + 1e-9 for cluster in range(5))
    assert 1 <= price < 1.5
    assert capsys.readouterr().out.split() == [str(round(names["report"]["deviation_max"], 3)), str(round(price, 2))]


def test_the_readmes_command_prints_what_the_readme_shows(tmp_path, capsys):
    cluster = command("clusterlets cluster")
    data = load_breast_cancer(as_frame=True)
    data.frame.assign(diagnosis=data.target_names[data.target]).drop(columns="target").to_csv("tumours.csv", index=False)
    assert command_line.main(cluster.split()[1:]) == 0
    assert is_cut_from(lines_below(cluster), capsys.readouterr().out)
    assert (tmp_path / "tumours.html").is_file()


def test_the_readmes_method_has_nothing_wrong(capsys):
    method, _ = code_blocks(README, "python")
    Path("shuffled.py").write_text(method, encoding="utf-8")
    assert command_line.main(["check", "shuffled.py"]) == 0
    assert "shuffled: nothing wrong was found" in capsys.readouterr().out


def test_the_documented_command_keeps_its_limit(tmp_path, capsys):
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    command, *_ = re.findall(r"^    clusterlets (cluster .*--max-deviation .*)$", text, re.MULTILINE)
    rows = [f"{row % 7},{row * row % 11},{'fm'[row % 3 > 0]}" for row in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,income,sex", *rows]))
    assert command_line.main(command.split()) == 0
    assert "\nasked for   max_deviation 0.02: kept" in capsys.readouterr().out


def test_the_tutorial_runs_and_prints_the_output_that_it_shows(tmp_path, capsys):
    names: dict = {}
    examples, outputs = (code_blocks(DOCS / "tutorial.md", language) for language in ("python", "text"))
    assert len(examples) == 2
    for example, expected in zip(examples, outputs, strict=True):
        exec(example, names)
        names["plt"].close("all")
        assert capsys.readouterr().out == expected
    assert (tmp_path / "fair.png").read_bytes().startswith(b"\x89PNG")
    share = (names["diagnosis"] == "malignant").mean()
    shares_in_clusters = [np.array([bar.get_height() for bar in panel.containers[0]]) for panel in names["panels"]]
    k_means, fair_limit, frac, clusterlets = (np.abs(shares - share).max() for shares in shares_in_clusters)
    assert frac < fair_limit <= 0.02 < clusterlets < k_means


@pytest.mark.slow
@pytest.mark.parametrize("page", ["choosing", "methods"])
def test_an_example_prints_the_output_that_its_page_shows(page, capsys):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```(?:\n\nIt prints\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert examples
    for example, expected in examples:
        exec(example, {})
        output = capsys.readouterr().out
        assert output and expected in ("", output)


@pytest.mark.slow
@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_an_example_of_the_gallery_draws_a_figure(example):
    runpy.run_path(str(example))
    all_axes = [axes for number in pyplot.get_fignums() for axes in pyplot.figure(number).axes if axes.has_data()]
    assert all_axes
    assert all(axes.get_title() for axes in all_axes)
