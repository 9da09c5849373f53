# The configuration, the grid's paths and wildcards, and the fingerprints of the steps; no rule.

import atexit
import json
import os
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

# The package comes from beside the Snakefile, not from what the environment has installed. In the jobs it is set by the
# shell, as Snakemake takes PYTHONPATH away where it activates a conda environment.
sys.path.insert(0, workflow.basedir)
shell.prefix("set -euo pipefail; export PYTHONPATH={workflow.basedir:q}${{PYTHONPATH:+:$PYTHONPATH}}; ")

from clusterlets.benchmark import variants
from clusterlets.benchmark.abandoned import remove_locks
from clusterlets.benchmark.configuration import check_configuration, set_mirror
from clusterlets.benchmark.costs import seconds_per_job
from clusterlets.benchmark.fingerprints import data_files, fingerprint, locked_versions, part
from clusterlets.benchmark.grid import seed_blocks
from clusterlets.benchmark.provenance import LIBRARIES
from clusterlets.benchmark.room import check_writable, scarce
from clusterlets.datasets import CLASS, describe, names
from clusterlets.errors import ClusterletsError
from clusterlets.matching import MATCHERS

try:
    config = check_configuration(config, f"{workflow.basedir}/workflow/schemas/config.schema.yaml")
except ClusterletsError as error:
    raise WorkflowError(str(error)) from None
set_mirror(config)


def refuse_where_nothing_can_be_written(folder):
    """In plain words, and before any job."""
    try:
        check_writable(folder)
    except ClusterletsError as error:
        raise WorkflowError(str(error)) from None


def stop_as_ctrl_c_does():
    """SIGTERM ends the run as Ctrl-C does. Snakemake's answer takes a lock that it may hold just then, and hangs."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


# Of a run that was killed outright nothing is left that somebody would have to remove; not inside a cluster's jobs.
if workflow.is_main_process:
    refuse_where_nothing_can_be_written(".snakemake")  # which even a dry run needs
    stop_as_ctrl_c_does()
    ALIVE = remove_locks(Path(".snakemake"))
    # Not in onerror: a full disk ends Snakemake itself before it gets there, and has no room for a job's log.
    atexit.register(lambda: print(*scarce({".", config["results"]}), sep="", end="", file=sys.stderr))


onstart:
    stop_as_ctrl_c_does()  # again, as Snakemake's scheduler has set its own by now
    refuse_where_nothing_can_be_written(OUT)


OUT = config["results"]
STEP = "python -m clusterlets"
# What a rule needs to run, from where the rules stand; conda is asked for it by profiles/conda alone.
FETCH, CLUSTER, ANALYSIS = (f"../../envs/{name}.yaml" for name in ("fetch", "cluster", "analysis"))
# The folders where cells lie, with the variant that they belong to: none for the grid itself.
PLACES = {variants.folder(OUT, variant): variant for variant in ["", *config["variants"]]}
SETTINGS = {place: variants.settings_of(config, variant) for place, variant in PLACES.items()}
# Those with tables of their own, and all that is made of them; the other variants share the grid's.
BASES = [place for place, variant in PLACES.items() if variants.has_own_tables(config, variant)]

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
    place="|".join(map(re.escape, PLACES)),
    base="|".join(map(re.escape, BASES)),
    dataset="|".join(map(re.escape, [*config["tables"], *names()])),
    source="clusterlets|frac|yardsticks",
    matcher="|".join(MATCHING_CODE),
    k=r"[2-9]|[1-9]\d+",
    hops=r"[1-9]\d*",
    omega=r"0(\.\d+)?|1",
    seeds=r"\d+-\d+",


def as_json(settings):
    """What results depend on, for the steps that sum up; where the raw files came from is not a part of it."""
    return json.dumps({key: value for key, value in settings.items() if key != "mirror"})


def setting(key):
    """A setting of a cell, which a variant may change."""
    return lambda wildcards: SETTINGS[wildcards.place][key]


def table_settings(wildcards):
    """The configured settings of a table; of one that only a file name asks for, the paper's."""
    settings = SETTINGS[wildcards.base]
    asked = {"name": wildcards.dataset, "colour": [CLASS], "scaling": settings["scaling"]}
    return settings["tables"].get(wildcards.dataset, asked)


def prepared(suffix):
    """A prepared table. It lies with the results, so that other settings in another results folder leave it alone."""
    return f"{{base}}/prepared/{{dataset}}.{suffix}"


def of_block(kind, source):
    """The file that a kind of step makes for one dataset, k and block of seeds."""
    return f"{{base}}/{kind}/{{dataset}}/{source}/k{{k}}/seeds{{seeds}}.npz"


def for_cell(path):
    """An input of a cell, as prepared or of_block name it: of the cell's own place, or else the grid's."""

    def of_wildcards(wildcards):
        base = wildcards.place if wildcards.place in BASES else OUT
        return path.format(**dict(wildcards.items()), base=base)

    return of_wildcards


def log_of_block(step, place="base"):
    """The log of such a step."""
    return f"{{{place}}}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"


def captioned(path, caption, category):
    """A result for Snakemake's own report: with a caption, below a category, and labelled by what it is and its form."""
    name, form = path.rsplit("/", 1)[1].rsplit(".", 1)
    form = {"md": "Markdown", "tex": "LaTeX", "txt": "text"}.get(form, form.upper())
    return report(
        path,
        caption=f"{workflow.basedir}/workflow/report/{caption}.rst",
        category=category,
        labels={"result": name.replace("_", " "), "form": form},
    )
