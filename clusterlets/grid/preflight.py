"""Check before a run that it can write its files, with messages for users."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from clusterlets.errors import ClusterletsError

_NEARLY_FULL = 100e6  # bytes: many times what a block of labels of a large table needs


def check_paths(checkout: str, module_moves_files: bool) -> None:
    """Raise ClusterletsError if Snakemake would misread the checkout's path, or a module changes the paths of files."""
    if set("{}") & set(checkout):
        raise ClusterletsError(
            f"The checkout is in {checkout}, but Snakemake reads braces in a path as a wildcard. Move it to a folder without "
            "braces."
        )
    if module_moves_files:
        raise ClusterletsError(
            "This workflow does not support prefix: or replace_prefix: in a module, which change the paths of files and not "
            "the parameters that name them. Set results: in the configuration instead (docs/extending.md)."
        )


def check_writable(folder: str | os.PathLike) -> None:
    """Raise ClusterletsError if nothing can be written below a folder, which need not exist yet."""
    existing = _existing(folder)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ClusterletsError(
            f"{existing} cannot be written: it is read-only, or another user's. Nothing was run. Make it writable, work in "
            "another folder (--directory), or name another one under 'results' in the configuration."
        )


def nearly_full(folders: Iterable[str | os.PathLike]) -> list[str]:
    """A warning for each folder whose disk is nearly full."""
    free_bytes = {folder: shutil.disk_usage(_existing(folder)).free for folder in folders}
    return [
        f"The disk of {os.path.abspath(folder)} is all but full: {free / 1e6:.1f} MB are left. If a step failed, free "
        "some space and run the same command again: finished work is kept, and nothing half-written is used.\n"
        for folder, free in free_bytes.items()
        if free < _NEARLY_FULL
    ]


def _existing(folder: str | os.PathLike) -> Path:
    path = Path(folder).absolute()
    return next(ancestor for ancestor in (path, *path.parents) if ancestor.exists())
