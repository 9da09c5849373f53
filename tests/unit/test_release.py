"""The version and its date are the same in the changelog, the package and the citation."""

import re
from pathlib import Path

import yaml

import clusterlets

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SECTIONS = re.findall(r"^## \[(.+?)\](?: - (.+))?$", CHANGELOG, re.MULTILINE)


def test_the_released_version_is_the_same_everywhere():
    unreleased, (version, date) = SECTIONS[:2]
    assert unreleased == ("Unreleased", "")
    assert version == clusterlets.__version__ == CITATION["version"]
    assert date == CITATION["date-released"].isoformat()


def test_the_citation_names_the_paper_with_its_authors_and_year():
    (paper,) = (reference for reference in CITATION["references"] if reference["title"] == "Fair Clustering with Clusterlets")
    assert [author["family-names"] for author in paper["authors"]] == ["Setzu", "Guidotti"]
    assert paper["year"] == 2025
