"""What the fuzz tests share: how examples are drawn and failures shown, how commands run here, and how they may end.

Each fuzz test runs twice. One run has a fixed number of examples from a fixed seed, the same on every machine. The other is
slow: it searches with one seed after the other, from CLUSTERLETS_FUZZ_SEED on, until CLUSTERLETS_FUZZ_SECONDS are over (5 by
default, for each test). A failing example is shrunk for at most 30 seconds, and printed as a test to paste.
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

SECONDS = float(os.environ.get("CLUSTERLETS_FUZZ_SECONDS", 5))
#: The first seed of a search; those of `make test` have the seed 0.
SEED = int(os.environ.get("CLUSTERLETS_FUZZ_SEED", 1))
#: CPU seconds of this process after which an example counts as one that never ends.
LIMIT = 30
#: Seconds spent on shrinking a failing example.
SHRINKING = 30


def run_examples(check: Callable, examples: st.SearchStrategy, n_examples: int) -> None:
    """Call ``check`` with that many examples, the same ones every time."""
    _run_batch(check, examples, n_examples, seed_of_batch=0)


def search(check: Callable, examples: st.SearchStrategy, n_examples: int) -> None:
    """Call ``check`` with batches of examples, each with a different seed, until the time is up."""
    deadline, batch = time.monotonic() + SECONDS, 0
    while time.monotonic() < deadline:
        _run_batch(check, examples, n_examples, SEED + batch)
        batch += 1


def _run_batch(check: Callable, examples: st.SearchStrategy, n_examples: int, seed_of_batch: int) -> None:
    failing = _Failing(check)
    quiet = settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        seed(seed_of_batch)(quiet(given(examples)(lambda example: failing(example))))()
    except BaseException as error:
        if failing.smallest is not None:
            error.add_note(as_test(check, failing.smallest))
        raise


class _Failing:
    """A check that remembers what failed. After SHRINKING seconds nothing else fails, so that Hypothesis ends."""

    def __init__(self, check: Callable):
        self.check = check
        self.failed: set[str] = set()
        self.smallest: str | None = None
        self.end = float("inf")

    def __call__(self, example) -> None:
        text = repr(example)
        if time.monotonic() > self.end and text not in self.failed:
            return
        try:
            with _limit():
                self.check(example)
        except UnsatisfiedAssumption:
            raise
        except BaseException:
            self.end = min(self.end, time.monotonic() + SHRINKING)
            self.failed.add(text)
            self.smallest = text
            raise


def as_test(check: Callable, example: str) -> str:
    """The source of a test of one example, for the file of its check; it takes the fixtures of the fuzz test."""
    return (
        "Paste this into the file of the check, with the fixtures of its fuzz test:\n\n"
        "def test_an_example_that_once_failed():\n"
        "    import datetime\n    from decimal import Decimal\n    from math import inf, nan\n\n"
        f"    {check.__name__}({example})\n"
    )


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    def never_ends(*_):
        raise AssertionError(f"did not end within {LIMIT} seconds of computing")

    previous_handler = signal.signal(signal.SIGPROF, never_ends)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous_handler)


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def command(*arguments: str, may_remove: str = "") -> Outcome:
    """Run a command; it must succeed, or say what is wrong and leave every file unchanged.

    Only the damaged file ``may_remove`` may go: its reader removes it, so that it is made again.
    """
    before = files_here()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            status = main(list(arguments))
        except SystemExit as end:  # argparse
            status = end.code
    result = Outcome(status, out.getvalue(), err.getvalue())
    assert result.status in (0, 1, 2) and "Traceback" not in result.err, result
    if status:
        after = files_here()
        written = [name for name in {**before, **after} if before.get(name) != after.get(name) and name != may_remove]
        assert not written, f"wrote or removed {written}"
    return result


def is_one_line(outcome: Outcome, name: str) -> bool:
    """Whether a refused command said so in one line, after the usage if the command line itself was wrong."""
    line = outcome.err.removesuffix("\n").rpartition(f"clusterlets {name}: ")[2]
    usage = outcome.err.startswith("usage: ") and outcome.status == 2
    return bool(line) and "\n" not in line and (usage or outcome.err.startswith(f"clusterlets {name}: "))


def files_here() -> dict[str, bytes]:
    """Every file below the working directory."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@contextlib.contextmanager
def restored_folder() -> Iterator[None]:
    """Restore the folder afterwards: new files go, and the others get their content back."""
    before = files_here()
    try:
        yield
    finally:
        after = files_here()
        for name in after.keys() - before.keys():
            Path(name).unlink()
        for name, content in before.items():
            if after.get(name) != content:
                Path(name).write_bytes(content)


def any_of(*values) -> st.SearchStrategy:
    return st.sampled_from(values)


#: Texts that programs stumble over.
ODD = any_of(
    *("", " ", "-", "--", "0", "-1", "1e400", "nan", "inf", "1_000", "٣", "²", "true", "null", "{k}", "{", "$(touch hit)"),
    *("`x`", "~user"),
    *("a\nb", "a\tb", "é", "漢", "a'b", 'a"b', "~", "~/x", "../x", ".", "/", "*", "%s", "a,b", "=1+1", "\\", "a" * 300),
)
