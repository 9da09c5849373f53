"""Run Python for aarch64 on an x86-64 machine, emulated in user mode, without a second machine, a container or root.

    .venv/bin/python tests/arm/emulation.py

This command fills the folder .arm64 of the checkout (850 MB, in a minute or two). The folder gets QEMU, Debian's Python for
arm64 with its libraries, and the locked wheels that the steps of a grid import. A second call changes nothing unless the lock
or this file has changed. With .arm64/bin first on PATH, a native Snakemake runs every job emulated.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

THIS_FILE = Path(__file__).resolve()
ROOT = THIS_FILE.parents[2]
LOCK = ROOT / "requirements.lock"
FOLDER = ROOT / ".arm64"
#: Debian's packages by architecture: arm64 for the emulated Python, amd64 for the emulator.
PACKAGES = {"arm64": ["python3", "libstdc++6"], "amd64": ["qemu-user-static"]}
#: The libraries that the steps of a grid import. Their dependencies are installed too.
DISTRIBUTIONS = (
    *("numpy", "numba", "scipy", "pandas", "threadpoolctl", "pyyaml", "jsonschema", "requests"),
    *("scikit-learn", "scikit-posthocs", "statsmodels"),
)
#: Platform tags of the wheels that Debian 12 and newer can load.
PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in (17, 24, 26, 27, 28, 31, 34, 35)] + ["manylinux2014_aarch64"]

WRAPPER = """\
#!/bin/sh
# Python for aarch64, emulated. QEMU_CPU names a processor, such as cortex-a72. By default, QEMU emulates every feature it can.
here=$(dirname "$(dirname "$(readlink -f "$0")")")
export NUMBA_CACHE_DIR="${{NUMBA_CACHE_DIR:-$here/numba}}"
exec "$here/bin/qemu" -L "$here/root" "$here/root/usr/bin/{name}" "$@"
"""


class NotRun(Exception):
    """Nothing is emulated here; the message says why."""


def set_up_python():
    """Set up the emulated interpreter if it is missing or out of date, and return its path. Raises NotRun if this fails."""
    check_possible()
    stamp = FOLDER / "made_from"
    digest = hashlib.sha256(LOCK.read_bytes() + THIS_FILE.read_bytes()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == digest):
        print(f"Setting up {FOLDER}: once, a minute or two", flush=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        _set_up(FOLDER)
        stamp.write_text(digest)
    return FOLDER / "bin" / "python"


def check_possible():
    """Raise NotRun if this machine cannot emulate aarch64, or is aarch64 itself."""
    if platform.machine() == "aarch64":
        raise NotRun("this machine is itself aarch64, so `make test` runs the grid on it")
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotRun(f"the emulation is made for Linux on x86-64, and this is {sys.platform} on {platform.machine()}")
    missing = [program for program in ("apt-get", "dpkg-deb") if not shutil.which(program)]
    if missing:
        raise NotRun(f"{' and '.join(missing)} missing: needed to get Debian's libraries for arm64")


def _set_up(folder):
    for architecture, packages in PACKAGES.items():
        for archive in _download(folder / "apt" / architecture, architecture, packages):
            _run("dpkg-deb", "--extract", archive, folder / architecture)
    shutil.rmtree(folder / "apt")
    os.rename(folder / "arm64", folder / "root")
    (folder / "bin").mkdir()
    shutil.move(folder / "amd64" / "usr" / "bin" / "qemu-aarch64-static", folder / "bin" / "qemu")
    shutil.rmtree(folder / "amd64")
    name = os.readlink(folder / "root" / "usr" / "bin" / "python3")  # such as python3.11
    _install(folder / "root" / "usr" / "lib" / "python3" / "dist-packages", name.removeprefix("python"))
    for link in ("python", "python3"):
        (folder / "bin" / link).write_text(WRAPPER.format(name=name))
        (folder / "bin" / link).chmod(0o755)


def _download(folder, architecture, packages):
    """Download Debian packages and their dependencies, and return the archives. ``folder`` also holds apt's state."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()  # empty: apt assumes that nothing is installed, and downloads every dependency
    options = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "",  # empty: apt does not switch to its own user, who cannot write here
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder,
    }
    settings = [f"--option={name}={value}" for name, value in options.items()]
    _run("apt-get", *settings, "update")
    _run("apt-get", *settings, "--yes", "--no-install-recommends", "--download-only", "install", *packages)
    return sorted((folder / "archives").glob("*.deb"))


def _install(target, version):
    """Install the locked wheels into ``target``, for Debian's Python of this ``version``."""
    lock = LOCK.read_text(encoding="utf-8")
    names = sorted(_with_dependencies(DISTRIBUTIONS))
    pins = [re.search(rf"^{re.escape(name)}==.*(?:\n .*)*\n", lock, re.MULTILINE)[0] for name in names]
    wheel_options = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}"]
    wheel_options += [f"--platform={name}" for name in PLATFORMS]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write("".join(pins))
        requirements.flush()
        pip_install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", target]
        _run(*pip_install, *wheel_options, "--no-deps", "--require-hashes", "--requirement", requirements.name)


def _with_dependencies(names):
    """The distributions and all their dependencies, according to this environment, which has the locked versions."""
    distributions, pending = set(), set(names)
    while pending:
        name = pending.pop()
        distributions.add(name)
        requirements = map(Requirement, metadata.requires(name) or [])
        required = [item for item in requirements if not item.marker or item.marker.evaluate({"extra": ""})]
        pending |= {canonicalize_name(item.name) for item in required} - distributions
    return distributions


def _run(*command):
    process = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if process.returncode != 0:
        last_lines = "\n".join(process.stdout.splitlines()[-5:])
        raise NotRun(f"{Path(command[0]).name} failed, so aarch64 cannot be emulated:\n{last_lines}")


if __name__ == "__main__":
    try:
        print(set_up_python())
    except NotRun as reason:
        sys.exit(f"not set up: {reason}")
