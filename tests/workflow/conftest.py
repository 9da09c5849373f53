"""Runs of the real workflow, each in a separate folder."""

import csv
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from clusterlets.benchmark.provenance.manifest import PAGE, without_provenance

ROOT = Path(__file__).resolve().parents[2]
DEMO = Path("workflow/configs/demo.yaml")

TINY = {
    "results": "results/tiny",
    "datasets": ["iris", "breast_cancer"],
    "k": [2, 3],
    "hops": [2],
    "omega": [0.5],
    "methods": ["C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"],
    "sample_size": 300,
    "seeds": {"count": 2, "batch": 2},
}


def accept_ctrl_c():
    """Let a child process react to Ctrl-C, which it would ignore if a shell ran these tests in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Run:
    """How a run of the workflow ended, and what it printed."""

    status: int
    output: str


class Workflow:
    """The workflow of this checkout, or of a copy of it, run in a different working directory."""

    def __init__(self, folder: Path, root: Path = ROOT):
        self.folder = folder
        self.root = root

    def copy(self, folder: Path, root: Path = ROOT) -> "Workflow":
        """Copy the run, finished or not, to a different folder. Later runs there use the checkout in ``root``."""
        shutil.copytree(self.folder, folder, copy_function=shutil.copy2, symlinks=True, dirs_exist_ok=True)
        return Workflow(folder, root)

    def run(self, *arguments: str, config: dict | None = None, environment: dict | None = None) -> Run:
        """Run Snakemake on the tiny grid. ``config`` adds settings, and ``environment`` adds variables."""
        with self.start(*arguments, config=config, environment=environment) as process:
            output, _ = process.communicate()
        return Run(process.returncode, output)

    def start(
        self, *arguments: str, config: dict | None = None, environment: dict | None = None, own_group: bool = False
    ) -> subprocess.Popen:
        """Start Snakemake as ``run`` does. With ``own_group``, a signal can interrupt it with its jobs, as Ctrl-C does."""
        settings = self.folder / "settings.yaml"
        settings.write_text(yaml.safe_dump(TINY | (config or {})))
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(self.root / "Snakefile"), "--cores", "2"]
        return subprocess.Popen(
            # --configfile comes last, because it would read targets after it as file names.
            [*command, *arguments, "--configfile", str(settings)],
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=own_group,
            preexec_fn=accept_ctrl_c,
        )

    def command(self, *arguments: str) -> Run:
        """Run a command of clusterlets in the working directory."""
        return self.execute([sys.executable, "-P", "-m", "clusterlets", *arguments])

    def snakemake(self, *arguments: str) -> Run:
        """Run Snakemake with these arguments alone in the working directory."""
        return self.execute([sys.executable, "-m", "snakemake", "--snakefile", str(self.root / "Snakefile"), *arguments])

    def execute(self, command: list[str]) -> Run:
        """Run any command in the working directory, with the programs and the package of this environment."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(self.root)}
        process = subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return Run(process.returncode, process.stdout)

    def rows(self, table: str) -> list[dict[str, str]]:
        """The rows of a table of the results."""
        with open(self.folder / "results" / "tiny" / table, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def results(self) -> dict[str, bytes]:
        """Content of every result by path. Logs, accounts and the provenance in pages are left out."""
        top = self.folder / "results" / "tiny"
        excluded = {"logs", "accounts"}
        files = (path for path in top.rglob("*") if path.is_file() and path.relative_to(top).parts[0] not in excluded)
        contents = {path.relative_to(top).as_posix(): path.read_bytes() for path in files}
        if PAGE in contents:
            contents[PAGE] = without_provenance(contents[PAGE])
        return contents


@pytest.fixture(scope="session")
def workflow_in():
    """A function that gives the workflow in any folder: ``workflow_in(folder)``, or with a different checkout as ``root``."""
    return Workflow


@pytest.fixture
def workflow(tmp_path):
    """The workflow in an empty working directory."""
    return Workflow(tmp_path)


def made_once(tmp_path_factory, worker_id, name, run):
    """A copy of the finished run in the folder ``name``. One of xdist's workers makes it for all, by ``run``."""
    worker_folder = tmp_path_factory.getbasetemp()
    workflow = Workflow((worker_folder if worker_id == "master" else worker_folder.parent) / name)
    workflow.folder.mkdir(exist_ok=True)
    with open(workflow.folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(workflow.folder.glob("results/*/manifest.json")):
            made = run(workflow)
            assert made.status == 0, made.output
    return workflow.copy(tmp_path_factory.mktemp(name))


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """A finished run of the tiny grid on two cores. Tests must not change it."""
    return made_once(tmp_path_factory, worker_id, "tiny-grid", Workflow.run)


@pytest.fixture(scope="module")
def demo(tmp_path_factory, worker_id):
    """The finished demo, and a copy of its configuration. The tests of a module may change both."""

    def run(workflow):
        (workflow.folder / DEMO.parent).mkdir(parents=True)
        shutil.copy(ROOT / DEMO, workflow.folder / DEMO)
        return workflow.snakemake("--cores", "2", "--configfile", str(DEMO))

    return made_once(tmp_path_factory, worker_id, "demo", run)
