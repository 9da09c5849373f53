# The configuration, its plan, and the checks before a run; no rules. Paths, inputs, parameters and fingerprints come from
# clusterlets/benchmark/grid/plan.py.

import contextlib
import json
import os
import sys


class ErrorForUsers(WorkflowError):
    """An error of which Snakemake prints only the message. With a traceback, it would also print lines of code."""

    __traceback__ = None


if not os.path.isdir(CHECKOUT):
    raise ErrorForUsers(
        f"The jobs run the package next to the Snakefile, but {CHECKOUT} is not a folder on this machine. Clone the "
        "repository, and name the clone's Snakefile in the module (docs/extending.md)."
    )

# Use the package next to the Snakefile, not an installed one. Import nothing else from that folder, because a user's file there
# must not replace a library's module. workflow/step.py does the same for the jobs.
sys.path.insert(0, CHECKOUT)
import clusterlets

sys.path = [folder for folder in sys.path if folder != CHECKOUT]
# Neither the Python of jobs nor a Snakemake on a cluster's node may import modules from the working folder.
os.environ.update(PYTHONSAFEPATH="1")
from clusterlets.errors import ClusterletsError
from clusterlets.benchmark.grid.configuration import (
    check_configuration,
    read_config_options,
    read_file,
    set_mirror,
)
from clusterlets.benchmark.grid.fingerprints import analysis_code, parameters, step_code
from clusterlets.benchmark.grid.paths import CELL, CELL_LOG, FIT_LOG, GEOMETRY, PLAIN_COST, batch_log, batch_path, fit_path, prepared_path
from clusterlets.benchmark.grid.plan import Plan, results_settings
from clusterlets.benchmark.grid.preflight import check_paths, check_writable
from clusterlets.methods import COMPILED
from clusterlets.benchmark.paper.table_names import NAMES as NAMES_OF_TABLES
from clusterlets.benchmark.provenance.environment import LIBRARIES, check_libraries
from clusterlets.benchmark.report import figures
from clusterlets.benchmark.steps.options import shell_line, shell_prefix


@contextlib.contextmanager
def errors_for_users():
    """Show only the message of an error of the package."""
    try:
        yield
    except ClusterletsError as error:
        raise ErrorForUsers(str(error)) from None


with errors_for_users():
    path_modifier = workflow.modifier.path_modifier
    check_paths(CHECKOUT, module_moves_files=bool(path_modifier.prefix or path_modifier.modifies_prefixes))
    if workflow.main_snakefile == f"{CHECKOUT}/Snakefile":  # else the files belong to a workflow that imports this one
        for file in workflow.configfiles:
            read_file(file)
        config = read_config_options(config, workflow.config_settings.config_args)
    config = check_configuration(config, f"{CHECKOUT}/workflow/schemas/config.schema.yaml")
    figures.declarations()  # an error in a figure's file is shown like those above
    plan = Plan(config)
    if workflow.is_main_process:  # not inside a cluster's jobs
        check_writable(".snakemake")  # even a dry run writes there
set_mirror(config)
OUT = plan.results
# The environments that rules need, relative to the rules. They are used only with profiles/conda.
FETCH, CLUSTER, ANALYSIS = (f"../../envs/{name}.yaml" for name in ("fetch", "cluster", "analysis"))
shell.prefix(shell_prefix(CHECKOUT, plan.budget, json.dumps(list(workflow.config_settings.config_args or []))))


wildcard_constraints:
    **plan.wildcard_constraints(),


include: "workarounds.smk"


onstart:
    prepare_scheduler()
    with errors_for_users():
        check_writable(OUT)
        if not workflow.deployment_settings.deployment_method:  # with conda, each job checks its own environment
            check_libraries()
    planned_jobs = [(job.rule.name, job.wildcards_dict.get("method", "")) for job in workflow.dag.needrun_jobs()]
    logger.info("", extra={"planned_jobs": planned_jobs})  # for the time left, which the logger plugin shows


def grid_settings(wildcards):
    """The settings that the results depend on, as JSON. A function, because Snakemake reads braces in a string as wildcards."""
    return results_settings(config)


def reported(path, category):
    """A result in Snakemake's own report. The label of a file that every variant has contains the variant's folder."""
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    label = stem.replace("_", " ") + (f" of {folder}" if "{" in folder else "")
    return report(path, category=category, labels={"result": label, "format": suffix})


# The files named with --configfile, relative to the working folder.
CONFIGFILES = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
