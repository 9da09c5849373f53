"""The command line: it imports only what the command needs. :func:`run` is also how a step of the workflow runs."""

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator

# One thread, because results must not depend on the number of cores. Numeric libraries read this when they are loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"

try:
    from clusterlets.errors import ClusterletsError, did_you_mean
except ImportError as error:  # see clusterlets/installation.py
    sys.exit(f"clusterlets: {error}")
from clusterlets import __version__  # noqa: E402
from clusterlets.extras import optional  # noqa: E402

# Errors of the operating system that mean that a file cannot be written.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
# The extra that installs what a command needs. Other commands need "workflow".
_EXTRAS = dict.fromkeys(("cluster", "assign", "tune", "audit", "repair"), "tables")


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    name, *options = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    return run(name, lambda: _run_command(name, options), _EXTRAS.get(name, "workflow"))


def run(name: str, action: Callable[[], int], extra: str) -> int:
    """Call ``action``, whose result is the exit status, and show an error as people need it.

    ``extra`` is the extra of the distribution that installs what the action imports.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may have characters that the locale lacks
    try:
        with optional(extra):
            status = action()
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
    commands = importlib.import_module("clusterlets.commands")  # by name: a command is no part of a step's fingerprint
    if name in commands.PURPOSES:
        with _printing_last() if name in _EXTRAS else contextlib.nullcontext():
            return importlib.import_module(f"{commands.package_of(name)}.{name}").main(options)
    if name in ("-h", "--help", "--version"):
        print(f"clusterlets {__version__}" if name == "--version" else commands.usage())
        return 0
    hint = did_you_mean(name, commands.PURPOSES)
    print(f"clusterlets: there is no command {name!r}{hint}. `clusterlets --help` lists the commands.", file=sys.stderr)
    return 2


@contextlib.contextmanager
def _printing_last() -> Iterator[None]:
    """Print nothing before the end, so that a reader who closes the pipe, as ``head`` does, prevents no file."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            yield
    finally:
        sys.stdout.write(output.getvalue())


if __name__ == "__main__":
    sys.exit(main())
