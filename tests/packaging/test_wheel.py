"""The wheel in a new environment: what it installs, what works without extras, and which extra each message names.

The required packages come from the package index. Without an index, the tests that install the wheel are skipped; with
CLUSTERLETS_REQUIRE_INDEX=1 they fail.
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
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
# --no-compile saves time: Python then compiles only the modules that a test imports.
INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary", ":all:")


def run(*command, cwd=None, variables=()):
    """Run a command with additional environment variables."""
    return subprocess.run([*map(str, command)], cwd=cwd, env={**ENVIRONMENT, **dict(variables)}, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of the files that git lists, so that no earlier build gets into it."""
    folder = tmp_path_factory.mktemp("wheel")
    pytest.importorskip("setuptools", reason="the wheel is built by setuptools, which is not installed")
    source = folder / "source"
    for name in run("git", "ls-files", "-coz", "--exclude-standard", cwd=ROOT).stdout.split("\0"):
        if name.startswith("clusterlets/") or name in ("pyproject.toml", "README.md", "LICENSE"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                (source / name).write_bytes((ROOT / name).read_bytes())
    if not source.is_dir():
        pytest.skip("this is not a git checkout, so the files of the wheel are unknown")
    process = run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, source),
        variables={"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert process.returncode == 0, process.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def bare_python(wheel, tmp_path_factory):
    """The Python of an environment with only the wheel and the packages that it requires."""
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


def declared_requirements(python):
    code = "from importlib.metadata import requires; print(*requires('clusterlets-benchmark'), sep='\\n')"
    return run(python, "-c", code).stdout.splitlines()


def read_metadata_and_file_names(wheel):
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode()), archive.namelist()


def test_the_wheel_has_its_metadata_and_every_file_of_the_library(wheel):
    fields, names = read_metadata_and_file_names(wheel)
    version = run(sys.executable, "-c", "import clusterlets; print(clusterlets.__version__)", cwd=ROOT).stdout.strip()
    assert fields["Name"] == "clusterlets-benchmark" and fields["Version"] == version and fields["License-Expression"] == "MIT"
    assert set(fields.get_all("Provides-Extra")) == {"tables", "data", "plots", "workflow", "all", "dev"}
    assert "Intended Audience :: Science/Research" in fields.get_all("Classifier")
    urls = dict(line.split(", ") for line in fields.get_all("Project-URL"))
    cited_url = re.search(r'^repository-code: "(.*)"$', (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(urls) >= {"Documentation", "Changelog", "Issues"} and cited_url and urls["Repository"] == cited_url[1]
    package_files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "clusterlets").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts and "benchmark" not in path.parts
    }
    assert package_files <= set(names) and not [name for name in names if name.startswith("clusterlets/benchmark/")]


def test_the_wheel_installs_the_packages_it_requires_and_no_extra(bare_python):
    packages = json.loads(run(bare_python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check").stdout)
    installed_names = {entry["name"].lower().replace("_", "-") for entry in packages}
    names = {requirement: re.split(r"[\[><=;]", requirement)[0] for requirement in declared_requirements(bare_python)}
    required = {name for requirement, name in names.items() if "extra ==" not in requirement}
    optional = {name for requirement, name in names.items() if "extra ==" in requirement}
    assert required == {"numba", "numpy", "scikit-learn", "scipy", "threadpoolctl"} <= installed_names
    assert len(optional) > 10 and installed_names & optional == {"clusterlets-benchmark"}  # an extra may require other extras


_USE_ESTIMATORS = """
import clusterlets
import numpy as np
from clusterlets import (
    FRAC, ClusterletClustering, FairFlow, MethodClustering, ScaffTree, cluster_composition, fairness_report,
)
rng = np.random.default_rng(0)
X, sex = rng.normal(size=(60, 2)), np.array(["f", "m"] * 30)
estimators = [
    FRAC(3, random_state=0), FairFlow(3, random_state=0), ScaffTree(3, random_state=0), MethodClustering("fairlets", 3),
    ClusterletClustering(3, matcher="G-B", random_state=0), ClusterletClustering(3, matcher="C", sample_size=500),
]
for estimator in estimators:
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


def test_the_estimators_work_without_pandas_and_matplotlib(bare_python, tmp_path):
    # Kernels run as plain Python, because to compile them takes ten times as long. The last test compiles some.
    process = run(bare_python, "-W", "error", "-c", _USE_ESTIMATORS, cwd=tmp_path, variables={"NUMBA_DISABLE_JIT": "1"})
    assert process.returncode == 0, process.stderr
    clusters, composition, plot = process.stdout.splitlines()
    assert "pandas" in clusters and clusters == composition and clusters.endswith("'.[tables]'` in a checkout of the project")
    assert "matplotlib" in plot and plot.endswith("'.[plots]'` in a checkout of the project")


@pytest.mark.parametrize("command", ["cluster", "tune"])
def test_a_command_names_the_extra_that_it_needs_in_one_line(bare_python, tmp_path, command):
    process = run(bare_python, "-m", "clusterlets", command, "people.csv", "--sensitive", "sex", cwd=tmp_path)
    first_line = process.stderr.partition("\n")[0]
    assert process.returncode == 1 and first_line.startswith(f"clusterlets {command}: this needs "), process.stderr
    assert first_line.endswith("'.[tables]'` in a checkout of the project") and "Traceback" not in process.stderr


@pytest.mark.parametrize("command", ["rank", "verify", "compare", "archive", "datasets"])
def test_a_command_of_the_benchmark_says_that_it_needs_a_clone(bare_python, tmp_path, command):
    process = run(bare_python, "-m", "clusterlets", command, "--help", cwd=tmp_path)
    assert process.returncode == 1 and process.stderr.count("\n") == 1, process.stderr
    assert "Clone the repository" in process.stderr and f"`python -m clusterlets {command}` there" in process.stderr


def test_version_and_help_work_without_extras(bare_python, tmp_path):
    program = bare_python.with_name("clusterlets")
    version = run(program, "--version", cwd=tmp_path)
    assert version.returncode == 0 and version.stdout == f"clusterlets {clusterlets.__version__}\n" and version.stderr == ""
    assert "cluster " in run(program, "--help", cwd=tmp_path).stdout


def test_a_table_is_clustered_with_the_extra_for_tables(bare_python, tmp_path):
    """The extra is installed in a separate folder, so that the other tests still run without it."""
    extra = [line.split(";")[0].strip() for line in declared_requirements(bare_python) if line.endswith('extra == "tables"')]
    assert sorted(extra) == ["clusterlets-benchmark[plots]", "jinja2>=3.1", "openpyxl>=3.1", "pandas>=2.2"]
    # Without what only pictures and pages need, and without numpy, which is already installed.
    packages = [*(name for name in extra if name.startswith("pandas")), "python-dateutil", "pytz", "six", "tzdata"]
    target = tmp_path / "tables"
    installation = run(bare_python, *INSTALL, "--no-deps", "--target", target, *packages)
    if installation.returncode:
        pytest.skip(f"the package index does not have the extra's packages: {installation.stderr.strip().splitlines()[-1:]}")
    rows = "\n".join(f"{age},{'fm'[age % 2]}" for age in range(20, 60))
    (tmp_path / "people.csv").write_text(f"age,sex\n{rows}\n")
    arguments = ("cluster", "people.csv", "--sensitive", "sex", "-k", "3", "-o", "labels.csv")
    process = run(bare_python, "-m", "clusterlets", *arguments, cwd=tmp_path, variables={"PYTHONPATH": str(target)})
    assert process.returncode == 0 and "price of fairness" in process.stdout, process.stderr
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 41
