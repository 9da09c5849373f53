"""Small disks for tests of full or read-only disks. Only root can mount them."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def disk(folder, options):
    """Mount a disk in memory at a folder, with ``options`` such as "size=128k", and unmount it at the end.

    If this is impossible, skip the test.
    """
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
    """Change the options of a mounted disk: its size, or whether it is read-only ("ro") or writable ("rw")."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
