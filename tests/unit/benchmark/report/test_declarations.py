"""The file that draws a figure also declares it. The declaration decides what is planned, drawn and shown."""

import re
from pathlib import Path

import pandas as pd
import pytest
from built_results import SETTINGS
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.report import page
from clusterlets.benchmark.report.figures import SECTIONS, Declaration, declarations, images
from clusterlets.errors import ClusterletsError
from clusterlets.pages.style import empty_figure, save, single_panel

VALID_SOURCE = """
FIGURES = [
    Declaration(name="mine", title="Mine", caption="All.", reads=("runs.csv",), sections=("report.html#figures",)),
]
"""
FAULTS = {
    "no declaration": ("", "declares no figure"),
    "an empty list": ("FIGURES = []", "declares no figure"),
    "no caption": (VALID_SOURCE.replace('caption="All.", ', ""), "caption"),
    "an unknown argument": (VALID_SOURCE.replace("title=", "heading="), "heading"),
    "not a literal": (VALID_SOURCE.replace('"All."', "caption()"), "literal"),
    "a section that the report lacks": (VALID_SOURCE.replace("#figures", "#pictures"), "report.html#pictures"),
    "no section": (VALID_SOURCE.replace('("report.html#figures",)', "()"), "sections"),
    "nothing to read": (VALID_SOURCE.replace('("runs.csv",)', "()"), "reads"),
}


def test_a_declaration_is_read_without_importing_its_file(tmp_path):
    (tmp_path / "one.py").write_text(f"raise SystemExit\n{VALID_SOURCE}")
    (figure,) = declarations(tmp_path)
    assert (figure.name, figure.module) == ("mine", "one")
    assert figure.files("pdf", "png") == ["figures/mine.pdf", "figures/mine.png"]


@pytest.mark.parametrize(("source", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_declaration_is_refused_and_the_error_names_the_file(source, reason, tmp_path):
    (tmp_path / "faulty.py").write_text(source)
    with pytest.raises(ClusterletsError, match=r"faulty\.py") as error:
        declarations(tmp_path)
    assert reason in str(error.value)


def test_a_name_that_two_files_declare_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(VALID_SOURCE)
    with pytest.raises(ClusterletsError, match="mine: one.py and two.py"):
        declarations(tmp_path)


def test_every_section_shows_its_figures_and_leaves_out_empty_ones(tmp_path, monkeypatch):
    (tmp_path / "figures").mkdir()
    figures = []
    for number, section in enumerate(SECTIONS):
        for name, drawing in ((f"full_{number}", single_panel(1)[0]), (f"empty_{number}", empty_figure())):
            figures.append(Declaration(name=name, title="T", caption="C", reads=("runs.csv",), sections=(section,)))
            save(drawing, tmp_path / "figures" / name)
    for module in ("clusterlets.benchmark.report.figures", "clusterlets.benchmark.report.page"):
        monkeypatch.setattr(f"{module}.declarations", lambda: figures)

    results = Results.from_runs(synthetic_runs(("pima",), seeds=2, ks=(2,)), SETTINGS)
    report = page.render(results, page.StepOutputs(images(tmp_path)))

    for number, section in enumerate(SECTIONS):
        section_id = section.partition("#")[2]
        (content,) = re.findall(rf'<section id="{section_id}">.*?</section>', report, re.DOTALL)
        assert f'id="figure-full_{number}"' in content
        assert f"empty_{number}" not in content


def test_the_figure_in_the_docs_is_declared_and_drawn(tmp_path):
    docs = (Path(__file__).parents[4] / "docs/extending.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(from matplotlib.*?)```", docs, re.DOTALL)
    (tmp_path / "cohesion_balance.py").write_text(source)
    (figure,) = declarations(tmp_path)
    assert figure.name == figure.module == "cohesion_balance" and figure.position == 90
    module = {}
    exec(source, module)
    assert module["draw"](pd.DataFrame({"cohesion": [0.5], "balance": [0.2]})).axes
