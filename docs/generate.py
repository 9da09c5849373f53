"""Renews everything in the checkout that follows from declarations in code: python docs/generate.py [--check]

A generated file is rewritten as a whole. A generated section of a page stands between two comments,
``<!-- generated: NAME -->`` and ``<!-- end: NAME -->``. With --check nothing is written, and stale files make it fail.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from clusterlets.grid.runs_table import TABLE, Column
from clusterlets.metrics.score import Score

CHECKOUT = Path(__file__).resolve().parents[1]


def columns_of_runs() -> str:
    """The columns of ``results/runs.csv``, as a table in Markdown."""
    return "\n".join(["| column | unit, values | meaning |", "|---|---|---|", *map(_row, TABLE)])


def _row(column: Column | Score) -> str:
    if isinstance(column, Score):
        return f"| {column.name} | {column.values} | {_escaped(column.explanation)} |"
    return f"| {column.name} | {column.values} | {_escaped(column.meaning)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


#: Generated files, below the checkout, and what makes their text.
FILES: dict[str, Callable[[], str]] = {}

#: Generated sections, by page and name.
SECTIONS: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/results-format.md", "columns of runs.csv"): columns_of_runs,
}


def with_section(page: str, name: str, text: str) -> str:
    """The page with a section's text renewed; ValueError unless the page has the section exactly once."""
    begin, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
    page, count = re.subn(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}{text.rstrip()}\n{end}", page)
    if count != 1:
        raise ValueError(f"the section {name} stands {count} times; it needs the lines {begin.strip()} and {end} once")
    return page


def renewed() -> dict[Path, str]:
    """Text of every file that is generated or has generated sections."""
    texts = {CHECKOUT / name: make() for name, make in FILES.items()}
    for (name, section), make in SECTIONS.items():
        path = CHECKOUT / name
        texts[path] = with_section(texts.get(path) or path.read_text(encoding="utf-8"), section, make())
    return texts


def main(arguments: list[str]) -> int:
    stale = [(path, text) for path, text in renewed().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        print(path.relative_to(CHECKOUT))
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in arguments:
        print("These are out of date; run: make generated")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
