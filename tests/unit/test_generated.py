"""The files that `make generated` writes are up to date in the checkout."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs/generate.py"


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_generated_file_is_up_to_date(generate, capsys):
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


PAGE = "before\n<!-- generated: rows -->\nold\n<!-- end: rows -->\nafter\n"


def test_only_the_named_section_is_replaced(generate):
    assert generate.with_section(PAGE, "rows", "new\n") == PAGE.replace("old", "new")


def test_a_section_that_the_page_does_not_have_is_refused(generate):
    with pytest.raises(ValueError, match="occurs 0 times"):
        generate.with_section(PAGE, "columns", "new")
