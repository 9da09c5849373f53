"""The commands for users, one module each, with a function ``main(arguments) -> status``."""

from collections.abc import Iterable

#: What each command is for.
PURPOSES = {
    "cluster": "a fair clustering of a table of your own",
    "tune": "which method suits a table of your own",
    "export": "the clusters of any run of the grid, row by row",
    "datasets": "what a configuration names, what is there, what its grid costs",
    "why": "what would run again, and why",
    "verify": "a results folder against its manifest, file by file",
    "compare": "compare a run's numbers with a reference",
    "archive": "a finished run as one file to deposit",
}


def usage(steps: Iterable[str]) -> str:
    """What ``clusterlets --help`` shows."""
    commands = [f"  {name:<12}{purpose}" for name, purpose in PURPOSES.items()]
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets --version", "", *commands]
    return "\n".join([*lines, "", "steps of the workflow:", *(f"  {step}" for step in steps)])
