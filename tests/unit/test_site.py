"""Each page of the documentation is in the navigation, its links lead somewhere, and the reference lists what there is."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
REFERENCE = (DOCS / "api.md").read_text(encoding="utf-8")
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
by_name = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def test_every_page_is_in_the_navigation_once():
    menus = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL)
    listed = [line for menu in menus for line in menu.splitlines() if line and not line.startswith(":")]
    named = [re.sub(r".*<(.*)>", r"\1", line) for line in listed]
    pages = [page.stem for page in DOCS.glob("*.md") if page.stem != "index"]
    assert sorted(name for name in named if "/" not in name) == sorted(pages)
    assert "gallery/index" in named


@by_name
def test_every_link_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", CODE.sub("", page.read_text(encoding="utf-8")))
    made = {"gallery/index.rst"}  # by the build
    assert [target for target in targets if target not in made and not (page.parent / target).exists()] == []


@by_name
def test_prose_has_lines_of_120_characters_at_most(page):
    prose = CODE.sub("", page.read_text(encoding="utf-8")).splitlines()
    assert [line for line in prose if len(line) > 120 and not line.startswith(("|", "    ", "!["))] == []


def test_the_reference_lists_what_the_package_offers():
    offered = ast.parse((ROOT / "clusterlets" / "__init__.pyi").read_text(encoding="utf-8"))
    names = [alias.name for node in offered.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    listed = re.findall(r"^   ~clusterlets\.(\w+)$", REFERENCE, re.MULTILINE)
    assert len(names) > 20 and sorted(listed) == sorted(set(names) - {"ClusterletsError"})  # that one is below its module


def test_the_reference_lists_every_module_of_the_algorithms():
    folder = ROOT / "clusterlets" / "algorithms"
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in folder.rglob("[!_]*.py")}
    assert set(re.findall(r"^   (clusterlets\.algorithms\.[\w.]+)$", REFERENCE, re.MULTILINE)) == modules


def test_what_builds_the_site_agrees_with_what_runs():
    pins = [
        dict(re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
        for lock in ("requirements.lock", "requirements-docs.lock")
    ]
    shared = pins[0].keys() & pins[1].keys()
    assert shared and [name for name in shared if pins[0][name] != pins[1][name]] == []
