"""One module per command, whose ``main(arguments)`` returns the exit status, and modules that several commands share."""

import importlib.util

import clusterlets.installation  # noqa: F401  # raises if another package was installed over this one
from clusterlets.errors import ClusterletsError

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
# The package with the commands that the library lacks. It is named here only, because the library must not import it.
_BENCHMARK = "clusterlets.benchmark"


def usage() -> str:
    """The text of ``clusterlets --help``."""
    lines = ["usage: clusterlets COMMAND [options]", "       clusterlets COMMAND --help", "       clusterlets --version"]
    for name, purpose in PURPOSES.items():
        lines += [*(["", f"{_TOPICS[name]}:"] if name in _TOPICS else []), f"  {name:<12}{purpose}"]
    return "\n".join(lines)


def package_of(command: str) -> str:
    """The package that holds a command's module. Raises ClusterletsError if the command needs a clone, and there is none."""
    if importlib.util.find_spec(f"{__package__}.{command}"):
        return __package__
    if importlib.util.find_spec(_BENCHMARK) is None:
        raise ClusterletsError(
            f"this command needs the benchmark, which the installed package does not contain. Clone the repository, run "
            f"`python -m pip install '.[all]'` in the clone, and then `python -m clusterlets {command}` there."
        )
    return f"{_BENCHMARK}.commands"
