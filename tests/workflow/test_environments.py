"""The environments in envs/ have the versions of the lock, every rule names one, and each has all that its rules need."""

import asyncio
import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from another_numpy import another_numpy
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clusterlets.benchmark.grid.locks import locked_versions
from clusterlets.benchmark.provenance.environment import LIBRARIES
from clusterlets.benchmark.provenance.libraries import MODULES

ROOT = Path(__file__).resolve().parents[2]
FILES = {path.stem: path for path in (ROOT / "envs").glob("*.yaml")}
# Names on conda-forge, by name on the package index, where the two differ.
ON_CONDA = {"matplotlib": "matplotlib-base"}

# Prints, for each rule that runs something, the file of its environment.
PRINT_ENVIRONMENTS = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ResourceSettings

with SnakemakeApi() as api:
    rules = api.workflow(ResourceSettings(cores=1), snakefile=Path(sys.argv[1]))._workflow.rules
    print(json.dumps({rule.name: rule.conda_env for rule in rules if not rule.norun}))
"""


@pytest.fixture(scope="module")
def env_of(tmp_path_factory):
    """The name of the environment of each rule that runs something, or None if the rule names none."""
    command = [sys.executable, "-c", PRINT_ENVIRONMENTS, str(ROOT / "Snakefile")]
    process = subprocess.run(command, cwd=tmp_path_factory.mktemp("environments"), capture_output=True, text=True, check=True)
    return {rule: file and Path(file).stem for rule, file in json.loads(process.stdout).items()}


def pins(file: Path) -> dict[str, str]:
    """The exact versions that a file of ``envs/`` lists, Python included, by names on the package index."""
    names = {conda: index for index, conda in ON_CONDA.items()}
    specs = (spec.split(" ==") for spec in yaml.safe_load(file.read_text())["dependencies"])
    return {names.get(name, name): version for name, version in specs}


def with_dependencies(names: set[str]) -> dict[str, dict[str, str]]:
    """The requirements (version specifiers by name) of each of these distributions and of all their dependencies."""
    requirements, pending = {}, set(names)
    while pending:
        name = pending.pop()
        declared = map(Requirement, metadata.requires(name) or [])
        required = [item for item in declared if not item.marker or item.marker.evaluate({"extra": ""})]
        requirements[name] = {canonicalize_name(item.name): str(item.specifier) for item in required}
        pending |= requirements[name].keys() - requirements.keys()
    return requirements


def test_every_rule_names_its_environment(env_of):
    assert set(env_of.values()) == FILES.keys()


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_the_versions_of_an_environment_are_those_of_the_lock(file):
    versions = pins(file)
    assert {pins(other)["python"] for other in FILES.values()} == {versions.pop("python")}
    assert versions == locked_versions(ROOT / "requirements.lock", versions)


@pytest.fixture(scope="module")
def channel(tmp_path_factory):
    """Index of a local channel: Python, all listed packages, and their dependencies, each also in a newer version."""
    pinned = set().union(*map(pins, FILES.values())) - {"python"}
    python = {pins(file)["python"] for file in FILES.values()}.pop()
    packages = {("python", python): []}
    for name, dependencies in with_dependencies(pinned).items():
        specs = [f"{ON_CONDA.get(dependency, dependency)} {versions}".strip() for dependency, versions in dependencies.items()]
        packages[ON_CONDA.get(name, name), metadata.version(name)] = ["python", *specs]
    index = tmp_path_factory.mktemp("channel") / "repodata.json"
    common = {"build": "0", "build_number": 0, "subdir": "noarch", "md5": 32 * "0", "sha256": 64 * "0", "size": 1}
    records = {}
    for (name, locked), specs in packages.items():
        for version in (locked, f"{locked}.1"):
            records[f"{name}-{version}-0.conda"] = {"name": name, "version": version, "depends": specs, **common}
    index.write_text(json.dumps({"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": records}))
    return index


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_conda_selects_the_locked_version_of_every_library_that_a_job_checks(file, channel):
    """A job refuses every other version, even of a dependency, so the solver must have no choice."""
    rattler = pytest.importorskip("rattler")
    index = rattler.SparseRepoData(rattler.Channel(channel.parent.as_uri()), "noarch", str(channel))
    specs = yaml.safe_load(file.read_text())["dependencies"]
    solution = asyncio.run(rattler.solve_with_sparse_repodata(specs, [index]))
    versions = {record.name.normalized: str(record.version) for record in solution}
    checked = {name: versions[conda] for name in MODULES if (conda := ON_CONDA.get(name, name)) in versions}
    assert checked == locked_versions(ROOT / "requirements.lock", checked)


def test_an_environment_pins_every_library_in_the_fingerprints_of_its_rules(finished, env_of):
    records = [json.loads(path.read_text()) for path in (finished.folder / ".snakemake" / "metadata").iterdir()]
    libraries = defaultdict(set)
    for record in records:
        libraries[record["rule"]].update(re.findall(r"([\w.-]+): \d+\.\d", " ".join(record["params"])))
    assert {"numpy", "numba", "llvmlite"} <= libraries["fit_method"]
    # The parameters of these two rules list the locked versions of all libraries, installed or not.
    assert libraries.pop("account") == libraries.pop("write_manifest") == set(LIBRARIES)
    pinned = {name: pins(file).keys() for name, file in FILES.items()}
    unpinned = {rule: names - pinned[env_of[rule]] for rule, names in libraries.items()}
    assert {rule: names for rule, names in unpinned.items() if names} == {}


def test_a_library_that_differs_from_the_lock_is_said_once_and_recorded(workflow, tmp_path_factory):
    other = another_numpy(tmp_path_factory.mktemp("other"), "2.4.5")
    distribution = other.with_name("numpy-2.4.5.dist-info")
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 2.4.5\n")
    run = workflow.run("results/tiny/prepared/iris.npz", environment={"PYTHONPATH": str(other.parent)})
    assert run.status == 0 and run.output.count("numpy 2.4.5") == 1, run.output
    assert re.search(r"The environment has numpy 2\.4\.5 \(from .*\) instead of ", run.output)
    records = [json.loads(path.read_text()) for path in (workflow.folder / ".snakemake" / "metadata").iterdir()]
    assert any("numpy: 2.4.5" in " ".join(record["params"]) for record in records)


def test_each_job_checks_its_own_environment(workflow, tmp_path_factory):
    """A job may run in a different environment from Snakemake's, so Snakemake cannot check the job's libraries."""
    other = another_numpy(tmp_path_factory.mktemp("other"), "2.4.5")
    start = tmp_path_factory.mktemp("start") / "bash"  # what each job's shell reads first
    start.write_text(f'export PYTHONPATH="{other.parent}:$PYTHONPATH"\n')
    run = workflow.run("results/tiny/prepared/iris.npz", environment={"BASH_ENV": str(start)})
    assert run.status != 0 and "clusterlets fetch-dataset: This job has numpy 2.4.5" in run.output, run.output
    assert workflow.results() == {}
