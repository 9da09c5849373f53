"""The step that adds up what the jobs cost, and says what they ran on."""

import json
from pathlib import Path

import pandas as pd

from clusterlets.analysis import fit_costs
from clusterlets.grid.runs_frame import read_lines, write_csv
from clusterlets.provenance import accounts, environment
from clusterlets.report.figures import runtime, seconds_against_rows
from clusterlets.report.figures.style import save
from clusterlets.steps import Input
from clusterlets.storage import save_json


def account(datasets: Input, config: str, logs: str, after: str, fingerprints: str, lock: str, output: str) -> None:
    """Time and memory by step as steps.csv and runtime, those of every fit as fits.csv, of every configuration as
    leaderboard_costs.csv, against the rows of the tables as seconds_against_rows, and provenance.json.

    datasets: the prepared tables, with their rows (.csv)
    config: the workflow's configuration, as JSON
    logs: folders of the jobs' logs, separated by commas
    after: rules that run after this one, whose logs do not count, separated by commas
    fingerprints: fingerprint of every rule, as JSON
    lock: the pip lock file
    output: folder of the accounts
    """
    settings, folder = json.loads(config), Path(output)
    counted = accounts.read(map(Path, logs.split(",")), settings, after.split(","))
    steps = pd.DataFrame(counted.by_step(), columns=accounts.COLUMNS)
    write_csv(folder / "steps.csv", steps)
    fits = pd.DataFrame(counted.fits, columns=accounts.FIT_COLUMNS)
    write_csv(folder / "fits.csv", fits)
    save(runtime.draw(steps), folder / "runtime")
    costs = fit_costs.by_configuration(fits, settings["grids"])
    write_csv(folder / "leaderboard_costs.csv", costs)
    rows = read_lines(datasets).set_index("dataset")["rows"]
    save(seconds_against_rows.draw(costs, rows), folder / "seconds_against_rows")
    provenance = {
        **environment.software(lock),
        "source": environment.source(),
        "machine": environment.machine(),
        "jobs": {**counted.span, "counted": len(counted.jobs), "logs_left_out": counted.left_out},
        "settings": settings,
        "fingerprints": json.loads(fingerprints),
    }
    save_json(folder / "provenance.json", provenance)
