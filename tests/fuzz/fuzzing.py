"""Helpers of the fuzz tests: draw examples, print failing ones, run commands in this process, and check how they end.

Each fuzz test runs in two ways. The fast way tries a fixed number of examples from a fixed seed, the same on every machine.
The slow way searches for CLUSTERLETS_FUZZ_SECONDS per test (5 by default). It tries one seed after another, from
CLUSTERLETS_FUZZ_SEED on. A failing example is shrunk for at most 30 seconds, and printed as a test to paste.
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

SEARCH_SECONDS = float(os.environ.get("CLUSTERLETS_FUZZ_SECONDS", 5))
#: The first seed of a search. The examples of `make test` come from seed 0.
FIRST_SEED = int(os.environ.get("CLUSTERLETS_FUZZ_SEED", 1))
#: CPU seconds after which an example counts as endless and fails.
CPU_SECONDS = 30
#: Seconds spent on shrinking a failing example.
SHRINKING_SECONDS = 30


def run_examples(check: Callable, examples: st.SearchStrategy, n_examples: int) -> None:
    """Call ``check`` with ``n_examples`` examples of the strategy, which are the same every time."""
    _run_batch(check, examples, n_examples, batch_seed=0)


def search(check: Callable, examples: st.SearchStrategy, n_examples: int) -> None:
    """Call ``check`` with batches of ``n_examples`` examples until the time is up. Each batch has a different seed."""
    deadline, n_batches = time.monotonic() + SEARCH_SECONDS, 0
    while time.monotonic() < deadline:
        _run_batch(check, examples, n_examples, FIRST_SEED + n_batches)
        n_batches += 1


def _run_batch(check: Callable, examples: st.SearchStrategy, n_examples: int, batch_seed: int) -> None:
    recorder = _FailureRecorder(check)
    run_settings = settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        seed(batch_seed)(run_settings(given(examples)(lambda example: recorder(example))))()
    except BaseException as error:
        if recorder.smallest is not None:
            error.add_note(format_as_test(check, recorder.smallest))
        raise


class _FailureRecorder:
    """A check that remembers its failing examples.

    SHRINKING_SECONDS after the first failure, all examples that have not failed yet pass, so that Hypothesis stops shrinking.
    """

    def __init__(self, check: Callable):
        self.check = check
        self.failing_examples: set[str] = set()
        self.smallest: str | None = None
        self.deadline = float("inf")

    def __call__(self, example) -> None:
        example_text = repr(example)
        if time.monotonic() > self.deadline and example_text not in self.failing_examples:
            return
        try:
            with _limit_cpu_time():
                self.check(example)
        except UnsatisfiedAssumption:
            raise
        except BaseException:
            self.deadline = min(self.deadline, time.monotonic() + SHRINKING_SECONDS)
            self.failing_examples.add(example_text)
            self.smallest = example_text
            raise


def format_as_test(check: Callable, example: str) -> str:
    """The source of a test of one example, with a note where to paste it."""
    return (
        "Paste this into the file of the check, with the fixtures of its fuzz test:\n\n"
        "def test_an_example_that_once_failed():\n"
        "    import datetime\n    from decimal import Decimal\n    from math import inf, nan\n\n"
        f"    {check.__name__}({example})\n"
    )


@contextlib.contextmanager
def _limit_cpu_time() -> Iterator[None]:
    def fail(*_):
        raise AssertionError(f"did not end within {CPU_SECONDS} seconds of computing")

    previous_handler = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
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


def command(*arguments: str) -> Outcome:
    """Run a command in this process. Assert that it ends without a traceback and, if it fails, leaves every file unchanged."""
    before = files_here()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            status = main(list(arguments))
        except SystemExit as end:  # raised by argparse
            status = end.code
    outcome = Outcome(status, out.getvalue(), err.getvalue())
    assert status in (0, 1, 2) and "Traceback" not in outcome.err, outcome
    if status:
        after = files_here()
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        assert not changed, f"wrote or removed {changed}"
    return outcome


def has_reason_in_one_line(outcome: Outcome, name: str) -> bool:
    """Whether a failed command gave the reason in one line, below the usage message if its arguments were wrong."""
    before, prefix, reason = outcome.err.removesuffix("\n").rpartition(f"clusterlets {name}: ")
    follows_usage = before.startswith("usage: ") and outcome.status == 2
    return bool(prefix and reason) and "\n" not in reason and (follows_usage or not before)


def files_here() -> dict[str, bytes]:
    """The content of every file below the working directory, by path."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@contextlib.contextmanager
def restored_folder() -> Iterator[None]:
    """Afterwards, remove new files from the working directory, and undo changes to the others."""
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


#: Strings that programs often handle wrongly.
ODD_STRINGS = any_of(
    *("", " ", "-", "--", "0", "-1", "1e400", "nan", "inf", "1_000", "٣", "²", "true", "null", "{k}", "{", "$(touch hit)"),
    *("`x`", "~user"),
    *("a\nb", "a\tb", "é", "漢", "a'b", 'a"b', "~", "~/x", "../x", ".", "/", "*", "%s", "a,b", "=1+1", "\\", "a" * 300),
)
