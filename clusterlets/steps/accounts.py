"""The step that adds up what the jobs cost, and says what they ran on."""

import json
from pathlib import Path

import pandas as pd

from clusterlets.grid import accounts, provenance
from clusterlets.grid.runs_frame import write_csv
from clusterlets.report.figures import runtime
from clusterlets.report.figures.style import save
from clusterlets.storage import save_json


def account(config: str, logs: str, after: str, fingerprints: str, lock: str, output: str) -> None:
    """Time and memory by step as steps.csv, runtime.pdf and runtime.png, those of every fit as fits.csv, and
    provenance.json.

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
    write_csv(folder / "fits.csv", pd.DataFrame(counted.fits, columns=accounts.FIT_COLUMNS))
    save(runtime.draw(steps), folder / "runtime")
    told = {
        **provenance.software(lock),
        "source": provenance.source(),
        "machine": provenance.machine(),
        "jobs": {**counted.span, "counted": len(counted.jobs), "logs_left_out": counted.left_out},
        "settings": settings,
        "fingerprints": json.loads(fingerprints),
    }
    save_json(folder / "provenance.json", told)
