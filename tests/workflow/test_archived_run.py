"""Another user unpacks the archive of a run, verifies it, and repeats it, with the commands of REPEAT.md."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534

METHOD = """
from clusterlets.methods import Method

class Dealt(Method):
    name = "dealt"

    def fit(self, X, groups, n_clusters, random_state):
        return random_state.integers(n_clusters, size=len(X))
"""
# Writes a label for each line below the header of its standard input.
PROGRAM = """
#include <stdio.h>
int main(void) {
    int character, line = 0;
    while ((character = getchar()) != EOF)
        if (character == '\\n') { if (line) printf("%d\\n", line % 2); else puts("cluster"); line++; }
    return 0;
}
"""
CONFIGURATION = {
    "results": "results/own",
    "datasets": [{"name": "people", "path": "own/people.csv", "sensitive": "city"}],
    **{"k": [2], "hops": [1], "omega": [0.5], "sample_size": 300, "seeds": {"count": 2, "batch": 2}},
    "methods": [
        "k-means",
        {"path": "own/dealt.py"},
        {
            "name": "compiled",
            "command": "own/compiled < {table} > {labels}",
            "files": ["own/compiled", "own/compiled.c"],
        },
    ],
}


def git(folder, *arguments):
    identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


# Become nobody. If the interpreter is in root's home, which is closed to others, a namespace of mounts shows nobody the
# interpreter alone.
AS_NOBODY = f"""
case {sys.base_prefix} in /root/*)
    held=$(mktemp -d) && mount --bind {sys.base_prefix} $held && mount -t tmpfs -o mode=755 tmpfs /root &&
        mkdir -p {sys.base_prefix} && mount --bind $held {sys.base_prefix} || exit 1
esac
exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups sh -c "$1"
"""


def in_environment(folder, command, *, as_nobody=False):
    """Run a command line of the shell with this environment's programs and the packages of the checkout in ``folder``."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder), "HOME": str(folder.parent)}
    words = ["unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", command] if as_nobody else ["sh", "-c", command]
    run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"
    return run.stdout


@pytest.fixture
def archive(tmp_path):
    """The archive of a finished run with a table, a Python method and a compiled program of the user's own."""
    checkout = tmp_path / "clone"
    names = subprocess.check_output(["git", "-C", ROOT, "ls-files", "-z"], text=True).split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)
    git(tmp_path, "init", "--quiet", checkout)
    git(checkout, "add", "--all", "--force")
    git(checkout, "commit", "--quiet", "--message", "m")
    (checkout / "own").mkdir()
    rows = [f"{row % 7},{row * row % 11},{'ab'[row % 3 == 0]}" for row in range(60)]
    (checkout / "own/people.csv").write_text("\n".join(["x,y,city", *rows, ""]))
    (checkout / "own/dealt.py").write_text(METHOD)
    (checkout / "own/compiled.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-o", "own/compiled", "own/compiled.c"], cwd=checkout, check=True)
    (checkout / "own.yaml").write_text(yaml.safe_dump(CONFIGURATION))
    in_environment(checkout, "snakemake --cores 2 --configfile own.yaml --config scaling=standard")
    in_environment(checkout, "clusterlets archive --results results/own")
    return checkout / "clusterlets-own.zip"


@pytest.fixture
def home():
    """The home of nobody, outside of pytest's folder, which is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(
    not all(map(shutil.which, ("setpriv", "unshare", "unzip", "gcc"))), reason="needs setpriv, unshare, unzip and gcc"
)
def test_another_user_verifies_and_repeats_an_archived_run(archive, home):
    shutil.copy(archive, home)
    in_environment(home, f"umask 077 && unzip -q {archive.name}", as_nobody=True)
    unpacked = home / archive.stem
    commands = [line.strip() for line in (unpacked / "REPEAT.md").read_text().splitlines() if line.startswith("    ")]
    unpack, set_up, verify, repeat, compare = commands
    assert unpack == "unzip clusterlets-own.zip && cd clusterlets-own" and set_up.startswith("make environment")
    assert (unpacked / "requirements-uv.lock").is_file()
    in_environment(unpacked, verify, as_nobody=True)
    # The tables and figures would take a minute more.
    in_environment(unpacked, f"{repeat} -- results/repeated/runs.csv", as_nobody=True)
    runs = (unpacked / "results/repeated/runs.csv").read_bytes()
    assert runs == (unpacked / "results/own/runs.csv").read_bytes() and runs.count(b"compiled") == 2 and b"failed" not in runs
    assert shlex.split(repeat)[-2:] == ["scaling=standard", "results=results/repeated"]
    assert compare == "clusterlets compare results/own results/repeated"
