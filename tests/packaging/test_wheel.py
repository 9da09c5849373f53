"""The wheel in an environment of its own: what it installs, what works with that alone, and what it says about the rest.

Wheels come from the package index; without one the tests are skipped, unless CLUSTERLETS_REQUIRE_INDEX=1 says that this is a
failure.
"""

import json
import os
import re
import subprocess
import sys
import venv
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

import clusterlets

ROOT = Path(__file__).resolve().parents[2]
OWN_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
# Bytecode is compiled only for what a test imports.
INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary", ":all:")


def run(*command, **settings):
    settings = {"cwd": settings.pop("cwd", None), "env": OWN_ENVIRONMENT | settings.pop("env", {})}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, **settings)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy of the files that git lists, so that no earlier build gets into it, and none is left behind."""
    folder = tmp_path_factory.mktemp("wheel")
    pytest.importorskip("setuptools", reason="the wheel is built by setuptools, which is not installed")
    source = folder / "source"
    for name in run("git", "ls-files", "-coz", "--exclude-standard", cwd=ROOT).stdout.split("\0"):
        if name.startswith(("clusterlets/",)) or name in ("pyproject.toml", "README.md", "LICENSE"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                (source / name).write_bytes((ROOT / name).read_bytes())
    if not source.is_dir():
        pytest.skip("this is not a git checkout, so the files of the wheel are unknown")
    process = run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, source),
        env={"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert process.returncode == 0, process.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """A Python with the wheel and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    process = run(python, *INSTALL, wheel)
    if process.returncode:
        reason = process.stderr.strip().splitlines()[-1:]
        if os.environ.get("CLUSTERLETS_REQUIRE_INDEX") == "1":
            pytest.fail(f"the wheel cannot be installed: {reason}")
        pytest.skip(f"no package index that has the wheel's requirements: {reason}")
    return python


def requirements(python):
    code = "from importlib.metadata import requires; print(*requires('clusterlets-benchmark'), sep='\\n')"
    return run(python, "-c", code).stdout.splitlines()


def metadata(wheel):
    with ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(content.read(name).decode()), content.namelist()


def test_the_wheel_says_what_it_is_and_holds_what_it_reads(wheel):
    fields, names = metadata(wheel)
    version = run(sys.executable, "-c", "import clusterlets; print(clusterlets.__version__)", cwd=ROOT).stdout.strip()
    assert fields["Name"] == "clusterlets-benchmark" and fields["Version"] == version and fields["License-Expression"] == "MIT"
    assert set(fields.get_all("Provides-Extra")) == {"tables", "data", "plots", "tune", "workflow", "archive", "all", "dev"}
    assert "Intended Audience :: Science/Research" in fields.get_all("Classifier")
    urls = dict(line.split(", ") for line in fields.get_all("Project-URL"))
    cited = re.search(r'^repository-code: "(.*)"$', (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(urls) >= {"Documentation", "Changelog", "Issues"} and cited and urls["Repository"] == cited[1]
    package_files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "clusterlets").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts
    }
    assert package_files <= set(names)


def test_the_library_brings_what_it_needs_and_no_more(bare):
    packages = json.loads(run(bare, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check").stdout)
    names = {entry["name"].lower().replace("_", "-") for entry in packages}
    needed, optional = (
        {re.split(r"[\[><=;]", line)[0] for line in requirements(bare) if ("extra ==" in line) == is_optional}
        for is_optional in (False, True)
    )
    assert needed == {"numba", "numpy", "scikit-learn", "scipy", "threadpoolctl"} <= names
    assert len(optional) > 10 and names & optional == {"clusterlets-benchmark"}  # some extras require others of its extras


_USE = """
import clusterlets
import numpy as np
from clusterlets import (
    FRAC, ClusterletClustering, FairFlow, MethodClustering, ScaffTree, cluster_composition, fairness_report,
)
rng = np.random.default_rng(0)
X, sex = rng.normal(size=(60, 2)), np.array(["f", "m"] * 30)
fitted = [
    FRAC(3, random_state=0), FairFlow(3, random_state=0), ScaffTree(3, random_state=0), MethodClustering("fairlets", 3),
    ClusterletClustering(3, matcher="G-B", random_state=0), ClusterletClustering(3, matcher="C", sample_size=500),
]
for estimator in fitted:
    for groups in (sex, sex.tolist(), np.column_stack([sex, sex])):
        estimator.fit(X, sensitive_features=groups)
    report = fairness_report(X.tolist(), estimator.memberships_, sex.tolist())
    assert report["price_of_fairness"] > 0.5 and 0 <= report["deviation_max"] <= 1
messages = []
for action in (
    lambda: report.clusters,
    lambda: cluster_composition(estimator.labels_, sex),
    lambda: clusterlets.plot_composition(estimator.labels_, sex),
):
    try:
        action()
    except ImportError as error:
        messages.append(str(error))
print("\\n".join(messages))
"""


def test_the_estimators_work_with_arrays_and_lists_alone(bare, tmp_path):
    process = run(bare, "-W", "error", "-c", _USE, cwd=tmp_path, env={"NUMBA_CACHE_DIR": str(tmp_path)})
    assert process.returncode == 0, process.stderr
    first, second, third = process.stdout.splitlines()
    assert "pandas" in first and first == second and first.endswith("'.[tables]'` in a checkout of the project")
    assert "matplotlib" in third and third.endswith("'.[plots]'` in a checkout of the project")


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("cluster", "people.csv", "--sensitive", "sex"), "tables"),
        (("tune", "people.csv", "--sensitive", "sex"), "tune"),
        *(((command,), "workflow") for command in ("export", "datasets", "compare", "analyse", "write-report")),
    ],
)
def test_a_command_names_the_extra_that_it_needs_in_one_line(bare, tmp_path, command, extra):
    process = run(bare, "-m", "clusterlets", *command, cwd=tmp_path)
    lines = [line for line in process.stderr.splitlines() if not line.startswith("cost: ")]
    assert process.returncode == 1 and lines[0].startswith(f"clusterlets {command[0]}: this needs "), process.stderr
    assert lines[0].endswith(f"'.[{extra}]'` in a checkout of the project") and "Traceback" not in process.stderr


def test_the_version_and_the_commands_need_nothing_else(bare, tmp_path):
    program = bare.with_name("clusterlets")
    version = run(program, "--version", cwd=tmp_path)
    assert version.returncode == 0 and version.stdout == f"clusterlets {clusterlets.__version__}\n" and version.stderr == ""
    assert "cluster " in run(program, "--help", cwd=tmp_path).stdout


def test_a_table_is_clustered_with_the_extra_for_tables(bare, tmp_path):
    """Installed outside the bare environment, so that the other tests stay what they are."""
    extra = [line.split(";")[0].strip() for line in requirements(bare) if line.endswith('extra == "tables"')]
    assert len(extra) == 2
    # pyarrow is large, and only a Parquet file needs it; what else pandas needs is numpy, which is there.
    needed = [*(name for name in extra if name.startswith("pandas")), "python-dateutil", "pytz", "six", "tzdata"]
    target = tmp_path / "tables"
    installed = run(bare, *INSTALL, "--no-deps", "--target", target, *needed)
    if installed.returncode:
        pytest.skip(f"the package index does not have them: {installed.stderr.strip().splitlines()[-1:]}")
    rows = "\n".join(f"{age},{'fm'[age % 2]}" for age in range(20, 60))
    (tmp_path / "people.csv").write_text(f"age,sex\n{rows}\n")
    fit = ("cluster", "people.csv", "--sensitive", "sex", "-k", "3", "-o", "labels.csv")
    process = run(bare, "-m", "clusterlets", *fit, cwd=tmp_path, env={"PYTHONPATH": str(target)})
    assert process.returncode == 0 and "price of fairness" in process.stdout, process.stderr
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 41
