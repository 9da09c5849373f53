# The configuration, its plan, and the checks before a run; no rules. Paths, inputs, parameters and fingerprints come from
# clusterlets/grid/plan.py.

import functools
import json
import os
import sys
from pathlib import Path


class WorkflowError(WorkflowError):
    """An error for users, which Snakemake shows without the lines of this file: it appends what a traceback names."""

    __traceback__ = None


if not os.path.isdir(CHECKOUT):
    raise WorkflowError(
        f"The jobs run the package next to the Snakefile, and {CHECKOUT} is not a folder. Clone the repository, and name the "
        "clone's Snakefile in the module (docs/extending.md)."
    )
if workflow.modifier.path_modifier.prefix or workflow.modifier.path_modifier.modifies_prefixes:
    raise WorkflowError(
        "This workflow does not support prefix: or replace_prefix: in a module, which change the paths of files and not the "
        "parameters that name them. Set results: in the configuration instead (docs/extending.md)."
    )
if set("{}") & set(CHECKOUT):
    raise WorkflowError(
        f"The checkout is in {CHECKOUT}, but Snakemake reads braces in a path as a wildcard. Move it to a folder without braces."
    )

# Use the package next to the Snakefile, not an installed one, and import nothing else from that folder: a user's file there
# must not replace a library's module. For the jobs, workflow/step.py does the same.
sys.path.insert(0, CHECKOUT)
import clusterlets

sys.path = [folder for folder in sys.path if folder != CHECKOUT]
# The jobs' Python and Snakemake on a cluster's node must not import modules from the working folder.
os.environ.update(PYTHONSAFEPATH="1")
from clusterlets.errors import ClusterletsError
from clusterlets.grid.configuration import check_configuration, check_spelling, check_words, set_mirror
from clusterlets.grid.paths import CELL, CELL_LOG, FIT_LOG, GEOMETRY, PLAIN_COST, block_log, block_path, fit_path, prepared_path
from clusterlets.grid.plan import Plan, results_settings
from clusterlets.grid.preflight import check_writable
from clusterlets.grid.step_fingerprints import analysis_fingerprint, step_fingerprint
from clusterlets.methods import COMPILED
from clusterlets.provenance.environment import LIBRARIES, check_libraries
from clusterlets.report import captions, figures
from clusterlets.steps.options import shell_line, shell_prefix
from clusterlets.storage import result_place


def without_traceback(function):
    """A function whose errors for users Snakemake shows without a traceback."""

    @functools.wraps(function)
    def wrapped(*arguments):
        try:
            return function(*arguments)
        except ClusterletsError as error:
            raise WorkflowError(str(error)) from None

    return wrapped


if workflow.main_snakefile == f"{CHECKOUT}/Snakefile":  # a workflow that imports this one spells as it likes
    for file in workflow.configfiles:
        without_traceback(check_spelling)(file)
    without_traceback(check_words)(workflow.config_settings.config_args)
config = without_traceback(check_configuration)(config, f"{CHECKOUT}/workflow/schemas/config.schema.yaml")
without_traceback(figures.declarations)()
set_mirror(config)
plan = without_traceback(Plan)(config)
OUT = plan.results
# For the directive "cache", which without --cache would make Snakemake warn of each rule.
CACHE = workflow.enable_cache
# The environments that rules need, relative to the rules; only with profiles/conda does conda create them.
FETCH, CLUSTER, ANALYSIS = (f"../../envs/{name}.yaml" for name in ("fetch", "cluster", "analysis"))
# Snakemake formats the prefix like every shell line, so its own braces are doubled.
shell.prefix(shell_prefix(CHECKOUT, plan.limits).replace("{", "{{").replace("}", "}}"))
# For the estimate that a run shows.
logger.info("", extra={"seconds_per_job": plan.seconds_per_job()})


wildcard_constraints:
    **plan.wildcard_constraints(),


if workflow.is_main_process:  # not inside a cluster's jobs
    without_traceback(check_writable)(".snakemake")  # even a dry run writes there


include: "workarounds.smk"


onstart:
    prepare_scheduler()
    without_traceback(check_writable)(OUT)
    if not workflow.deployment_settings.deployment_method:  # with conda, each job checks its own environment
        without_traceback(check_libraries)()


def whole_configuration(wildcards):
    """The settings that results depend on, as JSON; a function, because Snakemake reads braces in a plain string as wildcards."""
    return results_settings(config)


def file_of_results(wildcards, output):
    """What a job makes, wherever the results are: Snakemake's cache knows a job by its parameters and not by its wildcards."""
    return result_place(output[0])


def optional_input(name):
    """The path of an input that only some cells have, else nothing."""
    return lambda wildcards, input: input.get(name, "")


# Snakemake reads these files only when it makes its own report.
CAPTIONS = f"{os.getcwd()}/.snakemake/captions"
if workflow.is_main_process:
    captions.write(CAPTIONS)


def captioned(path):
    """A result for Snakemake's own report: with a caption, below a category, and labelled by what it is and its form.

    The label of a file that every variant has also names the folder.
    """
    result = path.removeprefix("{place}/").removeprefix(f"{OUT}/").rpartition(".")[0]
    category, _ = captions.by_result()[result]
    name, suffix = Path(path).stem.replace("_", " "), Path(path).suffix
    name += " of {place}" if "{place}" in path else ""
    form = {".md": "Markdown", ".tex": "LaTeX", ".txt": "text"}.get(suffix, suffix[1:].upper())
    return report(
        path,
        caption=f"{CAPTIONS}/{captions.file_of(result)}",
        category=category,
        labels={"result": name, "form": form},
    )


def report_inputs(wildcards):
    """All results but the pages, which show what these have cost."""
    pages = {*rules.write_report.output, *rules.write_leaderboard.output}
    return [result for result in [*RESULTS, DATA_LIST] if result not in pages]


def rule_fingerprints(wildcards):
    """Every rule's fingerprint, as JSON."""
    codes = {rule.name: rule.params.get("code") for rule in workflow.rules}
    return json.dumps(plan.rule_fingerprints(codes), sort_keys=True)


# What was named with --configfile, relative to the working folder.
CONFIGFILES = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
