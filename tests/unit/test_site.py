"""The API reference is complete, and the locks of the site and of the package pin the same versions."""

import re
from pathlib import Path

import clusterlets

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_reference_lists_all_public_names():
    names_in_reference = re.findall(r"^   ~clusterlets\.(\w+)$", REFERENCE, re.MULTILINE)
    # The reference lists ClusterletsError with its module.
    assert sorted(names_in_reference) == sorted(set(clusterlets.__all__) - {"ClusterletsError"})


def test_the_reference_lists_every_module_of_the_algorithms():
    folder = ROOT / "clusterlets" / "algorithms"
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in folder.rglob("[!_]*.py")}
    assert set(re.findall(r"^   (clusterlets\.algorithms\.[\w.]+)$", REFERENCE, re.MULTILINE)) == modules


def test_the_locks_of_the_site_and_the_package_pin_the_same_versions():
    package, site = (
        dict(re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
        for lock in ("requirements.lock", "requirements-docs.lock")
    )
    in_both = package.keys() & site.keys()
    assert in_both
    assert [name for name in in_both if package[name] != site[name]] == []
