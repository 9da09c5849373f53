"""The paper's claims: each with a verdict by the paper's own numbers, and one by ours."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.paper.claims import controls, on_runs, on_tables
from clusterlets.benchmark.paper.claims.findings import (
    FAILS,
    HOLDS,
    IN_PART,
    INCONCLUSIVE,
    NOT_TESTED,
    VERDICTS,
    Finding,
    Inconclusive,
    Scale,
)
from clusterlets.benchmark.paper.claims.numbers import Numbers
from clusterlets.benchmark.paper.tables import Table
from clusterlets.text import counted, markdown_table

COLUMNS = [
    *("claim", "subject", "sentence", "statement", "comparison", "claim_in_short", "test", "statistic_paper", "verdict_paper"),
    *("statistic_ours", "verdict_ours", "controls", "evidence", "remark"),
]
#: Values of the column ``comparison``: a comparison that the paper makes, and one with FRAC (fair), which the paper never ran.
OWN, STRICTER = "the paper's own", "stricter"
#: The heading of each column of :func:`counts`.
COUNTED = {
    "paper": "the paper's own comparison, by the paper's numbers",
    "ours": "the paper's own comparison, by our numbers",
    "stricter": "the stricter comparison, by our numbers",
}


def assess(runs: pd.DataFrame, our_tables: Mapping[str, Table], undivided_cohesion: Mapping[str, float]) -> pd.DataFrame:
    """The table ``results/claims.csv``, with a row for each claim of ``reported/claims.yaml``, and :data:`COLUMNS`.

    ``runs`` are those on the paper's datasets, and ``our_tables`` their tables. ``undivided_cohesion`` maps datasets to the
    cohesion of all their instances as one cluster; it may lack some.
    """
    paper, ours = Numbers.from_paper(), Numbers.from_runs(runs, our_tables)
    control_numbers = controls.all_controls(runs, our_tables, undivided_cohesion)
    rows = []
    for claim in reported.claims()["claims"]:
        by_paper, by_ours = judge(claim, paper), judge(claim, ours)
        scale = claim["parameters"].get("scale")
        grading = f" {reported.claims()['scales'][scale]['description']}" if scale else ""
        findings = {
            "test": claim["test"].format(**claim["parameters"]) + grading,
            "statistic_paper": by_paper.statistic,
            "verdict_paper": by_paper.verdict,
            "statistic_ours": by_ours.statistic,
            "verdict_ours": by_ours.verdict,
            "controls": controls.describe(claim, ours, control_numbers, judge),
        }
        rows.append({"comparison": OWN, "remark": "", **claim, **findings})
    return pd.DataFrame(rows, columns=COLUMNS)


def judge(claim: dict, numbers: Numbers) -> Finding:
    """The verdict on one claim by these numbers, and the statistic on which it is based.

    The claims are about all of the paper's datasets, so the verdict is inconclusive for runs on half of them or fewer.
    """
    if numbers.runs is not None and (too_few := reported.why_too_few(numbers.runs["dataset"].nunique())):
        return Finding(INCONCLUSIVE, too_few)
    scales = reported.claims()["scales"]
    arguments = {name: Scale(**scales[value]) if name == "scale" else value for name, value in claim["parameters"].items()}
    test = getattr(on_tables, claim["kind"], None) or getattr(on_runs, claim["kind"])
    try:
        return test(numbers, **arguments)
    except Inconclusive as reason:
        return Finding(INCONCLUSIVE, str(reason))


def joint_verdicts(assessed: pd.DataFrame, by: str = "statement") -> pd.DataFrame:
    """The verdicts on each statement of the paper, or on each ``sentence``: one row each, with the columns of :data:`COUNTED`.

    A statement or sentence with several claims gets their verdict if all have the same, and otherwise holds in part.
    Inconclusive claims are ignored unless all are inconclusive. In the stricter comparison, the claims against FRAC (fair)
    replace the other claims of their statements. The rows of table 5, sentence 0, are no sentence.
    """
    is_stricter = assessed["comparison"] == STRICTER
    is_replaced = assessed["statement"].isin(assessed.loc[is_stricter, "statement"]) & ~is_stricter
    columns = {
        "paper": assessed.loc[~is_stricter, [by, "verdict_paper"]],
        "ours": assessed.loc[~is_stricter, [by, "verdict_ours"]],
        "stricter": assessed.loc[~is_replaced, [by, "verdict_ours"]],
    }
    joint = {name: rows.groupby(by, sort=False).agg(_joint_verdict).iloc[:, 0] for name, rows in columns.items()}
    frame = pd.DataFrame(joint).reindex(assessed[by].unique()).rename_axis(by)
    return frame.drop(index=0, errors="ignore").reset_index()


def _joint_verdict(verdicts: pd.Series) -> str:
    distinct = set(verdicts) - {INCONCLUSIVE}
    return IN_PART if len(distinct) > 1 else distinct.pop() if distinct else INCONCLUSIVE


def counts(assessed: pd.DataFrame, by: str = "statement") -> pd.DataFrame:
    """How many statements or sentences have each verdict: one row per verdict, with ``verdict`` and :data:`COUNTED`."""
    joint = joint_verdicts(assessed, by)
    columns = {column: joint[column].value_counts().reindex(VERDICTS, fill_value=0) for column in COUNTED}
    return pd.DataFrame(columns).rename_axis("verdict").reset_index()


def describe_counts(verdicts: pd.Series) -> str:
    """The counts of the verdicts in words: "12 hold, 1 holds in part, 3 do not hold, 1 is inconclusive"."""
    plurals = {HOLDS: "hold", IN_PART: "hold in part", FAILS: "do not hold", INCONCLUSIVE: "are inconclusive"}
    plurals[NOT_TESTED] = "are not tested"
    singulars = dict(zip(VERDICTS, VERDICTS, strict=True))
    singulars |= {INCONCLUSIVE: "is inconclusive", NOT_TESTED: "is not tested"}
    numbers = verdicts.value_counts()
    return ", ".join(counted(int(numbers[value]), singulars[value], plurals[value]) for value in VERDICTS if value in numbers)


# ---- as Markdown -----------------------------------------------------------------------------------------------------


def to_markdown(assessed: pd.DataFrame) -> str:
    """The counts, and for each subject a table of verdicts, and each claim with its sentence, test and numbers."""
    header = ["# What the paper says, and what the numbers say\n"]
    for by in ("statement", "sentence"):
        table = markdown_table(counts(assessed, by).rename(columns=COUNTED))
        header += [f"{len(joint_verdicts(assessed, by))} {by}s, each counted once:\n", *table, ""]
    return "\n".join([*header, *(_section(subject, group) for subject, group in assessed.groupby("subject", sort=False))])


def _section(subject: str, claims: pd.DataFrame) -> str:
    titles = {"claim_in_short": "claim", "verdict_paper": "by the paper's numbers", "verdict_ours": "by our numbers"}
    overview = [*markdown_table(claims[list(titles)].rename(columns=titles)), ""]
    return "\n".join([f"## {subject}\n", *overview, *map(_entry, claims.to_dict("records"))])


def _entry(row: dict) -> str:
    lines = [
        f"### {row['claim_in_short']}\n",
        f"> {row['statement']}\n",
        f"{row['test']}\n",
        f"- the paper: **{row['verdict_paper']}**. {row['statistic_paper']}",
        f"- ours: **{row['verdict_ours']}**. {row['statistic_ours']}",
    ]
    optional = {"controls": "- controls: {}", "evidence": "- evidence: `{}`", "remark": "- {}"}
    lines += [text.format(row[column]) for column, text in optional.items() if row[column]]
    return "\n".join([*lines, ""])
