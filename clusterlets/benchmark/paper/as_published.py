"""The paper's numbers and claims beside two runs: one follows the paper's text, the other the authors' published code.

The second run is a variant of the grid. Its matchers work as :mod:`clusterlets.algorithms.matching.published` describes, and
its scores measure the ``deviation`` that the variant sets. A number that only this run reproduces comes from the code, not
from the text.
"""

from collections.abc import Mapping

import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import claims, comparison, reported, tables, verdict
from clusterlets.benchmark.paper.claims.findings import FAILS, HOLDS, IN_PART
from clusterlets.text import counted, markdown_table

#: The settings of a variant that runs the published code.
SETTINGS = {"pinball_scope": "published", "greedy_scope": "published"}
_CELL_COLUMNS = ["table", "row", "dataset", "method", "matcher", "quantity"]
COLUMNS = ["kind", *_CELL_COLUMNS, "reported", "as_text", "as_code", "verdict_as_text", "verdict_as_code", "comes_back"]
NUMBER, CLAIM = "number", "claim"
ONLY_CODE, ONLY_TEXT, BOTH, NEITHER = "only with the code", "only with the text", "with both", "with neither"
# The keys: whether the run of the text, and that of the code, reproduce a number or support a claim.
_COMES_BACK = {(True, True): BOTH, (True, False): ONLY_TEXT, (False, True): ONLY_CODE, (False, False): NEITHER}
# A better verdict has a larger number.
_GRADES = {FAILS: 0, IN_PART: 1, HOLDS: 2}


def variant_of(config: Mapping) -> str:
    """The name of the first variant that runs the published code, preferably with its own deviation; empty if none does."""
    candidates = [name for name, changes in config["variants"].items() if changes.items() >= SETTINGS.items()]
    return next((name for name in candidates if "deviation" in config["variants"][name]), candidates[0] if candidates else "")


def assess(runs: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """The table ``results/as_published.csv``, with a row for each claim and each compared number, and :data:`COLUMNS`.

    ``runs`` are the runs of the grid, and ``published`` those of the variant that :func:`variant_of` names. Without that
    variant, there are no rows. Only runs on the paper's datasets and seeds are compared. Some numbers (of B and G-D) can only
    come from the published code; here they are compared with both runs. ``comes_back`` says which of the two reproduce a
    number, or support a claim at least as well as the paper's own numbers do. For a claim, ``reported``, ``as_text`` and
    ``as_code`` hold the statistics.
    """
    runs_by_source = {"text": runs, "code": published}
    if published is None or not all(frame["dataset"].isin(reported.datasets()).any() for frame in runs_by_source.values()):
        return pd.DataFrame(columns=COLUMNS)
    paper_runs = {name: selection.seeds_of_paper(reported.runs_of_paper(frame)) for name, frame in runs_by_source.items()}
    our_tables = {name: tables.make(frame) for name, frame in paper_runs.items()}
    compared = {
        name: comparison.compare(paper_runs[name], our_tables[name], skip_code_numbers=False) for name in runs_by_source
    }
    numbers = {name: claims.Numbers.from_runs(paper_runs[name], our_tables[name]) for name in runs_by_source}
    rows = pd.concat([_rows_of_numbers(**compared), _rows_of_claims(**numbers)], ignore_index=True)
    return rows.reindex(columns=COLUMNS)


def _rows_of_numbers(text: pd.DataFrame, code: pd.DataFrame) -> pd.DataFrame:
    compared_cells = comparison.counted_cells(text).index.intersection(comparison.counted_cells(code).index)
    rows = text.loc[compared_cells, [*_CELL_COLUMNS, "reported"]].assign(kind=NUMBER)
    for name, compared in (("text", text), ("code", code)):
        rows[f"as_{name}"] = compared.loc[compared_cells, "reproduced"]
        rows[f"verdict_as_{name}"] = compared.loc[compared_cells, "verdict"]
    are_reproduced = rows[["verdict_as_text", "verdict_as_code"]] == verdict.REPRODUCED
    return rows.assign(comes_back=[_COMES_BACK[tuple(pair)] for pair in are_reproduced.to_numpy()])


def _rows_of_claims(text: claims.Numbers, code: claims.Numbers) -> pd.DataFrame:
    """The rows of claims that the paper's numbers support at least in part, and that both runs decide."""
    paper = claims.Numbers.from_paper()
    rows = []
    for claim in reported.claims()["claims"]:
        by_paper, by_text, by_code = (claims.judge(claim, numbers) for numbers in (paper, text, code))
        verdicts = [finding.verdict for finding in (by_paper, by_text, by_code)]
        if not _GRADES.keys() >= set(verdicts) or by_paper.verdict == FAILS:
            continue
        paper_grade, text_grade, code_grade = (_GRADES[name] for name in verdicts)
        rows.append(
            {
                **{"kind": CLAIM, "row": claim["claim_in_short"], "reported": by_paper.statistic},
                **{"as_text": by_text.statistic, "verdict_as_text": by_text.verdict},
                **{"as_code": by_code.statistic, "verdict_as_code": by_code.verdict},
                "comes_back": _COMES_BACK[text_grade >= paper_grade, code_grade >= paper_grade],
            }
        )
    return pd.DataFrame(rows)


# ---- as text ---------------------------------------------------------------------------------------------------------


def sentences(assessed: pd.DataFrame) -> list[str]:
    """The findings in sentences, with what only one of the two runs reproduces; none if the published code was not run."""
    if assessed.empty:
        return []
    numbers, judged_claims = (assessed[assessed["kind"] == kind] for kind in (NUMBER, CLAIM))
    by_text, by_code = (by_verdict(assessed)[name].sum().astype(int) for name in ("text", "code"))
    lines = [
        f"Of {counted(len(numbers), 'number')}, the run that follows the text reproduces {by_text[verdict.REPRODUCED]}, and "
        f"{by_text[verdict.DIFFERS]} differ; the run that follows the published code reproduces {by_code[verdict.REPRODUCED]}, "
        f"and {by_code[verdict.DIFFERS]} differ."
    ]
    for kind, frame in ((NUMBER, numbers), (CLAIM, judged_claims)):
        for source in (ONLY_CODE, ONLY_TEXT):
            rows = frame[frame["comes_back"] == source]
            names = [row.rstrip(".") for row in rows["row"]] if kind == CLAIM else _numbers_by_row(rows)
            subject = counted(len(rows), f"{kind} is", f"{kind}s are")
            lines.append(f"{subject} reproduced {source}{': ' if names else ''}{'; '.join(names)}.")
    return lines


def headline(assessed: pd.DataFrame) -> str:
    """How many numbers of tables 1, 3 and 4 differ from each of the two runs, and of all tables."""
    counts = by_verdict(assessed)
    differ = {name: counts[name][verdict.DIFFERS] for name in ("text", "code")}
    first, third, fourth = (
        (counts.loc[name, "code"].sum(), differ["text"][name], differ["code"][name])
        for name in (reported.TABLES[0], *reported.TABLES[2:4])
    )
    return (
        f"Of the {first[0]} numbers of table 1, {first[1]} differ from the method as the text describes it, and {first[2]} "
        f"from the published code; of the {third[0]} of table 3, {third[1]} and {third[2]}; of the {fourth[0]} of table 4, "
        f"{fourth[1]} and {fourth[2]}; of all {counts['code'].to_numpy().sum()}, {differ['text'].sum()} and "
        f"{differ['code'].sum()}."
    )


def _numbers_by_row(rows: pd.DataFrame) -> list[str]:
    """The numbers' names, joined by row of the paper's tables, such as ``table 1, C (size, size_std)``."""
    quantities_by_row = rows.groupby(["table", "row"], sort=False)["quantity"].agg(", ".join)
    titles = {name: name.partition("_")[0].replace("table", "table ") for name in rows["table"].unique()}
    return [f"{titles[table]}, {row} ({quantities})" for (table, row), quantities in quantities_by_row.items()]


def by_verdict(assessed: pd.DataFrame) -> pd.DataFrame:
    """How many numbers have each verdict: one row per table, and the columns (``text`` or ``code``, verdict)."""
    numbers = assessed[assessed["kind"] == NUMBER]
    counts = {name: pd.crosstab(numbers["table"], numbers[f"verdict_as_{name}"]) for name in ("text", "code")}
    return pd.concat({name: table.reindex(columns=verdict.VERDICTS, fill_value=0) for name, table in counts.items()}, axis=1)


def to_markdown(assessed: pd.DataFrame) -> str:
    """The page ``results/as_published.md``."""
    return f"# The paper's text and the published code\n\n{body(assessed)}\n"


def body(assessed: pd.DataFrame) -> str:
    """The sentences, the counts, and table 1, as Markdown without a title."""
    if assessed.empty:
        return "No variant ran the published code: `make as-published` runs it (workflow/configs/as_published.yaml)."
    counts = by_verdict(assessed).astype(str)
    by_table = pd.DataFrame(
        {f"by the {name}: reproduced / undecided / differs": counts[name].agg(" / ".join, axis=1) for name in ("text", "code")}
    )
    lines = [f"- {line}" for line in sentences(assessed)]
    lines += ["", *markdown_table(by_table.rename_axis("table").reset_index())]
    table1 = assessed[(assessed["kind"] == NUMBER) & (assessed["table"] == reported.TABLES[0])]
    if len(table1):
        numbers = {"reported": "the paper", "as_text": "by the text", "as_code": "by the code"}
        rounded = table1.assign(**{name: table1[name].astype(float).map("{:.3f}".format) for name in numbers})
        titles = {"row": "matcher", "quantity": "quantity", **numbers, "comes_back": "reproduced"}
        lines += ["", "Table 1:", "", *markdown_table(rounded[list(titles)].rename(columns=titles))]
    return "\n".join(lines)
