"""Run a step of the workflow: ``python -m clusterlets.benchmark.steps NAME --option=value ...``

The options of a step are the parameters of its function. ``--help`` shows the docstrings that explain them.
"""

import argparse
import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable

from clusterlets.__main__ import run  # first: it sets the number of threads
from clusterlets.benchmark import steps
from clusterlets.benchmark.provenance import accounts
from clusterlets.benchmark.provenance.libraries import require_planned
from clusterlets.errors import ClusterletsError, did_you_mean
from clusterlets.supervision.processes import adopt_orphans, end_with_run

_START_TIME = time.perf_counter()


def main(arguments: list[str]) -> int:
    """Run a step, print the time and memory that it took, and return its exit status."""
    name, *options = arguments or ["--help"]
    status = run(name, lambda: _run_step(name, options), "workflow")
    # the last line of the job's log
    print(accounts.format_account(name, time.perf_counter() - _START_TIME), file=sys.stderr)
    return status


def _run_step(name: str, options: list[str]) -> int:
    if name not in steps.STEPS:
        meant = did_you_mean(name, steps.STEPS)
        raise ClusterletsError(f"there is no step {name!r}{meant}. The steps are {', '.join(steps.STEPS)}.")
    end_with_run()
    adopt_orphans()
    module = name.replace("-", "_")
    with require_planned():
        step = getattr(importlib.import_module(f"{steps.__name__}.{module}"), module)
    with require_planned():  # again, because a step may import more libraries when it runs
        step(**vars(_parser(name, step).parse_args(options)))
    from clusterlets.storage import WRITTEN  # imported late, because it loads NumPy, whose version must be checked first

    accounts.log_files(WRITTEN)
    return 0


def _parser(name: str, step: Callable) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        f"python -m {steps.__name__} {name}",
        description=inspect.getdoc(step),
        epilog=inspect.getdoc(steps),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for parameter in inspect.signature(step).parameters.values():
        settings: dict = {"dest": parameter.name}
        if parameter.annotation is bool:
            settings["action"] = "store_true"
        else:
            settings["type"] = parameter.annotation if parameter.annotation in (int, float) else str
            settings["required"] = parameter.default is inspect.Parameter.empty
            settings["default"] = None if settings["required"] else parameter.default
        parser.add_argument(f"--{parameter.name.replace('_', '-')}", **settings)
    return parser


if __name__ == "__main__":
    _status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status)  # at once, because unloading Numba takes as long as loading it
