"""A copy of this environment's numpy that reports a different version. To use it, put its parent folder on PYTHONPATH."""

from pathlib import Path

import numpy as np


def another_numpy(folder: Path, version: str) -> Path:
    """Make the copy ``folder / "numpy"`` and return its path. All files but version.py are links."""
    installed_folder, copy = Path(np.__file__).parent, folder / "numpy"
    copy.mkdir(parents=True)
    for path in installed_folder.iterdir():
        if path.name not in ("version.py", "__pycache__"):
            (copy / path.name).symlink_to(path)
    version_source = (installed_folder / "version.py").read_text(encoding="utf-8")
    (copy / "version.py").write_text(version_source.replace(f'"{np.__version__}"', f'"{version}"'), encoding="utf-8")
    return copy
