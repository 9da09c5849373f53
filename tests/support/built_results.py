"""Build a results folder like that of the workflow, from given runs and invented findings. The tests of the report use it."""

import json
import shutil

import pandas as pd

from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.benchmark.paper.claims import COLUMNS, OWN
from clusterlets.benchmark.report.figures import declarations
from clusterlets.benchmark.steps.analyse import analyse
from clusterlets.benchmark.steps.write_leaderboard import write_leaderboard
from clusterlets.benchmark.steps.write_report import write_report
from clusterlets.pages.style import plt, save
from clusterlets.storage import save_json

SETTINGS = read_configuration()

CLAIMS = pd.DataFrame(
    [
        {
            "claim": "c_first",
            "subject": "matchers",
            "claim_in_short": "C is first",
            "evidence": "tables/table1_matchers.csv",
            "statistic_paper": "C .029",
            "verdict_paper": "holds",
            "statistic_ours": "C 0.031",
            "verdict_ours": "holds",
        },
        {
            "claim": "cohesion",
            "subject": "cohesion",
            "claim_in_short": "Cohesion is high",
            "verdict_paper": "holds",
            "statistic_ours": "8 of 10 & <b>",
            "verdict_ours": "holds in part",
            "remark": "Heloc is open.",
            "evidence": "comparison.csv; tables/table3_best_by_cohesion.csv",
            "controls": "random: holds (10 of 10 datasets)",
        },
        {
            "claim": "order",
            "subject": "FRAC",
            "claim_in_short": "Ten times below FRAC",
            "verdict_paper": "holds in part",
            "statistic_paper": "12.1",
            "statistic_ours": "0.4",
            "verdict_ours": "does not hold",
            "evidence": "tables/table4_frac_vs_clusterlets.csv figures/cohesion_vs_deviation.png",
        },
        {
            "claim": "nbfi",
            "subject": "nbfi",
            "claim_in_short": "G-B is best on nbfi",
            "verdict_paper": "does not hold",
            "verdict_ours": "inconclusive",
            "evidence": "statistics/statistics.csv",
            "remark": "nbfi is missing.",
        },
    ],
    columns=COLUMNS,
)
CLAIMS = fill_text(CLAIMS, *CLAIMS)
CLAIMS = CLAIMS.assign(comparison=OWN, statement=CLAIMS["claim_in_short"] + ".", sentence=1, test="A test.")
SENSITIVITY = pd.DataFrame(
    {
        "choice": ["pinball_scope", "pinball_scope", "scaling"],
        "usual": ["last", "last", "none"],
        "taken": ["cluster", "cluster", "standard"],
        "table": "table1_matchers",
        "row": ["D-PB", "D-PB", "C"],
        "quantity": ["overlap", "deviation_mean", "cohesion"],
        "baseline": [0.32, 0.11, 0.92],
        "varied": [0.65, 0.1, 0.81],
        "difference": [0.33, -0.01, -0.11],
        "reported": [0.295, 0.12, None],
        "range_over_seeds": None,
    }
)
DATASETS = pd.DataFrame(
    {
        "dataset": ["pima", "credit"],
        "source": "mirror",
        "rows": [768, 690],
        "features": [8, 10],
        "groups": ["2: 0 500, 1 268", "2: 0 383, 1 307"],
        "fingerprint ok": "yes",
        "licence": "CC0",
        "citation": "Someone, 1990.",
    }
)
COSTS = pd.DataFrame(
    {
        "dataset": ["pima"],
        "k": [10],
        "method": ["G-B"],
        "parameters": ["hops=2"],
        "fits": [10],
        "seconds": [0.25],
        "memory_mb": [61.0],
    }
)
STEPS = pd.DataFrame(
    {
        "step": ["score-method", "fit-method"],
        "jobs": [800, 50],
        "cpu_seconds": [181.25, 99.5],
        "wall_seconds": [200.0, 104.0],
        "largest_memory_mb": [61.0, 214.5],
    }
)
PROVENANCE = {
    "python": "CPython 3.11.2",
    "libraries": {"numpy": {"installed": "2.4.6", "locked": "2.4.6"}},
    "source": {"commit": "0123abcd", "dirty": False},
    "machine": {"cores": 2},
    "jobs": {"first_job_began": "2026-11-21T13:00:00Z"},
    "settings": {"k": [2]},
    "fingerprints": {f"rule_{number}": f"{number:016x}" for number in range(20)},
}


def build(runs, folder, findings=True):
    """Write the files that the workflow makes from the runs and, with ``findings``, invented results of the other steps."""
    folder.mkdir()
    runs.to_csv(folder / "runs.csv", index=False)
    analyse(str(folder / "runs.csv"), json.dumps(SETTINGS), str(folder))
    (folder / "sensitivity.csv").unlink(
        missing_ok=True
    )  # replaced by the invented one if there are findings, and missing otherwise
    if findings:
        (folder / "accounts").mkdir()
        tables = {"claims": CLAIMS, "sensitivity": SENSITIVITY, "datasets": DATASETS, "accounts/steps": STEPS}
        tables["accounts/leaderboard_costs"] = COSTS
        for name, frame in tables.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
        save_json(folder / "accounts" / "provenance.json", PROVENANCE)
    draw_placeholders(folder)
    write(folder)
    return folder


def draw_placeholders(folder):
    """Save a tiny picture, as PNG and PDF, for every figure. Tests of the figures check how these look."""
    (folder / "figures").mkdir()
    first, *others = declarations()
    save(plt.figure(figsize=(1, 0.5)), folder / "figures" / first.name)
    for figure in others:
        for suffix in ("pdf", "png"):
            shutil.copy(folder / f"figures/{first.name}.{suffix}", folder / f"figures/{figure.name}.{suffix}")


def write(folder):
    """Write report.html, and the summaries summary.txt and leaderboard.md."""
    write_report(json.dumps(SETTINGS), str(folder), str(folder / "report.html"), str(folder / "summary.txt"))
    inputs = (str(folder / f"leaderboard{name}.csv") for name in ("", "_overall", "_pairs"))
    write_leaderboard(*inputs, json.dumps(SETTINGS), "my config.yaml", str(folder / "leaderboard.md"))
