"""Runs a step of the workflow with the package next to the Snakefile: python -P workflow/step.py STEP [options]

Only the package is imported from the checkout, and -P keeps Python from importing modules of the working folder. So no file in
the checkout or the working folder can replace a module of Python or of a library.
"""

import runpy
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(CHECKOUT))
import clusterlets  # noqa: E402

sys.path.remove(str(CHECKOUT))  # an imported package finds its own modules without this entry

if Path(clusterlets.__file__).resolve().parent != CHECKOUT / "clusterlets":
    sys.exit(
        f"The step would run {clusterlets.__file__}, and not the package in {CHECKOUT} that the workflow was planned with. "
        "A sitecustomize or .pth file makes Python import that package at its start. Remove this file from the environment or "
        "from the folders in PYTHONPATH."
    )

runpy.run_module("clusterlets.benchmark.steps", run_name="__main__")
