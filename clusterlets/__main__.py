"""The command line. It runs a command for users or a step of the workflow, and imports only what this command or step needs.

The options of a step are the parameters of its function. Their help texts are in the docstring of that function or of
:mod:`clusterlets.steps`.
"""

import argparse
import errno
import importlib
import inspect
import io
import os
import re
import sys
import time
from collections.abc import Callable

# One thread, because results must not depend on the number of cores. Numeric libraries read this when they are loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"

try:
    from clusterlets.errors import ClusterletsError, did_you_mean
except ImportError as error:  # see clusterlets/installation.py
    sys.exit(f"clusterlets: {error}")
from clusterlets import __version__, steps  # noqa: E402
from clusterlets.extras import optional  # noqa: E402
from clusterlets.steps.options import STEPS  # noqa: E402

_START_TIME = time.perf_counter()

# Errors of the operating system that mean that a file cannot be written.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
# The extra that installs what a command needs. Other commands and steps need "workflow".
_EXTRAS = dict.fromkeys(("cluster", "assign", "tune", "audit", "repair"), "tables")
# Imported by name: an import statement would add the commands to the fingerprints of all steps.
_COMMANDS_PACKAGE = "clusterlets.commands"


def main(arguments: list[str] | None = None) -> int:
    """Run a command or a step, and return its exit status. A step also prints the time and memory that it took."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may have characters that the locale lacks
    name, *options = arguments or ["--help"]
    status = _run(name, options)
    if name in STEPS:
        from clusterlets.provenance import accounts

        # the last line of the job's log
        print(accounts.format_account(name, time.perf_counter() - _START_TIME), file=sys.stderr)
    return status


def _run(name: str, options: list[str]) -> int:
    try:
        with optional(_EXTRAS.get(name, "workflow")):
            status = _run_step(name, options) if name in STEPS else _run_command(name, options)
        sys.stdout.flush()  # so that a closed pipe raises here and not when Python ends
        return status
    except ClusterletsError as error:
        print(f"clusterlets {name}: {error}", file=sys.stderr)
        return 1
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        print(f"clusterlets {name}: not enough memory{reason}. Use fewer rows, or another method.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has closed the pipe, as in "clusterlets ... | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None and error.errno not in _UNWRITABLE:  # not about a file
            raise
        print(
            f"clusterlets {name}: {error.filename} cannot be written or read ({error.strerror}). No half-written file was "
            "kept. Fix the cause, and run the same command again.",
            file=sys.stderr,
        )
        return 1


def _run_command(name: str, options: list[str]) -> int:
    commands = importlib.import_module(_COMMANDS_PACKAGE)
    if name in commands.PURPOSES:
        return importlib.import_module(f"{_COMMANDS_PACKAGE}.{name}").main(options)
    if name in ("-h", "--help", "--version"):
        print(f"clusterlets {__version__}" if name == "--version" else commands.usage(STEPS))
        return 0
    hint = did_you_mean(name, [*commands.PURPOSES, *STEPS])
    print(f"clusterlets: there is no command {name!r}{hint}. `clusterlets --help` lists the commands.", file=sys.stderr)
    return 2


def _run_step(name: str, options: list[str]) -> int:
    from clusterlets.grid.processes import adopt_orphans, end_with_run

    end_with_run()
    adopt_orphans()
    from clusterlets.provenance.libraries import require_locked

    module, function = STEPS[name].split(":")
    with require_locked():
        step = getattr(importlib.import_module(f"clusterlets.steps.{module}"), function)
    with require_locked():  # again, because a step may import more libraries when it runs
        step(**vars(_parser(name, step).parse_args(options)))
    return 0


def _parser(name: str, step: Callable) -> argparse.ArgumentParser:
    docstring = f"{inspect.getdoc(step)}\n\n{steps.__doc__}"
    parser = argparse.ArgumentParser(f"clusterlets {name}", description=docstring.split("\n\n")[0])
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
    _status = main()
    if STEPS.keys() & set(sys.argv[1:2]):  # exit at once, because unloading Numba takes as long as loading it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status)
    sys.exit(_status)
