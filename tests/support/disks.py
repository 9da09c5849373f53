"""Small disks, which only root can mount."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def disk(folder, options):
    """A small disk, mounted in a folder; the test is skipped where none can be mounted."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    folder.mkdir(exist_ok=True)
    process = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True)
    if process.returncode:
        pytest.skip(f"no disk can be mounted here: {process.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder, options):
    """Change the size of a disk, or whether it can be written."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
