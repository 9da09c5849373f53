"""The step that adds up the time and memory of the jobs, and records the machine and software that they ran on."""

import json
from pathlib import Path

import pandas as pd

from clusterlets.benchmark.analysis import fit_costs
from clusterlets.benchmark.grid.locks import LOCK
from clusterlets.benchmark.grid.runs_frame import write_csv
from clusterlets.benchmark.provenance import accounts, environment
from clusterlets.storage import save_json


def account(
    config: str, configfiles: str, config_options: str, logs: str, ignored_rules: str, output: str, lock: str = str(LOCK)
) -> None:
    """Write the time and memory of every step, fit and configuration (CSV), and what the run was made with (JSON).

    configfiles: the files that the configuration was read from besides config.yaml, as JSON; they are kept verbatim
    config_options: what followed --config on the command line, as JSON
    logs: folders of the jobs' logs, separated by commas
    ignored_rules: rules that run after this one, separated by commas; their logs are ignored
    lock: the pip lock file
    output: folder of the accounts
    """
    settings, folder = json.loads(config), Path(output)
    jobs_and_fits = accounts.read(map(Path, logs.split(",")), settings, ignored_rules.split(","))
    steps = pd.DataFrame(jobs_and_fits.by_step(), columns=accounts.COLUMNS)
    write_csv(folder / "steps.csv", steps)
    fits = pd.DataFrame(jobs_and_fits.fits, columns=accounts.FIT_COLUMNS)
    write_csv(folder / "fits.csv", fits)
    costs = fit_costs.by_configuration(fits, settings["method_settings"])
    write_csv(folder / "leaderboard_costs.csv", costs)
    provenance = {
        **environment.software(lock),
        "source": environment.source(),
        "machine": environment.machine(),
        "jobs": {**jobs_and_fits.span, "counted": len(jobs_and_fits.jobs)},
        "settings": settings,
        "configfiles": {path: Path(path).read_text(encoding="utf-8") for path in json.loads(configfiles)},
        "config_options": json.loads(config_options),
    }
    save_json(folder / "provenance.json", provenance)
