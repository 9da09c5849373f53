"""The version and its date stand in three places, and the changelog keeps its form."""

import datetime
import re
from pathlib import Path

import yaml

import clusterlets

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SECTIONS = re.findall(r"^## \[(.+?)\](?: - (.+))?$", CHANGELOG, re.MULTILINE)
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_released_version_is_the_same_everywhere():
    (first, undated), (version, date) = SECTIONS[:2]
    assert (first, undated) == ("Unreleased", "")
    assert version == clusterlets.__version__ == CITATION["version"]
    assert date == CITATION["date-released"].isoformat()


def test_versions_and_dates_fall():
    versions = [tuple(map(int, version.split("."))) for version, _ in SECTIONS[1:]]
    dates = [datetime.date.fromisoformat(date) for _, date in SECTIONS[1:]]
    assert versions == sorted(set(versions), reverse=True) and all(len(version) == 3 for version in versions)
    assert dates == sorted(dates, reverse=True)


def test_every_heading_is_one_that_keep_a_changelog_knows():
    headings = re.findall(r"^(#+ .*)$", CHANGELOG, re.MULTILINE)
    dated = {f"## [{version}] - {date}" for version, date in SECTIONS[1:]}
    assert set(headings) == {"# Changelog", "## [Unreleased]"} | dated | {f"### {kind}" for kind in KINDS} & set(headings)


def test_the_citation_names_the_paper_with_its_authors_and_year():
    (paper,) = [one for one in CITATION["references"] if one["title"] == "Fair Clustering with Clusterlets"]
    assert [author["family-names"] for author in paper["authors"]] == ["Setzu", "Guidotti"]
    assert paper["year"] == 2025
