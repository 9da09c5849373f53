"""One module per command, whose ``main(arguments)`` returns the exit status, and modules that several commands share."""

from collections.abc import Iterable

import clusterlets.installation  # noqa: F401  # raises if another package was installed over this one

#: The line that ``clusterlets --help`` shows for each command.
PURPOSES = {
    "cluster": "cluster your own table fairly",
    "tune": "find out what each limit costs on your own table, for each number of clusters",
    "assign": "assign new rows to the clusters of a saved clustering",
    "audit": "show how fair the clusters of your own table are",
    "repair": "change as few of these clusters' rows as limits on the groups need",
    "check": "try a method of your own on made tables",
    "rank": "place a method of your own in the leaderboard",
    "datasets": "list a configuration's datasets",
    "verify": "check a results folder against its manifest",
    "compare": "compare a run's numbers with a reference",
    "archive": "pack a finished run into one file to deposit",
}


def usage(steps: Iterable[str]) -> str:
    """The text of ``clusterlets --help``; ``steps`` are the names of the workflow's steps."""
    commands = [f"  {name:<12}{purpose}" for name, purpose in PURPOSES.items()]
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets --version", "", *commands]
    return "\n".join([*lines, "", "steps of the workflow:", *(f"  {step}" for step in steps)])
