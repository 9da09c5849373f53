"""The commands for users, one module each, with a function ``main(arguments) -> status``."""

from collections.abc import Iterable

import clusterlets.installation  # noqa: F401

#: What each command is for.
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
    """What ``clusterlets --help`` shows."""
    commands = [f"  {name:<12}{purpose}" for name, purpose in PURPOSES.items()]
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets --version", "", *commands]
    return "\n".join([*lines, "", "steps of the workflow:", *(f"  {step}" for step in steps)])
