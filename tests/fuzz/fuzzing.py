"""Helpers of the fuzz tests: draw examples, run commands in this process, and check how they end.

Each fuzz test runs in two ways. The fast way tries a fixed number of examples from a fixed seed, the same on every machine.
The slow way searches for CLUSTERLETS_FUZZ_SECONDS per test (5 by default). It tries one seed after another, from
CLUSTERLETS_FUZZ_SEED on. Hypothesis shrinks and prints a failing example.
"""

import contextlib
import io
import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from clusterlets.__main__ import main

SEARCH_SECONDS = float(os.environ.get("CLUSTERLETS_FUZZ_SECONDS", 5))
#: The first seed of a search. The examples of `make test` come from seed 0.
FIRST_SEED = int(os.environ.get("CLUSTERLETS_FUZZ_SEED", 1))


def run_examples(check: Callable, examples: st.SearchStrategy, n_examples: int, batch_seed: int = 0) -> None:
    """Call ``check`` with ``n_examples`` examples of the strategy, which are the same every time."""
    quiet = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck), "report_multiple_bugs": False}
    seed(batch_seed)(settings(max_examples=n_examples, **quiet)(given(examples)(lambda example: check(example))))()


def search(check: Callable, examples: st.SearchStrategy, n_examples: int) -> None:
    """Call ``check`` with batches of ``n_examples`` examples until the time is up. Each batch has a different seed."""
    deadline = time.monotonic() + SEARCH_SECONDS
    for batch_seed in itertools.count(FIRST_SEED):
        if time.monotonic() >= deadline:
            return
        run_examples(check, examples, n_examples, batch_seed)


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
