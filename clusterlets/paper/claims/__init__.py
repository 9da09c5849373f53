"""The paper's claims: each with a verdict by the paper's own numbers, and one by ours."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.paper import reported
from clusterlets.paper.claims import controls, on_runs, on_tables
from clusterlets.paper.claims.findings import FAILS, HOLDS, IN_PART, INCONCLUSIVE, VERDICTS, Finding, Inconclusive, Scale
from clusterlets.paper.claims.numbers import Numbers
from clusterlets.paper.tables import Table
from clusterlets.text import counted, markdown_table

COLUMNS = [
    *("claim", "subject", "sentence", "comparison", "claim_in_short", "test", "statistic_paper", "verdict_paper"),
    *("statistic_ours", "verdict_ours", "controls", "evidence", "remark"),
]
__all__ = [
    "COLUMNS",
    "OWN",
    "STRICTER",
    "VERDICTS",
    "Numbers",
    "assess",
    "by_sentence",
    "counts",
    "describe_counts",
    "judge",
    "to_markdown",
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


def by_sentence(assessed: pd.DataFrame) -> pd.DataFrame:
    """The verdicts on each sentence of the paper, one row per sentence, with the columns of :data:`COUNTED`.

    A sentence with several claims gets their verdict if all have the same, and otherwise holds in part. Inconclusive claims are
    ignored unless all are inconclusive. In the stricter comparison, the claims against FRAC (fair) replace the sentence's other
    claims.
    """
    rows = {}
    for sentence, group in assessed.groupby("sentence", sort=False):
        own, stricter = (group[group["comparison"] == comparison] for comparison in (OWN, STRICTER))
        rows[sentence] = {
            "paper": _joint_verdict(own["verdict_paper"]),
            "ours": _joint_verdict(own["verdict_ours"]),
            "stricter": _joint_verdict((stricter if len(stricter) else own)["verdict_ours"]),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("sentence").reset_index()


def _joint_verdict(verdicts: pd.Series) -> str:
    distinct = set(verdicts) - {INCONCLUSIVE}
    return IN_PART if len(distinct) > 1 else distinct.pop() if distinct else INCONCLUSIVE


def counts(assessed: pd.DataFrame) -> pd.DataFrame:
    """How many sentences have each verdict: one row per verdict, with the columns ``verdict`` and those of :data:`COUNTED`."""
    sentences = by_sentence(assessed)
    columns = {column: sentences[column].value_counts().reindex(VERDICTS, fill_value=0) for column in COUNTED}
    return pd.DataFrame(columns).rename_axis("verdict").reset_index()


def describe_counts(verdicts: pd.Series) -> str:
    """The counts of the verdicts in words: "12 hold, 1 holds in part, 3 do not hold, 1 is inconclusive"."""
    plurals = {HOLDS: "hold", IN_PART: "hold in part", FAILS: "do not hold", INCONCLUSIVE: "are inconclusive"}
    singulars = {**dict(zip(VERDICTS, VERDICTS, strict=True)), INCONCLUSIVE: "is inconclusive"}
    numbers = verdicts.value_counts()
    return ", ".join(counted(int(numbers[value]), singulars[value], plurals[value]) for value in VERDICTS if value in numbers)


# ---- as Markdown -----------------------------------------------------------------------------------------------------


def to_markdown(assessed: pd.DataFrame) -> str:
    """The counts, and for each subject a table of verdicts, and each claim with its sentence, test and numbers."""
    sentences = f"{assessed['sentence'].nunique()} sentences, each counted once:\n"
    table = markdown_table(counts(assessed).rename(columns=COUNTED))
    header = ["# What the paper says, and what the numbers say\n", sentences, *table, ""]
    return "\n".join([*header, *(_section(subject, group) for subject, group in assessed.groupby("subject", sort=False))])


def _section(subject: str, claims: pd.DataFrame) -> str:
    titles = {"claim_in_short": "claim", "verdict_paper": "by the paper's numbers", "verdict_ours": "by our numbers"}
    overview = [*markdown_table(claims[list(titles)].rename(columns=titles)), ""]
    return "\n".join([f"## {subject}\n", *overview, *map(_entry, claims.to_dict("records"))])


def _entry(row: dict) -> str:
    lines = [
        f"### {row['claim_in_short']}\n",
        f"> {row['sentence']}\n",
        f"{row['test']}\n",
        f"- the paper: **{row['verdict_paper']}**. {row['statistic_paper']}",
        f"- ours: **{row['verdict_ours']}**. {row['statistic_ours']}",
    ]
    optional = {"controls": "- controls: {}", "evidence": "- evidence: `{}`", "remark": "- {}"}
    lines += [text.format(row[column]) for column, text in optional.items() if row[column]]
    return "\n".join([*lines, ""])
