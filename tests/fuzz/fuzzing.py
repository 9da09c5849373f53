"""What the fuzz tests share: a bounded time, commands run in this process, and what may come of them.

Examples come in batches, each with a seed of its own, until the time is over; so every run begins with the same ones, and
what fails is printed as Hypothesis prints it, made small. Two variables of the environment change that:
CLUSTERLETS_FUZZ_SECONDS (60 by default, of all fuzz tests together) and CLUSTERLETS_FUZZ_SEED (0, the first batch).
"""

import contextlib
import io
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from clusterlets.__main__ import main

SECONDS = float(os.environ.get("CLUSTERLETS_FUZZ_SECONDS", 60))
SEED = int(os.environ.get("CLUSTERLETS_FUZZ_SEED", 0))
#: Seconds after which an example counts as one that never ends.
LIMIT = 30

_BATCH = 20


def fuzz(share: float, check: Callable, examples: st.SearchStrategy) -> None:
    """Call ``check`` with examples for a share of the seconds."""
    end, batch = time.monotonic() + share * SECONDS, 0
    quiet = settings(max_examples=_BATCH, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    while time.monotonic() < end:
        seed(SEED + batch)(quiet(given(examples)(_until(end, check))))()
        batch += 1


def _until(end: float, check: Callable) -> Callable:
    """The check with a limit of time, and none once the time is over; but a failure is made small for as long as it takes."""
    failures = 0

    def limited(example):
        nonlocal failures
        if time.monotonic() > end and not failures:
            return
        try:
            with _limit():
                check(example)
        except UnsatisfiedAssumption:
            raise
        except BaseException:
            failures += 1
            raise

    return limited


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    def never_ends(*_):
        raise AssertionError(f"did not end within {LIMIT} seconds")

    former = signal.signal(signal.SIGALRM, never_ends)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def command(*arguments: str, may_go: str = "") -> Said:
    """Run a command; it must end well, or say what was wrong and leave every file here as it was.

    Only a damaged one ``may_go``: its reader removes it, so that it is made anew.
    """
    before = files_here()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            status = main(list(arguments))
        except SystemExit as end:  # argparse
            status = end.code
    said = Said(status, out.getvalue(), err.getvalue())
    assert said.status in (0, 1, 2) and "Traceback" not in said.err, said
    if status:
        now = files_here()
        written = [name for name in {**before, **now} if before.get(name) != now.get(name) and name != may_go]
        assert not written, f"wrote or removed {written}"
    return said


def is_one_line(said: Said, name: str) -> bool:
    """Whether a refused command said so in one line, behind the usage where the command line itself was wrong."""
    line = said.err.removesuffix("\n").rpartition(f"clusterlets {name}: ")[2]
    usage = said.err.startswith("usage: ") and said.status == 2
    return bool(line) and "\n" not in line and (usage or said.err.startswith(f"clusterlets {name}: "))


def files_here() -> dict[str, bytes]:
    """Every file below the working directory."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Put the folder back as it was: new files go, and the others have their content."""
    before = files_here()
    try:
        yield
    finally:
        now = files_here()
        for name in now.keys() - before.keys():
            Path(name).unlink()
        for name, content in before.items():
            if now.get(name) != content:
                Path(name).write_bytes(content)


def one_of_these(*values) -> st.SearchStrategy:
    return st.sampled_from(values)


#: Texts that programs stumble over.
ODD = one_of_these(
    *("", " ", "-", "--", "0", "-1", "1e400", "nan", "inf", "1_000", "٣", "²", "true", "null", "{k}", "{", "$(touch hit)"),
    *("`x`", "~user"),
    *("a\nb", "a\tb", "é", "漢", "a'b", 'a"b', "~", "~/x", "../x", ".", "/", "*", "%s", "a,b", "=1+1", "\\", "a" * 300),
)
