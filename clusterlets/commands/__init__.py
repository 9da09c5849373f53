"""One module per command, whose ``main(arguments)`` returns the exit status, and modules that several commands share."""

import textwrap
from collections.abc import Iterable

import clusterlets.installation  # noqa: F401  # raises if another package was installed over this one

#: The line that ``clusterlets --help`` shows for each command.
PURPOSES = {
    "cluster": "cluster it fairly",
    "tune": "find out what each limit costs, for each number of clusters",
    "assign": "assign new rows to the clusters of a saved clustering",
    "audit": "show how fair the clusters are that it has",
    "repair": "change as few of these clusters' rows as limits on the groups need",
    "check": "try it on made tables",
    "rank": "place it in the leaderboard",
    "datasets": "list a configuration's datasets",
    "verify": "check a results folder against its manifest",
    "compare": "compare a run's numbers with a reference",
    "archive": "pack a finished run into one file to deposit",
}
# What the commands from this one on are about.
_TOPICS = {"cluster": "your own table", "check": "a method of your own", "datasets": "runs of the workflow"}


def usage(steps: Iterable[str]) -> str:
    """The text of ``clusterlets --help``; ``steps`` are the names of the workflow's steps."""
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets COMMAND --help", "       clusterlets --version"]
    for name, purpose in PURPOSES.items():
        lines += [*(["", f"{_TOPICS[name]}:"] if name in _TOPICS else []), f"  {name:<12}{purpose}"]
    names = textwrap.fill(", ".join(steps), 78, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([*lines, "", "steps that the workflow runs:", names])
