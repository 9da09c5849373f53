"""A method in a user's file affects only its own results, and whatever it raises becomes a message of one line."""

import os
import random
from pathlib import Path

import numpy as np
import pytest

from clusterlets import methods
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.benchmark.grid.artifacts import SeedBatch
from clusterlets.benchmark.grid.scoring import match
from clusterlets.errors import ClusterletsError, MethodError
from clusterlets.estimators import MethodClustering
from clusterlets.methods.interface.users_file import is_from_file
from clusterlets.supervision.fits import Budget, fits

RNG = np.random.default_rng(0)
X, GROUPS = RNG.normal(size=(60, 3)), RNG.integers(2, size=60)
METHOD = """
import dataclasses, os, sys
import numpy as np
from clusterlets.methods import Method

class Mine(Method):
    name = "mine"
    {attribute}

    def fit(self, X, groups, n_clusters, random_state):
        {body}
        return random_state.integers(n_clusters, size=len(X))
"""
LINE_OF_BODY = METHOD[: METHOD.index("{body}")].count("\n") + 1


@pytest.fixture
def write_method(tmp_path, monkeypatch):
    """A function that writes a method's file into the working folder and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(body="pass", attribute="", source=METHOD):
        Path("mine.py").write_text(source.replace("{body}", body).replace("{attribute}", attribute))
        return "mine.py"

    return write


def fit_file(file):
    return MethodClustering(file, 3, random_state=0).fit(X, sensitive_features=GROUPS)


@pytest.mark.parametrize("body", ["X -= X.mean(axis=0)", "X[0] = 7", "groups[:] = 0", "random_state.shuffle(X)"])
def test_a_method_cannot_write_into_the_table(write_method, body):
    before = X.copy(), GROUPS.copy()
    with pytest.raises(ClusterletsError, match=f"mine.py, line {LINE_OF_BODY}: ValueError: .*read-only"):
        fit_file(write_method(body))
    assert np.array_equal(X, before[0]) and np.array_equal(GROUPS, before[1])


@pytest.mark.parametrize("array", ["X", "groups"])
def test_a_method_that_makes_its_table_writable_changes_only_a_copy(write_method, array):
    before = X.copy(), GROUPS.copy()
    fit_file(write_method(f"{array}.flags.writeable = True; {array}[:] = 0"))
    assert np.array_equal(X, before[0]) and np.array_equal(GROUPS, before[1])


@pytest.mark.parametrize("name", ["group", "counts", "centroids", "inertia", "labels"])
def test_clusterlets_are_read_only(name):
    clusterlets = extract_clusterlets(X, GROUPS, 4, np.random.default_rng(0))
    with pytest.raises(ValueError, match="read-only"):
        getattr(clusterlets, name)[0] = 1


@pytest.mark.parametrize(
    ("statement", "raised"),
    [
        ("sys.exit()", "SystemExit"),
        ("exit('enough')", "SystemExit: enough"),
        ("os._exit(0)", "SystemExit: os._exit(0)"),
        ("raise ValueError('first\\nlast')", "ValueError: last"),
        ("raise BaseException('no luck')", "BaseException: no luck"),
    ],
)
def test_the_message_names_the_line_that_raised(write_method, statement, raised):
    # The attribute is on line 8, and runs when the file is imported.
    for attribute, body, line, at_import in ((statement, "pass", 8, True), ("", statement, LINE_OF_BODY, False)):
        with pytest.raises(ClusterletsError) as error:
            fit_file(write_method(body, attribute))
        assert str(error.value) == f"mine.py{' cannot be run' if at_import else ''}, line {line}: {raised}"


def test_processes_that_a_file_forks_may_call_os_exit(write_method):
    original_exit = os._exit
    fork_and_wait = "child = os.fork(); child or os._exit(7); assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7"
    fit_file(write_method(fork_and_wait, fork_and_wait))
    assert os._exit is original_exit


@pytest.mark.parametrize(
    "hook",
    [
        "def faults(self, n_clusters): sys.exit(0)",
        "def __init__(self): sys.exit(0)",
        "@staticmethod\n    def unsupported(rows, n_groups): sys.exit(0)",
        "@classmethod\n    def faults(cls, n_clusters): sys.exit(0)",
    ],
)
def test_the_message_names_the_line_that_raised_in_other_functions_of_the_method(write_method, hook):
    with pytest.raises(ClusterletsError, match=r"mine.py, line \d+: SystemExit: 0"):
        fit_file(write_method(attribute=hook))


def test_an_exception_is_kept_as_the_cause_but_memory_errors_and_the_packages_errors_pass_through(write_method):
    with pytest.raises(MethodError) as error:
        methods.from_file(write_method("1 / 0"))().fit(X, GROUPS, 2, np.random.default_rng(0))
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    with pytest.raises(MemoryError):
        fit_file(write_method("raise MemoryError"))
    with pytest.raises(ClusterletsError, match=r"^no luck$"):
        fit_file(
            write_method("from clusterlets.errors import NoClusteringError; raise NoClusteringError('infeasible', 'no luck')")
        )


def test_a_method_cannot_change_the_working_folder(write_method):
    folder = os.getcwd()
    for file in (write_method("os.chdir('/')"), write_method("os.chdir('/'); 1 / 0"), write_method(attribute="os.chdir('/')")):
        try:
            fit_file(file)
        except ClusterletsError as error:
            assert "mine.py" in str(error)
        assert os.getcwd() == folder


def test_a_file_may_hold_dataclasses_with_postponed_annotations(write_method):
    part = "@dataclasses.dataclass\nclass Part:\n    share: float = 0.5\n\n\nclass Mine"
    source = "from __future__ import annotations\n" + METHOD.replace("class Mine", part)
    assert fit_file(write_method("assert dataclasses.fields(Part())[0].default == 0.5", source=source)).n_clusters_ == 3


def test_an_edit_within_the_same_second_takes_effect_and_nothing_is_written_beside_the_file(write_method):
    for divisor in ("3", "2"):
        file = write_method(f"return np.arange(len(X)) % {divisor}")
        os.utime(file, (0, 0))
        assert methods.from_file(file)().fit(X, GROUPS, 3, None).max() + 1 == int(divisor)
    assert os.listdir() == ["mine.py"]


WRONG_VALUES = {
    "outputs": ("'ab'", "3", "('a', 'a')"),
    "libraries": ("None", "'numpy'"),
    "settings": ("5", "{1: 'a'}", "{'a': 1}"),
    "most_rows": ("'x'",),
    "min_groups": ("0",),
    "stream": ("'a'",),
    "is_random": ("'no'",),
    "label": ("3",),
    "citation": ("None",),
    "faults": ("None",),
}


@pytest.mark.parametrize(("attribute", "value"), [(name, value) for name, values in WRONG_VALUES.items() for value in values])
def test_attributes_of_the_wrong_type_are_refused(write_method, attribute, value):
    with pytest.raises(ClusterletsError, match=f"mine.py: {attribute}"):
        methods.from_file(write_method(attribute=f"{attribute} = {value}"))


METHOD_THAT_COUNTS_CALLS = """
import numpy as np
from clusterlets.methods import Method

calls = []

class Mine(Method):
    name = "mine"

    def fit(self, X, groups, n_clusters, random_state):
        calls.append(0)
        return np.minimum(np.arange(len(X)), len(calls))
"""


def clusterings_by_seed(method, batches):
    """The clusterings of every seed, by output, if the seeds are fitted in these batches."""

    def fit(seed):
        return methods.fit(method, X, GROUPS, 4, np.random.default_rng(seed), {})[1]

    outcomes = (fits(fit, batch, Budget(), stateless=not is_from_file(method)) for batch in batches)
    return {seed: outcome.result for batch in outcomes for seed, outcome in batch}


@pytest.mark.parametrize("name", [*methods.names(), "mine.py"])
def test_a_batch_of_seeds_gives_the_clusterings_of_separate_seeds(write_method, name):
    method = methods.from_file(write_method(source=METHOD_THAT_COUNTS_CALLS)) if name == "mine.py" else methods.get(name)
    seeds = range(3)
    # Load the machine code before the forks. The table differs, because a method may cache what it computed for the last table.
    methods.fit(method, X[:40] + 1, GROUPS[:40], 4, np.random.default_rng(99), {})
    together = clusterings_by_seed(method, [seeds])
    apart = clusterings_by_seed(method, [[seed] for seed in seeds])
    for seed in seeds:
        for output, clustering in together[seed].items():
            assert np.array_equal(clustering, apart[seed][output]), (seed, output)


METHOD_WITHOUT_STREAM = """
import random, subprocess, sys
import numpy as np
from clusterlets.methods import Matcher, Method

class Mine({attribute}):
    name = "mine"

    def fit(self, X, groups, n_clusters, random_state):
        return self.draw(len(X))

    def draw(self, n):
        return {body}

    def match(self, clusterlets, random_state):
        labels = np.asarray(self.draw(len(clusterlets)))
        return labels == np.unique(labels)[:, None]
"""
PROGRAM = "print(*(hash(str(row)) % 3 for row in range(60)))"
DRAWS = {
    "NumPy": "np.random.normal(size=n).astype(int) % 3",
    "random": "[random.randrange(3) for _ in range(n)]",
    "hashes": f"list(map(int, subprocess.check_output([sys.executable, '-c', {PROGRAM!r}]).split()))[:n]",
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_method_that_ignores_its_stream_repeats_and_differs_by_seed_and_leaves_no_trace(write_method, monkeypatch, draw):
    file = write_method(draw, "Method", METHOD_WITHOUT_STREAM)
    np.random.normal()  # half a pair of normal numbers waits for the next call
    before = random.getstate(), np.random.get_state(), os.environ.get("PYTHONHASHSEED")
    first, again, other = (
        MethodClustering(file, 3, random_state=seed).fit(X, sensitive_features=GROUPS).labels_ for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert random.getstate() == before[0] and os.environ.get("PYTHONHASHSEED") == before[2]
    assert all(np.array_equal(now, then) for now, then in zip(np.random.get_state(), before[1], strict=True))


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_matcher_that_ignores_its_stream_repeats_in_the_workflow_and_differs_by_seed(write_method, draw):
    matcher = methods.from_file(write_method(draw, "Matcher", METHOD_WITHOUT_STREAM))
    clusterlets = extract_clusterlets(X, GROUPS, 10, np.random.default_rng(0))
    names = ("counts", "centroids", "inertia")
    pieces = SeedBatch({str(seed): {name: getattr(clusterlets, name) for name in names} for seed in range(3)})
    runs = [
        {seed: matching.result for seed, matching in match(matcher, "a", 10, {}, seeds, 0, Budget(), pieces, None)}
        for seeds in ([0, 1, 2], [2, 1])
    ]
    assert all(np.array_equal(runs[1][seed], runs[0][seed]) for seed in (1, 2))
    assert not np.array_equal(runs[0][0], runs[0][1])


@pytest.mark.parametrize("draw", ["np.random.normal()", "__import__('random').random()", "np.random.rand() + hash('a') * 0"])
def test_what_a_file_draws_at_import_is_the_same_in_every_run_and_leaves_no_trace(write_method, draw):
    file = write_method(attribute=f"drawn = {draw}")
    values = set()
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        states = random.getstate(), np.random.get_state()[1].tolist()
        values.add(methods.from_file(file).drawn)
        assert states == (random.getstate(), np.random.get_state()[1].tolist())
    assert len(values) == 1
