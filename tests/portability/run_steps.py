"""Run jobs of the workflow one after another in this process: run_steps.py PLAN FACTS [--threads N]

PLAN is a JSON list of command lines, each without ``clusterlets`` and with paths relative to the working directory. At the end,
the file FACTS records the packages that each step was the first to load, and the libraries and processor features in use.
Importing a third-party library at the top of this module would falsify this record.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from clusterlets.benchmark.steps.__main__ import main  # this import limits numeric libraries to one thread

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run(plan):
    """Run the steps in order. Returns the packages that each kind of step was the first to load."""
    packages_by_step = {}
    for command in plan:
        modules_before = set(sys.modules)
        if main(command) != 0:
            sys.exit(f"this step failed: {' '.join(command)}")
        packages = {name.split(".")[0] for name in set(sys.modules) - modules_before}
        packages_by_step.setdefault(command[0], set()).update(packages)
    return {step: sorted(packages) for step, packages in packages_by_step.items()}


def facts(packages_by_step):
    """Facts about this process, which show a test whether the requested settings took effect."""
    from numba.core import config
    from numpy._core._multiarray_umath import __cpu_features__
    from threadpoolctl import threadpool_info

    return {
        "machine": platform.machine(),
        "loaded": packages_by_step,
        "blas": [{key: pool.get(key) for key in ("architecture", "num_threads")} for pool in threadpool_info()],
        "numpy": sorted(feature for feature, is_enabled in __cpu_features__.items() if is_enabled),
        "numba": config.CPU_NAME,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=Path)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    if arguments.threads:
        os.environ |= dict.fromkeys(THREAD_VARIABLES, str(arguments.threads))
    arguments.facts.write_text(json.dumps(facts(run(json.loads(arguments.plan.read_text())))))
