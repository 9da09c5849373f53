# The configuration, its plan, and the checks before a run; no rules. Paths, inputs, parameters and fingerprints come from
# clusterlets/benchmark/grid/plan.py.

import contextlib
import json
import os
import sys


class ErrorForUsers(WorkflowError):
    """An error of which Snakemake prints only the message. With a traceback, it would also print lines of code."""

    __traceback__ = property(lambda self: None, lambda self, value: None)  # Python's context managers set it


if not os.path.isdir(CHECKOUT):
    raise ErrorForUsers(
        f"The jobs run the package next to the Snakefile, but {CHECKOUT} is not a folder on this machine. Clone the "
        "repository, and name the clone's Snakefile in the module (docs/extending.md)."
    )

# Here and in the jobs, use the package next to the Snakefile, not an installed one. The folder holds only a link to it, because
# a user's file in the checkout or the working folder must not replace a library's module. The jobs' `python` is the one that runs
# Snakemake, even if its environment is not activated; conda's environments come first all the same.
PYTHONPATH = f"{CHECKOUT}/workflow/pythonpath"
sys.path = [PYTHONPATH, *(folder for folder in sys.path if folder != CHECKOUT)]  # Snakemake puts the checkout there
os.environ.update(
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]),
    PYTHONPATH=os.pathsep.join(filter(None, [PYTHONPATH, os.environ.get("PYTHONPATH")])),
    PYTHONSAFEPATH="1",
    PYTHONUTF8="1",
)
from clusterlets.errors import ClusterletsError
from clusterlets.benchmark.grid.configuration import (
    check_configuration,
    read_config_options,
    read_file,
    set_mirror,
)
from clusterlets.benchmark.grid.fingerprints import analysis_code, parameters, step_code
from clusterlets.benchmark.grid.locks import LOCK, PLANNED
from clusterlets.benchmark.grid.paths import (
    CELL,
    CELL_LOG,
    FIT_LOG,
    GEOMETRY,
    PLAIN_COST,
    batch_log,
    batch_path,
    fit_path,
    prepared_path,
)
from clusterlets.benchmark.grid.plan import Plan, results_settings
from clusterlets.benchmark.grid.preflight import check_paths, check_writable, fetch_all, full_disk
from clusterlets.methods import COMPILED
from clusterlets.benchmark.paper.table_names import NAMES as NAMES_OF_TABLES
from clusterlets.benchmark.provenance.environment import LIBRARIES, installed
from clusterlets.benchmark.provenance.libraries import unlike_lock
from clusterlets.benchmark.report import figures

# The versions in the fingerprints of the jobs, which refuse others. With conda, these are the locked ones.
if workflow.is_main_process or PLANNED not in os.environ:
    versions = {} if workflow.deployment_settings.deployment_method else installed()
    os.environ.update({PLANNED: json.dumps(versions)})


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
        # Even a dry run writes there.
        check_writable(".snakemake", "work in another folder: --directory FOLDER, with an absolute path after --snakefile")
        if missing_files := plan.missing_files():
            logger.info(
                "To be fetched before anything else: "
                + "; ".join(f"{name} ({', '.join(files)})" for name, files in missing_files.items())
                + f". To leave them out: --config exclude={','.join(missing_files)}"
            )
set_mirror(config)
OUT = plan.results
# The environments that rules need, relative to the rules. They are used only with profiles/conda.
FETCH, CLUSTER, ANALYSIS = (f"../../envs/{name}.yaml" for name in ("fetch", "cluster", "analysis"))
# The step replaces the shell, so that it learns at once when Snakemake is killed.
shell.prefix("set -euo pipefail; exec ")


wildcard_constraints:
    **plan.wildcard_constraints(),


include: "workarounds.smk"


onstart:
    prepare_scheduler()
    with errors_for_users():
        check_writable(OUT, f"name another folder: --config results=FOLDER in place of {OUT}")
        # Here and not only in the jobs of fetch_dataset, because nothing of the grid may start without one of its tables. Were
        # the list of all tables an "ancient" input of the grid's jobs, Snakemake would overlook changes of their parameters.
        fetched = [job.wildcards.dataset for job in workflow.dag.needrun_jobs() if job.rule.name.endswith("fetch_dataset")]
        fetch_all(fetched, config["mirror"])
    if other_versions := unlike_lock(versions):
        logger.warning(
            f"The environment has {', '.join(other_versions)} in {LOCK.name}. The run goes on, and its provenance records them."
        )
    planned_jobs = [(job.rule.name, job.wildcards_dict.get("method", "")) for job in workflow.dag.needrun_jobs()]
    logger.info("", extra={"planned_jobs": planned_jobs})  # for the time left, which the logger plugin shows


onerror:
    if advice := full_disk(OUT if os.path.isdir(OUT) else "."):
        logger.error(advice)


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
