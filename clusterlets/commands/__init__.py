"""One module per command, whose ``main(arguments)`` returns the exit status, and modules that several commands share."""

from collections.abc import Iterable

import clusterlets.installation  # noqa: F401

#: The line that ``clusterlets --help`` shows for each command.
PURPOSES = {
    "cluster": "a fair clustering of your own table",
    "tune": "the best clustering of your own table that is known within a limit",
    "assign": "new rows in the clusters of a saved clustering",
    "export": "the clusters of any run of the grid, row by row",
    "rank": "where a method of your own stands in the leaderboard",
    "datasets": "a configuration's datasets, which are prepared, and what its grid costs",
    "why": "what would run again, and why",
    "verify": "check a results folder against its manifest",
    "compare": "compare a run's numbers with a reference",
    "archive": "a finished run as one file to deposit",
}


def usage(steps: Iterable[str]) -> str:
    """The text of ``clusterlets --help``; ``steps`` are the names of the workflow's steps."""
    commands = [f"  {name:<12}{purpose}" for name, purpose in PURPOSES.items()]
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets --version", "", *commands]
    return "\n".join([*lines, "", "steps of the workflow:", *(f"  {step}" for step in steps)])
