# The configuration, the grid's paths and wildcards, and the fingerprints of the steps; no rule.

import json
import os
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

# The package comes from beside the Snakefile, not from what the environment has installed.
sys.path.insert(0, workflow.basedir)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [workflow.basedir, os.environ.get("PYTHONPATH")]))

from clusterlets.benchmark.abandoned import remove_locks
from clusterlets.benchmark.configuration import check_configuration, set_mirror
from clusterlets.benchmark.costs import seconds_per_job
from clusterlets.benchmark.fingerprints import data_files, fingerprint, locked_versions
from clusterlets.benchmark.grid import cells
from clusterlets.benchmark.provenance import LIBRARIES
from clusterlets.datasets import CLASS, describe, names
from clusterlets.errors import ClusterletsError
from clusterlets.matching import MATCHERS

try:
    config = check_configuration(config, f"{workflow.basedir}/workflow/schemas/config.schema.yaml")
except ClusterletsError as error:
    raise WorkflowError(str(error)) from None
set_mirror(config)


def stop_as_ctrl_c_does():
    """SIGTERM ends the run as Ctrl-C does. Snakemake's answer takes a lock that it may hold just then, and hangs."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


# Of a run that was killed outright nothing is left that somebody would have to remove; not inside a cluster's jobs.
if workflow.is_main_process:
    stop_as_ctrl_c_does()
    ALIVE = remove_locks(Path(".snakemake"))


# Again, as Snakemake's scheduler has set its own by now.
onstart:
    stop_as_ctrl_c_does()


OUT = config["results"]
STEP = "python -m clusterlets"
# What results depend on, for the steps that sum up the grid; where the raw files came from is not a part of it.
SETTINGS = json.dumps({key: value for key, value in config.items() if key != "mirror"})
CELLS = [f"{OUT}/{cell.path}" for cell in cells(config)]

# For the estimate that a run shows. Tables of a person's own count once somebody has counted their rows.
ROWS = [describe(table["name"])["rows"] for table in config["tables"].values() if "path" not in table]
logger.info("", extra={"seconds_per_job": seconds_per_job(ROWS, config)})


def step_fingerprint(*modules, libraries=("numpy",), files=()):
    """What a step's result depends on besides its inputs and options."""
    return fingerprint(modules, locked_versions(f"{workflow.basedir}/requirements.lock", libraries), files)


# Of the step of a cell, for every matcher that takes hops; each is one module.
MATCHING_CODE = {
    name: step_fingerprint("benchmark.steps.matching", matcher.module.removeprefix("clusterlets."))
    for name, matcher in MATCHERS.items()
    if matcher.parameter == "hops"
}


wildcard_constraints:
    dataset="|".join(map(re.escape, [*config["tables"], *names()])),
    source="clusterlets|frac|yardsticks",
    matcher="|".join(MATCHING_CODE),
    k=r"[2-9]|[1-9]\d+",
    hops=r"[1-9]\d*",
    omega=r"0(\.\d+)?|1",
    seeds=r"\d+-\d+",


def settings_of(dataset):
    """The configured settings of a table; of one that only a file name asks for, the paper's."""
    return config["tables"].get(dataset, {"name": dataset, "colour": [CLASS], "scaling": config["scaling"]})


def prepared(suffix):
    """A prepared table. It lies with the results, so that other settings in another results folder leave it alone."""
    return f"{OUT}/prepared/{{dataset}}.{suffix}"


def of_block(kind, source):
    """The file that a kind of step makes for one dataset, k and block of seeds."""
    return f"{OUT}/{kind}/{{dataset}}/{source}/k{{k}}/seeds{{seeds}}.npz"


def log_of_block(step):
    """The log of such a step."""
    return f"{OUT}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"
