"""Write the files and sections of pages that are generated from code and committed results: python docs/generate.py [--check]

A generated section of a page lies between two comments, ``<!-- generated: NAME -->`` and ``<!-- end: NAME -->``. With --check,
the script writes nothing, and it fails if a file is out of date.
"""

import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from clusterlets import estimators, methods, tuning
from clusterlets.estimators import plots
from clusterlets.grid.runs_frame import read_results_table
from clusterlets.grid.runs_table import TABLE
from clusterlets.metrics.score import Score
from clusterlets.paper import as_published, controls
from clusterlets.report.page import TITLES

CHECKOUT = Path(__file__).resolve().parents[1]

#: The names that can be imported from ``clusterlets``, by the module that defines them.
PUBLIC_NAMES = {
    "clusterlets.errors": ["ClusterletsError"],
    "clusterlets.estimators": estimators.__all__,
    "clusterlets.estimators.plots": [name for name in vars(plots) if name.startswith("plot_")],
    "clusterlets.tuning": tuning.__all__,
}
#: Names of the standard library that annotations of estimators may use, by module.
STANDARD_NAMES = {"collections.abc": ["Mapping", "Sequence"], "fractions": ["Fraction"], "typing": ["Literal"]}


def package_stub() -> str:
    """Text of clusterlets/__init__.pyi: every public name of the package, imported from its module."""
    exports = [(module, name) for module, names in PUBLIC_NAMES.items() for name in sorted(names, key=import_sort_key)]
    lines = [f"from {module} import {name} as {name}" for module, name in exports]
    return "\n".join([*lines, "", "__version__: str", ""])


def estimators_stub() -> str:
    """Text of clusterlets/estimators/__init__.pyi: every estimator with its signature and docstring."""
    named_estimators = sorted(estimators.NAMED.values(), key=lambda estimator: estimator.__name__)
    bases: dict[type, tuple[type, ...]] = {estimators.ClusterletClustering: (estimators.ClusterletClustering,)}
    bases |= {estimator: estimator.__bases__ for estimator in named_estimators}
    other_exports = [value for value in map(vars(estimators).get, estimators.__all__) if value not in bases]
    imports = [f"from {value.__module__} import {value.__name__} as {value.__name__}" for value in other_exports]
    for base in itertools.chain(*bases.values()):
        outer_class = base.__qualname__.partition(".")[0]  # FRAC if the base is FRAC.Estimator
        imports.append(f"from {base.__module__} import {outer_class} as _{outer_class}")
    classes = [class_stub(estimator, [f"_{base.__qualname__}" for base in its_bases]) for estimator, its_bases in bases.items()]
    text = "\n\n".join(["NAMED: dict[str, type[_NamedMethod]]", *classes, ""])
    standard_imports = []
    for module, names in STANDARD_NAMES.items():
        used_names = [name for name in names if re.search(rf"\b{name}\b[\[ ]", text)]
        if used_names:
            standard_imports.append(f"from {module} import {', '.join(used_names)}")
    imports = sorted(set(imports), key=lambda line: (line.split()[1], import_sort_key(line.split()[3])))
    return "\n".join([*standard_imports, "", "import numpy as np", "", *imports, "", text.rstrip("\n") + "\n"])


def class_stub(estimator: Any, bases: list[str]) -> str:
    """An estimator's class as text: its ``bases``, its docstring and the signature of ``__init__``."""
    arguments = ["self"]
    for parameter in inspect.signature(estimator).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        arguments.append(f"{parameter.name}: {estimator._annotations[parameter.name]} = {default}")
    signature = "\n".join(["    def __init__(", *(f"        {argument}," for argument in arguments), "    ) -> None: ..."])
    docstring = textwrap.indent(f'"""{estimator.__doc__.rstrip()}\n"""', "    ", lambda line: bool(line.strip()))
    return f"class {estimator.__name__}({', '.join(bases)}):\n{docstring}\n\n{signature}"


def import_sort_key(name: str) -> tuple[int, str]:
    """Sort key of a name among imports, in the order that linters want: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name.lstrip("_")[0].isupper() else 2), name.lower()


def api_estimators() -> str:
    """The section of docs/api.md that lists the estimators."""
    names = ["ClusterletClustering", "MethodClustering", *(estimator.__name__ for estimator in estimators.NAMED.values())]
    lines = [f"   ~clusterlets.{name}" for name in names]
    return "\n".join(["```{eval-rst}", ".. autosummary::", "   :toctree: api", "", *lines, "```"])


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


PUBLISHED = CHECKOUT / "reference/published/as_published.csv"


def published_headline() -> str:
    """The README's line on how much of table 1 the paper's text and the authors' published code reproduce."""
    return f"- {as_published.headline(read_results_table(PUBLISHED))}"


def published_findings() -> str:
    """The section of docs/reproduction.md on what only the authors' published code reproduces."""
    return as_published.body(read_results_table(PUBLISHED))


def verdict_by_table() -> str:
    """The README's table of verdicts: percentages for the paper, for a perfect copy of it, and for wrong copies."""
    rows = read_results_table(CHECKOUT / "reference" / "paper" / "comparison_controls.csv")
    verdict_rows = []
    for name, table_rows in rows.groupby("table", sort=False):
        paper, perfect = (table_rows[table_rows["source"] == source] for source in (controls.PAPER, controls.PERFECT))
        wrong = table_rows[table_rows["source"].isin(controls.WRONG)]
        verdict_rows.append([TITLES[name], f"{paper['cells'].iloc[0]:.0f}", *map(_percentages, (paper, perfect, wrong))])
    return table(["table", "numbers", "of the paper", "of a perfect copy", "of wrong copies"], verdict_rows)


def _percentages(counts) -> str:
    """Counts of verdicts as text: ``62 % reproduced, 12 % differ``. Several rows give ranges, such as ``5 to 9 %``."""
    parts = []
    for verdict, word in (("reproduced", "reproduced"), ("differs", "differ")):
        percents = 100 * counts[verdict] / counts["cells"]
        extremes = dict.fromkeys(f"{percent:.0f}" for percent in (percents.min(), percents.max()))
        parts.append(f"{' to '.join(extremes)} % {word}")
    return ", ".join(parts)


#: Generated files, with paths relative to the checkout, and the function that makes the text of each.
FILES: dict[str, Callable[[], str]] = {
    "clusterlets/__init__.pyi": package_stub,
    "clusterlets/estimators/__init__.pyi": estimators_stub,
}

#: Generated sections, by page and name, and the function that makes the text of each.
SECTIONS: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/methods.md", "methods"): method_tables,
    ("docs/api.md", "estimators"): api_estimators,
    ("docs/results-format.md", "columns of runs.csv"): runs_columns,
    ("docs/reproduction.md", "as published"): published_findings,
    ("README.md", "verdict"): verdict_by_table,
    ("README.md", "as published"): published_headline,
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
    texts = {CHECKOUT / name: make() for name, make in FILES.items()}
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
