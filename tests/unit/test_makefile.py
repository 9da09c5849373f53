"""The Makefile accepts lists with spaces, works with an unwritable home, and rebuilds an environment if its lock changes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")


# Without the variables of make, which may itself run these tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def dry_run(folder, *arguments, environment=ENVIRONMENT):
    command = ["make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=True).stdout


@pytest.mark.parametrize("excluded", ["nbfi,adult", "nbfi, adult", " nbfi , adult ", "nbfi adult"])
def test_the_list_of_excluded_datasets_may_contain_spaces(excluded):
    assert dry_run(ROOT, "data", f"EXCLUDE={excluded}").rstrip().endswith(" --config exclude=nbfi,adult")


def variables_with_home(home):
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ("XDG_CACHE_HOME", "PYTHONUTF8")}
    return dry_run(ROOT, "--print-data-base", "data", environment=environment | {"HOME": str(home)})


@pytest.mark.parametrize(("home", "in_checkout"), [("/proc/nobody", True), ("/dev/null", True), (None, False)])
def test_make_keeps_the_cache_in_the_checkout_only_if_home_cannot_be_written_and_turns_on_utf_8(tmp_path, home, in_checkout):
    variables = variables_with_home(home or tmp_path)
    assert (f"XDG_CACHE_HOME := {ROOT}/.snakemake/cache" in variables) == in_checkout
    assert "PYTHONUTF8 := 1" in variables


def test_python_caches_bytecode_even_where_the_environment_forbids_it(tmp_path):
    (tmp_path / "module.py").touch()
    makefile = f"include {ROOT}/Makefile\nimport:\n\t@cd {tmp_path} && {sys.executable} -c 'import module'\n"
    environment = ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["make", "--file", "-", "import"], cwd=ROOT, env=environment, input=makefile, text=True, check=True)
    assert (tmp_path / "__pycache__").is_dir()


@pytest.fixture
def checkout(tmp_path):
    """A folder with the Makefile and the files that its environments depend on. Each environment is marked as ready."""
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, tmp_path)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    for marker in set(re.findall(r"touch (\S+/\.ready\S*)", dry_run(tmp_path, "lint", "docs", "test", "test-slurm"))):
        (tmp_path / marker).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / marker).touch()
    return tmp_path


def test_a_newer_file_of_equal_content_rebuilds_nothing(checkout):
    for path in checkout.glob("*.*"):
        path.touch()
    assert "install" not in dry_run(checkout, "lint", "docs", "test", "test-slurm")


@pytest.mark.parametrize(
    ("changed", "target", "expected_command"),
    [
        ("requirements.lock", "demo", "-m venv --clear .venv\n"),
        ("requirements-uv.lock", "demo", "-m venv --clear .venv\n"),
        ("requirements-lint.lock", "lint", "-m venv --clear --without-pip .venv-lint\n"),
        ("requirements-docs.lock", "docs", "rm -rf .venv/sphinx\n"),
        ("profiles/slurm/requirements.lock", "test-slurm", "rm -rf .venv/cluster-plugins\n"),
        ("pyproject.toml", "demo", "--editable ."),
    ],
)
def test_a_changed_lock_rebuilds_only_its_environment(checkout, changed, target, expected_command):
    assert "install" not in dry_run(checkout, target)
    with open(checkout / changed, "a", encoding="utf-8") as file:
        file.write("# a change\n")
    commands = dry_run(checkout, target)
    assert expected_command in commands
    rebuilds_main_environment = changed in ("requirements.lock", "requirements-uv.lock")
    assert ("venv --clear .venv\n" in commands) is rebuilds_main_environment
