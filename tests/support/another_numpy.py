"""A copy of this environment's numpy that claims another version, for PYTHONPATH."""

from pathlib import Path

import numpy as np


def another_numpy(folder: Path, version: str) -> Path:
    """Make the copy below a folder, and return the copy's own folder."""
    installed, copy = Path(np.__file__).parent, folder / "numpy"
    copy.mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("version.py", "__pycache__"):
            (copy / path.name).symlink_to(path)
    text = (installed / "version.py").read_text(encoding="utf-8")
    (copy / "version.py").write_text(text.replace(f'"{np.__version__}"', f'"{version}"'), encoding="utf-8")
    return copy
