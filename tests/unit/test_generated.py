"""The files generated from declarations are up to date in the checkout; `make generated` renews them."""

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


def test_nothing_generated_is_out_of_date(generate, capsys):
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_only_the_named_section_is_replaced_and_it_must_exist(generate):
    page = "before\n<!-- generated: rows -->\nold\n<!-- end: rows -->\nafter\n"
    assert generate.with_section(page, "rows", "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="occurs 0 times"):
        generate.with_section(page, "columns", "new")
