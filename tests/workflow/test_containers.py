"""The recipes for Docker and Apptainer use the same Python and copy what the workflow needs. No container is built here."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "containers" / "Dockerfile").read_text(encoding="utf-8")
DEFINITION = (ROOT / "containers" / "clusterlets.def").read_text(encoding="utf-8")


def section(name):
    """The lines of a section of the recipe for Apptainer."""
    (text,) = re.findall(rf"^%{name}\n((?:(?:    .*)?\n)+)", DEFINITION, re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def copied_by_docker():
    """Pairs of a file or folder of the checkout and its path in the image."""
    lines = [line.split()[1:] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")]
    return {(name, f"{target}{name}" if target.endswith("/") else target) for *names, target in lines for name in names}


def test_both_recipes_use_the_python_version_of_the_environments():
    (version,) = re.findall(r"python ==(\S+)", (ROOT / "envs" / "cluster.yaml").read_text(encoding="utf-8"))
    base = f"python:{version}-slim-bookworm"
    assert re.findall(r"^FROM (.+)$", DOCKERFILE, re.MULTILINE) == [base]
    assert DEFINITION.startswith(f"Bootstrap: docker\nFrom: {base}\n")


def test_both_recipes_copy_the_same_files_which_dockerignore_allows():
    assert {tuple(line.split()) for line in section("files")} == copied_by_docker()
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")}
    assert {name for name, _ in copied_by_docker()} == allowed
    assert all((ROOT / name).exists() and target == f"/opt/clusterlets/{name}" for name, target in copied_by_docker())


def test_the_demo_can_be_planned_with_only_the_copied_files(tmp_path):
    for name, _ in copied_by_docker():
        target = tmp_path / "opt" / name
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, target)
    (tmp_path / "work").mkdir()
    configuration = tmp_path / "opt" / "workflow" / "configs" / "demo.yaml"
    command = [sys.executable, "-m", "snakemake", "--snakefile", tmp_path / "opt" / "Snakefile", "--cores", "2", "--dry-run"]
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path / "work")}
    process = subprocess.run(
        [*command, "--configfile", configuration], cwd=tmp_path / "work", env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr[-2000:]
    assert re.search(r"^write_report +1$", process.stdout + process.stderr, re.MULTILINE)
