"""This environment's numpy under another version, for PYTHONPATH."""

from pathlib import Path

import numpy as np


def another_numpy(folder: Path, version: str) -> Path:
    """Make it below a folder, and return its own."""
    installed, other = Path(np.__file__).parent, folder / "numpy"
    other.mkdir(parents=True)
    for path in installed.iterdir():
        if path.name not in ("version.py", "__pycache__"):
            (other / path.name).symlink_to(path)
    text = (installed / "version.py").read_text(encoding="utf-8")
    (other / "version.py").write_text(text.replace(f'"{np.__version__}"', f'"{version}"'), encoding="utf-8")
    return other
