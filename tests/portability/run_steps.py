"""Runs steps of the workflow in this one process, as their jobs would: run_steps.py PLAN FACTS [--threads N] [--without-blas]

PLAN is a JSON list of command lines (without ``clusterlets``), relative to the working directory. FACTS is written at the end:
which packages each step was the first to load, and what computed. Only the standard library is imported before the steps run.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from clusterlets.__main__ import main  # which asks for one numeric thread

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run(plan):
    """Run the steps in order; the packages that each kind of step was the first to load."""
    loaded = {}
    for command in plan:
        before = set(sys.modules)
        if main(command) != 0:
            sys.exit(f"this step failed: clusterlets {' '.join(command)}")
        packages = {name.split(".")[0] for name in set(sys.modules) - before}
        loaded.setdefault(command[0], set()).update(packages)
    return {step: sorted(packages) for step, packages in loaded.items()}


def facts(loaded):
    """What a test needs to know of this process: was it the environment that was asked for?"""
    from numba.core import config
    from numpy._core._multiarray_umath import __cpu_features__
    from threadpoolctl import threadpool_info

    return {
        "machine": platform.machine(),
        "loaded": loaded,
        "blas": [{key: pool.get(key) for key in ("architecture", "num_threads")} for pool in threadpool_info()],
        "numpy": sorted(feature for feature, used in __cpu_features__.items() if used),
        "numba": config.CPU_NAME,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=Path)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--without-blas", action="store_true")
    arguments = parser.parse_args()
    if arguments.threads:
        os.environ |= dict.fromkeys(THREADS, str(arguments.threads))
    if arguments.without_blas:
        import without_blas

        without_blas.forbid()
    arguments.facts.write_text(json.dumps(facts(run(json.loads(arguments.plan.read_text())))))
