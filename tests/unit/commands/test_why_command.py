"""``clusterlets why`` gives Snakemake's reasons in plain words. tests/workflow runs it on a real workflow."""

import subprocess

import pytest
from snakemake.cli import get_argument_parser

from clusterlets.commands import why

# Snakemake prints this text, followed by the parameters before and now.
PARAMETERS = "Params have changed since last execution: Union of exclusive params before and now across all output: "
BEFORE = "0123456789abcdef storage.py:11111111 algorithms/matching/pinball.py:11111111 numpy==2.4.6"
NOW = "0123456789abcdee storage.py:11111111 algorithms/matching/pinball.py:22222222 numpy==2.5.0"
GRID, LARGER_GRID = '{"k": [2], "hops": [1]}', '{"k": [2, 3], "hops": [1]}'
LIMITS, OTHER_LIMITS = '{"seconds": 600, "memory_mb": 8000}', '{"seconds": 60, "memory_mb": 8000}'
SCOPE, OTHER_SCOPE = '{"scope": "last"}', '{"scope": "cluster"}'

REASONS = {
    "Missing output files: results/runs.csv; Input files updated by another job: a": ["not made yet"],
    "Updated input files: people.csv": ["what it reads has changed: people.csv"],
    "Set of input files has changed since last execution": ["it now reads other files, for example because the grid changed"],
    f"{PARAMETERS}before: {BEFORE!r} now: {NOW!r} ": [
        "its code changed: clusterlets/algorithms/matching/pinball.py, another version of numpy"
    ],
    f"{PARAMETERS}before: '0123456789abcdef ./mine.py:11111111' now: '0123456789abcdee ./mine.py:22222222' ": [
        "its code changed: ./mine.py"
    ],
    f"{PARAMETERS}before: '0123456789abcdef' now: '0123456789abcdee' ": ["its code or a library changed"],
    f"{PARAMETERS}before: 0.5,'last' now: 0.25,'cluster' ": ["an option changed: 0.5, last -> 0.25, cluster"],
    f"{PARAMETERS}before: <nothing exclusive> now: 'kl' ": ["an option changed: none -> kl"],
    f"{PARAMETERS}before: {GRID!r} now: {LARGER_GRID!r} ": ["the configuration changed: k"],
    f"{PARAMETERS}before: {LIMITS!r},{SCOPE!r} now: {OTHER_LIMITS!r},{OTHER_SCOPE!r} ": [
        "the configuration changed: scope, seconds"
    ],
    "Something that a later Snakemake says": ["Something that a later Snakemake says"],
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_given_in_plain_words(reason):
    assert list(why.explain_reason(reason)) == REASONS[reason]


COMMAND = (
    "clusterlets score-method --k 1 --parameters '{}' --seeds 0-1 --base-seed 1 --scope last --tau 0.25"
    """ --table='it'"'"'s.csv' --name 'y z' --output a/1 > 1.log 2>&1"""
)


@pytest.mark.parametrize(
    ("before", "now", "explanation"),
    [
        ("0", "1", "an option changed (--base-seed): 0 -> 1"),
        ("0,'cluster'", "1,'last'", "an option changed (--base-seed, --scope): 0, cluster -> 1, last"),
        ("0.5", "<nothing exclusive>", "an option changed: 0.5 -> none"),
        (f"'{'a' * 64}'", f"'{'b' * 64}'", "the content of its table changed: it's.csv"),
        (f"'{'a' * 64}','x'", f"'{'b' * 64}','y z'", "the content of its table changed: it's.csv"),
    ],
)
def test_a_changed_option_is_named_as_in_the_command(before, now, explanation):
    assert next(why.explain_reason(f"{PARAMETERS}before: {before} now: {now} ", COMMAND)) == explanation


def test_options_are_looked_up_in_the_shell_command_of_the_same_job():
    reason = f"Reason: {PARAMETERS}before: 0 now: 1 "
    output = f"Job 1: A\n{reason}\nShell command: x --base-seed 1 > a\n\nJob 2: B\n{reason}\nShell command: x --max-iter 1\n"
    assert why.explain(f"{output}\nJob 3: C\n{reason}\n").splitlines() == [
        "An option changed (--base-seed): 0 -> 1",
        "    A",
        "An option changed (--max-iter): 0 -> 1",
        "    B",
        "An option changed: 0 -> 1",
        "    C",
    ]


def test_jobs_are_grouped_by_reason_and_those_that_only_follow_others_come_last():
    follows = "Input files updated by another job: results/runs.csv"
    jobs = [("Draw it", follows), *((f"iris: D, k = {k}", "Missing output files: x") for k in range(7)), ("Table", follows)]
    output = "".join(f"[Sat Nov 21]\nJob {number}: {job}\nReason: {reason}\n" for number, (job, reason) in enumerate(jobs))
    assert why.explain(output).splitlines() == [
        "Not made yet",
        *(f"    iris: D, k = {k}" for k in range(5)),
        "    and 2 more",
        "What it reads is made again",
        "    Draw it",
        "    Table",
    ]


def test_without_jobs_nothing_would_run():
    assert why.explain("Nothing to be done").startswith("Nothing would run")


def test_only_the_last_line_of_snakemakes_traceback_is_shown(monkeypatch, run):
    printed = b"Using profile x\nTraceback (most recent call last):\n  File 'a', line 1\n\nFileNotFoundError: '/no/home'\n\n"
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, printed))
    status, _, error = run("why", "a.csv")
    assert status == 1 and error.endswith("what it would do:\nUsing profile x\nFileNotFoundError: '/no/home'\n")


@pytest.fixture
def commands(monkeypatch):
    """The commands that would be started, in the order of the calls. None of them runs."""
    commands = []

    def run(command, **_):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, b"Nothing to be done")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


SNAKEMAKE_OPTIONS = {option for action in get_argument_parser()._actions for option in action.option_strings}


def test_options_that_are_not_allowed_are_refused_before_snakemake_starts(commands, run):
    names = SNAKEMAKE_OPTIONS - set(why._ALLOWED) - {"-h", "--help"}
    assert {"--cleanup-metadata", "--report", "--unlock", "--touch", "--delete-all-output", "--quiet", "-S"} <= names
    refused_options = [[name] for name in names]
    refused_options += [[f"{name}=a"] for name in names if name.startswith("--")]
    refused_options += [["--cleanup-m", "a"], ["--rep", "a"], ["-Ft"], ["--", "--report"]]
    refused_options += [["--config", "k=[2]", "--report", "a"]]
    for options in refused_options:
        status, _, error = run("why", "a.csv", *options)
        assert status == 1 and "so nothing was checked" in error, options
    assert commands == []


def test_allowed_options_are_passed_on_to_snakemake(commands, run):
    assert set(why._ALLOWED) <= SNAKEMAKE_OPTIONS
    options = ["-F", "--config", "exclude=nbfi,adult", "tol=1e-4", "--configfile=a.yaml"]
    status, output, _ = run("why", "a.csv", *options)
    assert status == 0 and output.startswith("Nothing would run")
    assert commands[0][-6:] == ["a.csv", *options] and "--dry-run" in commands[0]
