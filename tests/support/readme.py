"""The README's commands and the output that it shows below them."""

import re
from pathlib import Path

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def command(beginning: str) -> str:
    """The README's one command that begins like this."""
    (found,) = re.findall(rf"^    ({re.escape(beginning)}.*)$", README, re.MULTILINE)
    return found


def lines_below(command: str) -> list[str]:
    """The lines of the first block of output below a command."""
    return re.search(r"```text\n(.*?)```", README.partition(f"    {command}\n")[2], re.DOTALL)[1].splitlines()


def is_cut_from(lines: list[str], output: str) -> bool:
    """Whether an output has all these lines, in this order."""
    remaining = iter(output.splitlines())
    return all(line in remaining for line in lines)
