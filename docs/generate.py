"""Write the files and sections of pages that are generated from code and committed results: python docs/generate.py [--check]

A generated section of a page lies between two comments, ``<!-- generated: NAME -->`` and ``<!-- end: NAME -->``. With --check,
the script writes nothing, and it fails if a file is out of date.
"""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import fill

import pandas as pd

from clusterlets import methods
from clusterlets.benchmark.analysis import paired
from clusterlets.benchmark.grid.runs_columns import TABLE
from clusterlets.benchmark.grid.runs_frame import read_results_table
from clusterlets.benchmark.paper import copies, overview, reported
from clusterlets.benchmark.report import standings
from clusterlets.metrics.score import Score
from clusterlets.text import plain_in_markdown

CHECKOUT = Path(__file__).resolve().parents[1]


def method_tables() -> str:
    """The tables of docs/methods.md: one for each role, with a row per method, and one of all parameters."""
    roles = {"rival": "Methods that cluster instances", "paper": "The paper's matchers", "baseline": "Controls"}
    parts = []
    for role, title in roles.items():
        rows = []
        for method in map(methods.get, methods.names(role)):
            grid = "; ".join(f"`{name}`: {', '.join(map(str, values))}" for name, values in method.grid().items()) or "none"
            source = f" ({method.citation})" if method.citation and role != "paper" else ""
            description = f"{method.summary().rstrip('.')}{source}"
            cost = method.cost
            if method.most_groups:
                cost += f"; {method.most_groups} groups at most"
            if method.most_rows:
                cost += f"; {method.most_rows:,} rows at most"
            rows.append([f"`{method.name}`", description, grid, method.guarantee, cost])
        header = ["name", "how", "default grid", "what it guarantees", "cost and limits"]
        parts.append(f"### {title}\n\n{table(header, rows)}")
    rows = parameter_rows(map(methods.get, methods.names()))
    parts.append(f"### Parameters\n\n{table(['methods', 'parameter', 'values', 'default', 'meaning'], rows)}")
    return "\n\n".join(parts)


def parameter_rows(classes: Iterable[type[methods.Method]]) -> list[list[str]]:
    """One row per parameter. Methods that declare an identical parameter share a row."""
    names_by_row: dict[tuple[str, ...], list[str]] = {}
    for method in classes:
        for name, parameter in method.parameters.items():
            row = f"`{name}`", parameter.allowed, f"`{parameter.default}`", parameter.meaning
            names_by_row.setdefault(row, []).append(f"`{method.name}`")
    return [[", ".join(names), *row] for row, names in names_by_row.items()]


def table(header: list[str], rows: list[list]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def runs_columns() -> str:
    """The columns of ``results/runs.csv``, as a table in Markdown."""
    meanings = [column.explanation if isinstance(column, Score) else column.meaning for column in TABLE]
    rows = [[column.name, column.values, meaning] for column, meaning in zip(TABLE, meanings, strict=True)]
    return table(["column", "unit, values", "meaning"], rows)


def _committed() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The comparison of the extended run, without reasons, and the shares that follow from it."""
    compared = reported.ranges()
    return compared, copies.shares(compared, reported.copies())


def table1_beside() -> str:
    """Table 1 of the paper beside ours, by the text and by the published code."""
    return f"{as_table(overview.table1(_committed()[0]))}\n\n{plain_in_markdown(overview.MARK_MEANS)}"


def shares_by_table() -> str:
    """The share of each table's numbers that is inside, of the paper and of copies."""
    return as_table(overview.share_table(_committed()[1]))


def paper_in_sentences() -> str:
    """What follows from the shares, as a list of sentences."""
    return "\n".join(f"- {sentence}" for sentence in overview.sentences(*_committed()))


def paper_in_a_sentence() -> str:
    """Whether table 1 holds."""
    row = overview.share_table(_committed()[1]).iloc[0]
    sentence = (
        f"In part: of the {row['numbers']} numbers of table 1 (means and standard deviations), {row['the paper, by the text']} "
        f"lie inside the range of our repetitions by the paper's text, and {row['by the published code']} by the authors' "
        f"published code. Of a perfect copy, {row['a perfect copy'].partition(' (')[0]} would."
    )
    return fill(sentence, 120)


def times() -> str:
    """How long the runs take that README names, from the table of measurements."""
    rows = re.findall(
        r"^\| (`make (?:demo|reproduce|field)[^|]*?) \| ([^|]+) \|", MEASUREMENTS.read_text(encoding="utf-8"), re.M
    )
    runs = "; ".join(f"{name}: {clock}" for name, clock in rows)
    return fill(f"On two cores: {runs} ([measured](docs/performance.md#the-grid)).", 120)


def readings_of_quantities() -> str:
    """The readings that the paper allows, with how many of their numbers are inside."""
    return as_table(reported.readings())


def as_table(frame: pd.DataFrame) -> str:
    """A frame as a table in Markdown."""
    return table([name.replace("_", " ") for name in frame], frame.astype(str).to_numpy().tolist())


def planned_comparisons() -> str:
    """The table of docs/reproduction.md with the tests of the comparisons that are named beforehand."""
    tests = read_results_table(CHECKOUT / "reference/paper/statistics/wilcoxon.csv")
    formats = {"median_difference": ".4f", "p_value": ".3f", "p_holm": ".3f", "rank_biserial": ".2f"}
    rows = [
        [test["better"], test["worse"], *(f"{test[column]:{digits}}" for column, digits in formats.items())]
        for test in tests[tests["ranking"] == paired.PLANNED].to_dict("records")
    ]
    return table(["deviates less", "than", "median difference", "p", "after Holm", "rank-biserial"], rows)


FIELD = CHECKOUT / "reference" / "field"
MEASUREMENTS = CHECKOUT / "docs" / "performance.md"


def field_standings() -> standings.Standings:
    """The leaderboard of the committed field."""
    return standings.Standings(*(read_results_table(FIELD / name) for name in standings.FILES))


def field_page() -> str:
    """docs/field.md: the leaderboard of the committed field, with CPU times."""
    costs = read_results_table(FIELD / "leaderboard_costs.csv")
    settings = {"results": "results/field", "scaling": "standard"}
    return standings.to_markdown(field_standings(), "workflow/configs/field.yaml", settings, costs)


def field_headlines() -> str:
    """The README's list of what the field shows."""
    return "\n".join(standings.bullets(standings.headlines(field_standings())))


def field_scope() -> str:
    """What the field compares, as a sentence."""
    return fill(standings.scope(field_standings()), 120)


#: Generated sections, by page and name, and the function that makes the text of each.
SECTIONS: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/methods.md", "methods"): method_tables,
    ("docs/results-format.md", "columns of runs.csv"): runs_columns,
    ("docs/reproduction.md", "table 1"): table1_beside,
    ("docs/reproduction.md", "shares"): shares_by_table,
    ("docs/reproduction.md", "sentences"): paper_in_sentences,
    ("docs/reproduction.md", "readings"): readings_of_quantities,
    ("docs/reproduction.md", "planned comparisons"): planned_comparisons,
    ("README.md", "times"): times,
    ("README.md", "the paper"): paper_in_a_sentence,
    ("README.md", "table 1"): table1_beside,
    ("README.md", "field scope"): field_scope,
    ("README.md", "field"): field_headlines,
}


def with_section(page: str, name: str, text: str) -> str:
    """The page with new text in a section. ValueError unless the page has the section exactly once."""
    begin, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
    page, count = re.subn(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}{text.rstrip()}\n{end}", page)
    if count != 1:
        raise ValueError(f"the section {name} occurs {count} times; it needs the lines {begin.strip()} and {end} once")
    return page


def generate_texts() -> dict[Path, str]:
    """New text of every file that is generated or has generated sections."""
    texts = {CHECKOUT / "docs/field.md": field_page()}
    for (name, section), make in SECTIONS.items():
        path = CHECKOUT / name
        page = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path] = with_section(page, section, make())
    return texts


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    stale_files = [
        (path, text)
        for path, text in generate_texts().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale_files:
        print(path.relative_to(CHECKOUT))
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale_files and check:
        print("These are out of date; run: make generated")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
