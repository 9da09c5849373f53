"""Whether a claim about Clusterlets also holds for controls: clusterings that are not meant to be fair.

A control takes the place of Clusterlets, and the claim is judged as before. The controls are random partitions, plain k-means
and the undivided data. Runs of the first two are selected by the same rule as those of Clusterlets. The undivided data are a
single cluster of all instances. The rule would exclude this degenerate clustering, but here it is allowed.
"""

from collections.abc import Callable, Mapping

import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.paper import reported, tables
from clusterlets.benchmark.paper.claims.findings import INCONCLUSIVE, Finding
from clusterlets.benchmark.paper.claims.numbers import Numbers

#: Kinds of claims that are only about selected runs, and can be tested on the runs of any method.
KINDS = ("within", "attained", "higher", "lower", "times_lower", "beats_random", "relative_spread_higher", "worse")
UNDIVIDED = "undivided data"


def in_place_of_clusterlets(runs: pd.DataFrame, control: str) -> Numbers:
    """Our numbers with a control's runs in place of those of Clusterlets. The runs of all other methods stay.

    The control's runs are labelled as runs of the matcher C, so that claims about the best runs of C can be tested on them too.
    """
    relabelled = runs[runs["method"] == control].assign(method="Clusterlets", matcher="C")
    runs_with_control = pd.concat([runs[runs["method"] != "Clusterlets"], relabelled], ignore_index=True)
    return Numbers.from_runs(runs_with_control, tables.make(runs_with_control, reported.TABLES))


def undivided(our_tables: Mapping[str, tables.Table], cohesion: Mapping[str, float]) -> Numbers:
    """Our tables 2 and 4 with the undivided data as the run of Clusterlets, and an empty table 3.

    ``cohesion`` maps datasets to the cohesion of the undivided data. Their deviation is zero.
    """
    table2, table3, table4 = (our_tables[name].frame for name in reported.TABLES[1:4])
    rows = pd.DataFrame({"dataset": [name for name in table2["dataset"] if name in cohesion]})
    zeros = dict.fromkeys(("deviation_mean", "deviation_std", "deviation_max", "overlap"), 0.0)
    rows = rows.assign(size=1, cohesion=rows["dataset"].map(cohesion).astype(float), **zeros)
    others = table4[table4["method"] != "Clusterlets"]
    return Numbers(
        {
            reported.TABLES[1]: rows,
            reported.TABLES[2]: table3[:0],
            reported.TABLES[3]: pd.concat([rows.assign(method="Clusterlets"), others], ignore_index=True),
        }
    )


def all_controls(
    runs: pd.DataFrame, our_tables: Mapping[str, tables.Table], cohesion: Mapping[str, float]
) -> dict[str, Numbers]:
    """The numbers of each control, by name. Controls without runs, or with cohesion on too few datasets, are left out."""
    controls_with_runs = [name for name in statistics.CONTROLS[::-1] if (selection.ok(runs)["method"] == name).any()]
    numbers = {name: in_place_of_clusterlets(runs, name) for name in controls_with_runs}
    n_measured = sum(name in cohesion for name in our_tables[reported.TABLES[1]].frame["dataset"])
    if not reported.why_too_few(n_measured):
        numbers[UNDIVIDED] = undivided(our_tables, cohesion)
    return numbers


def describe(claim: dict, ours: Numbers, controls: Mapping[str, Numbers], judge: Callable[[dict, Numbers], Finding]) -> str:
    """The verdict on each control that the claim can be tested on, with its statistic; "" if all verdicts are inconclusive."""
    if claim["kind"] == "not_behind":  # the rankings in ``ours`` include the controls
        claims = {name: claim | {"parameters": claim["parameters"] | {"contenders": [name]}} for name in controls}
        findings = {name: judge(control_claim, ours) for name, control_claim in claims.items()}
    else:
        findings = {name: judge(claim, numbers) for name, numbers in controls.items() if claim["kind"] in KINDS}
    conclusive = {name: finding for name, finding in findings.items() if finding.verdict != INCONCLUSIVE}
    return "; ".join(
        f"{name}: {finding.verdict} ({finding.statistic.partition(';')[0]})" for name, finding in conclusive.items()
    )
