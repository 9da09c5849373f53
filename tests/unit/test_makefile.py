"""The Makefile accepts lists with spaces and an unwritable home, and rebuilds an environment if its lock has changed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")


def environment_outside_make(*prefixes):
    """The environment without variables of make, which may run these tests, and without those with one of the prefixes."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", *prefixes))}


@pytest.mark.parametrize("excluded", ["nbfi,adult", "nbfi, adult", " nbfi , adult ", "nbfi adult"])
def test_the_list_of_excluded_datasets_may_contain_spaces(excluded):
    command = ["make", "--dry-run", "data", f"EXCLUDE={excluded}"]
    output = subprocess.run(
        command, cwd=ROOT, env=environment_outside_make(), text=True, capture_output=True, check=True
    ).stdout
    assert output.rstrip().endswith(" --config exclude=nbfi,adult")


@pytest.mark.parametrize("home", ["/proc/nobody", "/dev/null", "writable"])
def test_make_sets_utf_8_and_a_different_cache_if_home_cannot_be_written(home, tmp_path):
    home = str(tmp_path) if home == "writable" else home
    environment = environment_outside_make("XDG_CACHE_HOME", "PYTHONUTF8")
    command = ["make", "--dry-run", "--print-data-base", "data"]
    process = subprocess.run(command, cwd=ROOT, env=environment | {"HOME": home}, capture_output=True, text=True, check=True)
    assert (f"XDG_CACHE_HOME := {ROOT}/.snakemake/cache" in process.stdout) is (home != str(tmp_path))
    assert "PYTHONUTF8 := 1" in process.stdout


def test_python_caches_bytecode_even_where_the_environment_forbids_it(tmp_path):
    (tmp_path / "module.py").touch()
    recipe = f"include {ROOT}/Makefile\nimport:\n\t@cd {tmp_path} && {sys.executable} -c 'import module'\n"
    environment = environment_outside_make() | {"PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["make", "--file", "-", "import"], cwd=ROOT, env=environment, input=recipe, text=True, check=True)
    assert (tmp_path / "__pycache__").is_dir()


@pytest.fixture
def checkout(tmp_path):
    """The Makefile and the files that its environments depend on, with each environment marked as ready."""
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, tmp_path)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    for marker in set(re.findall(r"touch (\S+/\.ready\S*)", dry_run(tmp_path, "lint", "docs", "test", "archive"))):
        (tmp_path / marker).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / marker).touch()
    return tmp_path


def dry_run(folder, *targets):
    command = ["make", "--dry-run", *targets]
    return subprocess.run(
        command, cwd=folder, env=environment_outside_make(), text=True, capture_output=True, check=True
    ).stdout


def test_a_newer_file_of_equal_content_rebuilds_nothing(checkout):
    for path in checkout.glob("*.*"):
        path.touch()
    assert "install" not in dry_run(checkout, "lint", "docs", "test", "archive")


@pytest.mark.parametrize(
    ("changed", "target", "rebuilt"),
    [
        ("requirements.lock", "demo", "-m venv --clear .venv\n"),
        ("requirements-uv.lock", "demo", "-m venv --clear .venv\n"),
        ("requirements-lint.lock", "lint", "-m venv --clear --without-pip .venv-lint\n"),
        ("requirements-docs.lock", "docs", "rm -rf .venv/sphinx\n"),
        ("requirements-archive.lock", "archive", "rm -rf .venv/archive-packages\n"),
        ("profiles/slurm/requirements.lock", "test-slurm", "rm -rf .venv/cluster-plugins\n"),
        ("pyproject.toml", "demo", "--editable ."),
    ],
)
def test_a_changed_lock_rebuilds_only_its_environment(checkout, changed, target, rebuilt):
    assert "install" not in dry_run(checkout, target)
    with open(checkout / changed, "a", encoding="utf-8") as file:
        file.write("# a change\n")
    output = dry_run(checkout, target)
    assert rebuilt in output and ("venv --clear .venv\n" in output) is (
        changed in ("requirements.lock", "requirements-uv.lock")
    )
