"""Run a step of the workflow: ``python -m clusterlets.benchmark.steps NAME --option=value ...``

The options of a step are the parameters of its function. Their help texts are in the docstring of that function or of
:mod:`clusterlets.benchmark.steps`.
"""

import argparse
import importlib
import inspect
import os
import re
import sys
import time
from collections.abc import Callable

from clusterlets.__main__ import run  # first: it sets the number of threads
from clusterlets.benchmark import steps
from clusterlets.benchmark.provenance import accounts
from clusterlets.benchmark.provenance.libraries import require_locked
from clusterlets.benchmark.steps.options import STEPS
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
    if name not in STEPS:
        raise ClusterletsError(f"there is no step {name!r}{did_you_mean(name, STEPS)}. The steps are {', '.join(STEPS)}.")
    end_with_run()
    adopt_orphans()
    module = name.replace("-", "_")
    with require_locked():
        step = getattr(importlib.import_module(f"{steps.__name__}.{module}"), module)
    with require_locked():  # again, because a step may import more libraries when it runs
        step(**vars(_parser(name, step).parse_args(options)))
    from clusterlets.storage import WRITTEN  # imported late, because it loads NumPy, whose version must be checked first

    accounts.log_files(WRITTEN)
    return 0


def _parser(name: str, step: Callable) -> argparse.ArgumentParser:
    docstring = f"{inspect.getdoc(step)}\n\n{steps.__doc__}"
    parser = argparse.ArgumentParser(f"python -m {steps.__name__} {name}", description=docstring.split("\n\n")[0])
    for parameter in inspect.signature(step).parameters.values():
        help_line = re.search(rf"^{parameter.name}: (.*)$", docstring, re.MULTILINE)
        settings: dict = {"dest": parameter.name, "help": help_line[1] if help_line else None}
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
