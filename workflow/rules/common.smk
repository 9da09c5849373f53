# The configuration, the grid's paths and wildcards, and the fingerprints of the steps; no rule.

import atexit
import functools
import json
import os
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

if set("{}") & set(CHECKOUT):
    raise WorkflowError(
        f"The checkout is in {CHECKOUT}, but Snakemake reads braces in a path as a wildcard. Move it to a folder without braces."
    )

# The package comes from beside the Snakefile, not from what the environment has installed, and nothing else comes from there: a
# file of the user's must not stand in for a library's, although Snakemake puts that folder first. In the jobs workflow/step.py
# sees to it.
sys.path.insert(0, CHECKOUT)
import clusterlets

sys.path = [folder for folder in sys.path if folder != CHECKOUT]
# No Python that this one starts takes modules from the working folder, nor does a Snakemake on a cluster's node.
os.environ.update(PYTHONSAFEPATH="1")
from clusterlets import methods
from clusterlets.datasets import CLASS, describe, names
from clusterlets.errors import ClusterletsError
from clusterlets.grid import variants
from clusterlets.grid.cells import cells, read_configuration_name
from clusterlets.grid.configuration import check_configuration, set_mirror
from clusterlets.grid.crossed_limits import to_meet
from clusterlets.grid.estimate import seconds_per_job
from clusterlets.grid.fingerprints import data_files, fingerprint, locked_versions, part
from clusterlets.provenance.libraries import refuse_others
from clusterlets.grid.preflight import check_writable, scarce
from clusterlets.grid.entries import load
from clusterlets.provenance.environment import LIBRARIES, installed
from clusterlets.grid.stale_locks import remove_locks
from clusterlets.steps.options import shell_line
from clusterlets.storage import hash_of_file

try:
    config = check_configuration(config, f"{CHECKOUT}/workflow/schemas/config.schema.yaml")
except ClusterletsError as error:
    raise WorkflowError(str(error)) from None
set_mirror(config)
LIMITS = json.dumps(config["limits"], sort_keys=True)
# The lock's place is no parameter, as no result depends on it, and the limits are none, as few results do. Names and logs are
# UTF-8 in every locale. The prefix is a pattern as every shell line is, so that its own braces are written twice.
PREFIX = (
    f"set -euo pipefail; export PYTHONUTF8=1; LOCK={shlex.quote(CHECKOUT)}/requirements.lock; LIMITS={shlex.quote(LIMITS)}; "
    f'clusterlets() {{ python -P {shlex.quote(CHECKOUT)}/workflow/step.py "$@"; }}; '
)
shell.prefix(PREFIX.replace("{", "{{").replace("}", "}}"))


def refuse_where_nothing_can_be_written(folder):
    """In plain words, and before any job."""
    try:
        check_writable(folder)
    except ClusterletsError as error:
        raise WorkflowError(str(error)) from None


def refuse_other_libraries():
    """Before any job, where jobs run in this Python's environment; each sees for itself besides."""
    python = shutil.which("python")
    is_elsewhere = python is None or os.path.dirname(python) != os.path.dirname(sys.executable)
    if is_elsewhere or workflow.deployment_settings.deployment_method:
        return
    try:
        refuse_others(installed())
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


def look_for_jobs_only_when_one_ends():
    """Snakemake looks for jobs to start whenever one ends. Under a limit on starts (100 a second by default) each look also
    orders another a second later, so that looks add up and take most of a core in the end. Local jobs need no such limit."""
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onstart:
    stop_as_ctrl_c_does()  # again, as Snakemake's scheduler has set its own by now
    look_for_jobs_only_when_one_ends()
    refuse_where_nothing_can_be_written(OUT)
    refuse_other_libraries()


OUT = config["results"]
# What a rule needs to run, from where the rules stand; conda is asked for it by profiles/conda alone.
FETCH, CLUSTER, ANALYSIS = (f"../../envs/{name}.yaml" for name in ("fetch", "cluster", "analysis"))
# The folders where cells lie, with the variant that they belong to: none for the grid itself.
PLACES = {variants.folder(OUT, variant): variant for variant in ["", *config["variants"]]}
SETTINGS = {place: variants.settings_of(config, variant) for place, variant in PLACES.items()}
# Those with tables of their own, and all that is made of them; the other variants share the grid's.
BASES = [place for place, variant in PLACES.items() if variants.has_own_tables(config, variant)]

# For the estimate that a run shows. Tables of a person's own count once somebody has counted their rows.
KNOWN = {entry: describe(table["name"]) for entry, table in config["tables"].items() if "path" not in table}
SIZES = {entry: (known["rows"], known["features"]) for entry, known in KNOWN.items()}
logger.info("", extra={"seconds_per_job": seconds_per_job(SIZES, config)})


# What a step with compiled kernels runs on; llvmlite makes the machine code.
COMPILED = ["numpy", "numba", "llvmlite"]


def step_fingerprint(*modules, libraries=("numpy",), files=(), own=()):
    """What a step's result depends on besides its inputs and options."""
    return fingerprint(modules, locked_versions(f"{CHECKOUT}/requirements.lock", libraries), files, own)


def dataset_fingerprint(step, name, libraries):
    """Of a step, the dataset's own module, which is imported by name, and all that sources.yaml says of the dataset."""

    def of_wildcards(wildcards):
        known = describe(name(wildcards))
        code = step_fingerprint(f"steps.{step}", f"datasets.{known['module']}", libraries=libraries)
        said = json.dumps(known, sort_keys=True).encode()
        entry = f"datasets/sources.yaml#{known['name']}"
        return f"{code} {part(entry, said)}"

    return of_wildcards


def analysis_fingerprint(*modules):
    """Fingerprint of a step that reads results/runs.csv, with the paper's numbers and the report's templates."""
    libraries = ["numpy", "pandas", "scipy", "scikit-posthocs", "statsmodels", "matplotlib", "seaborn", "jinja2"]
    folders = ["paper/reported", *(["report/templates"] if {"steps.report", "steps.leaderboard"} & set(modules) else [])]
    files = [file for folder in folders for file in data_files(folder)]
    return step_fingerprint(*modules, libraries=libraries, files=files)


# The methods of the grid, and those of the package, which a file name alone may ask for.
ENTRIES = {name: {"name": name} for name in methods.names()}
ENTRIES |= {
    name: {"name": name, **{key: grid[key] for key in ("path", "command", "conda") if key in grid}}
    for name, grid in config["grids"].items()
}
METHODS = {name: load(entry) for name, entry in ENTRIES.items()}
MATCHERS = {name for name, method in METHODS.items() if method.needs}


def method_fingerprint(step):
    """Of a step that runs a method: the method's file and libraries are a part of it, and other methods' are not."""

    def of_wildcards(wildcards):
        numeric = ["numpy", *(COMPILED if wildcards.method not in MATCHERS else [])]
        libraries = dict.fromkeys([*numeric, *METHODS[wildcards.method].libraries])
        return step_fingerprint(
            step, "methods", *modules_of([wildcards.method]), libraries=libraries, own=files_of([wildcards.method])
        )

    return of_wildcards


def modules_of(names):
    """The modules of those of some methods that come with the package."""
    own = [name for name in names if ENTRIES[name].keys() & {"path", "command"}]
    return [METHODS[name].__module__.removeprefix("clusterlets.") for name in names if name not in own]


def files_of(names):
    """The files of those of some methods that are a person's own."""
    return [ENTRIES[name]["path"] for name in names if "path" in ENTRIES[name]]


def parameters_of(wildcards):
    """The parameters of a cell's method, from the name of its file."""
    method = METHODS[wildcards.method]
    grid = config["grids"].get(wildcards.method, {"parameters": {}})
    known = {*(methods.parameters_of(method) or []), *grid["parameters"]}
    try:
        k, parameters = read_configuration_name(f"k{wildcards.k}{wildcards.parameters}", known, grid["parameters"])
    except ValueError:
        raise WorkflowError(
            f"{wildcards.method} has no configuration k{wildcards.k}{wildcards.parameters}; its parameters: {', '.join(sorted(known)) or 'none'}."
        ) from None
    faults = method().faults(k, **parameters)
    if faults:
        raise WorkflowError(
            f"{wildcards.method} has no configuration k{wildcards.k}{wildcards.parameters}: {'; '.join(faults)}."
        )
    return json.dumps(parameters)


def entry_of(wildcards):
    """Where a cell's method comes from, as its jobs read it."""
    return json.dumps(ENTRIES[wildcards.method])


def limits_to_meet(path):
    """The limits, for a cell that crossed others; by wildcards, as Snakemake takes what follows from outputs for no change."""
    return lambda wildcards: to_meet(path.format(**dict(wildcards.items())), LIMITS)


def settings_of_method(wildcards):
    """Keys of the configuration that a cell's method takes as parameters, by the parameter's name."""
    settings = METHODS[wildcards.method].settings
    return json.dumps({name: SETTINGS[wildcards.place][key] for name, key in settings.items()})


wildcard_constraints:
    place="|".join(map(re.escape, PLACES)),
    base="|".join(map(re.escape, BASES)),
    dataset="|".join(map(re.escape, [*config["tables"], *names()])),
    method="|".join(map(re.escape, METHODS)),
    k="[2-9]|[1-9][0-9]+",
    # As grid.configuration writes it; parameters_of refuses what it does not.
    parameters="(?:_[A-Za-z0-9%.+-]+)*",
    seeds="[0-9]+-[0-9]+",


def as_json(settings):
    """What results depend on, for the steps that sum up; where the raw files came from is not a part of it.

    To be called in a function: in plain text Snakemake would take a name in braces, as a column may have, for a wildcard.
    """
    return json.dumps({key: value for key, value in settings.items() if key != "mirror"})


def whole_configuration(wildcards):
    """A function, as Snakemake would take "{pct}" in a text, a column's name say, for a wildcard."""
    return as_json(config)


def setting(key):
    """A setting of a cell, which a variant may change."""
    return lambda wildcards: SETTINGS[wildcards.place][key]


def table_settings(wildcards):
    """The configured settings of a table; of one that only a file name asks for, the paper's."""
    settings = SETTINGS[wildcards.base]
    if wildcards.dataset in settings["tables"]:
        return settings["tables"][wildcards.dataset]
    duplicates = describe(wildcards.dataset)["duplicates"]
    return {"name": wildcards.dataset, "sensitive": [CLASS], "duplicates": duplicates, "scaling": settings["scaling"]}


@functools.cache
def content_of_user_table(path):
    """SHA-256 of a table of a person's own, read once."""
    try:
        return hash_of_file(path)
    except OSError as error:
        raise WorkflowError(f"The table {path} cannot be read ({error.strerror}).") from None


def prepared(suffix):
    """A prepared table. It lies with the results, so that other settings in another results folder leave it alone."""
    return f"{{base}}/prepared/{{dataset}}.{suffix}"


def of_block(kind, source="clusterlets"):
    """The file that a kind of step makes for one dataset, k and block of seeds; of a method, for one configuration too."""
    configuration = "k{k}" if source == "clusterlets" else "k{k}{parameters}"
    return f"{{base}}/{kind}/{{dataset}}/{source}/{configuration}/seeds{{seeds}}.npz"


def for_cell(path):
    """An input of a cell, as prepared or of_block name it: of the cell's own place, or else the grid's."""

    def of_wildcards(wildcards):
        base = wildcards.place if wildcards.place in BASES else OUT
        return path.format(**dict(wildcards.items()), base=base)

    return of_wildcards


def inputs_of_score(wildcards):
    """The clusters that a method found; for a matcher, what it joins."""
    if wildcards.method not in MATCHERS:
        return {"pieces": for_cell(of_block("pieces", "{method}"))(wildcards)}
    kinds = ["pieces", "labels", "distances", *(["partitions"] if "partitions" in METHODS[wildcards.method].needs else [])]
    found = {kind: for_cell(of_block(kind))(wildcards) for kind in kinds}
    return {**found, "data": for_cell(prepared("npz"))(wildcards)}


def of_matcher(name):
    """The path of an input that score_method has for matchers alone, empty where a cell does without."""
    return lambda wildcards, input: input.get(name, "")


def log_of_block(step):
    """The log of such a step, of those that are not of one method."""
    return f"{{base}}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"


def captioned(path, caption, category):
    """A result for Snakemake's own report: with a caption, below a category, and labelled by what it is and its form.

    Of files that every variant has the label also tells the folder.
    """
    name, suffix = Path(path).stem.replace("_", " "), Path(path).suffix
    name += " of {place}" if "{place}" in path else ""
    form = {".md": "Markdown", ".tex": "LaTeX", ".txt": "text"}.get(suffix, suffix[1:].upper())
    return report(
        path,
        caption=f"{CHECKOUT}/workflow/report/{caption}.rst",
        category=category,
        labels={"result": name, "form": form},
    )


def kept_of_grid():
    """Everything that the clusters of any run can be made from again."""
    paths = {prepared("npz").format(base=OUT, dataset=dataset) for dataset in config["datasets"]}
    for cell in cells(config):
        of_cell = {"base": OUT, "dataset": cell.dataset, "k": cell.k, "seeds": cell.seeds, "method": cell.method}
        of_cell["parameters"] = cell.configuration.removeprefix(f"k{cell.k}")
        source = "clusterlets" if cell.method in MATCHERS else "{method}"
        kinds = ["pieces", "labels", *(["partitions"] if "partitions" in METHODS[cell.method].needs else [])]
        paths.update(of_block(kind, source).format(**of_cell) for kind in kinds)
    return sorted(paths)


def before_the_pages(wildcards):
    """Everything that has a cost to account for, and everything but the pages that can be promised."""
    pages = {*rules.write_report.output, *rules.write_leaderboard.output}
    return [result for result in [*RESULTS, DATA_LIST] if result not in pages]


def configfile_of_the_run():
    """The file that was named beside config.yaml, as a person names it; empty where there is none."""
    paths = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
    return paths[-1] if paths else ""


def fingerprints_of_rules(wildcards):
    """The fingerprint of every rule's step; where it depends on the matcher or the dataset, one for each."""
    codes = {rule.name: rule.params.get("code") for rule in workflow.rules}

    def code_of(step):
        """By a part of the name: a Snakefile that takes this one in may name its rules paper_fit_method, say."""
        return next(code for name, code in codes.items() if step in name)

    found = {name: code for name, code in codes.items() if isinstance(code, str)}
    for step in ("fit_method", "score_method"):
        for method in config["methods"]:
            if step == "score_method" or method not in MATCHERS:
                found[f"{step} {method}"] = code_of(step)(SimpleNamespace(method=method))
    tables = {dataset: config["tables"][dataset]["name"] for dataset in config["datasets"] if dataset not in USER_TABLES}
    for step, datasets in (("fetch_dataset", tables.values()), ("prepare_dataset", tables)):
        for dataset in datasets:
            found[f"{step} {dataset}"] = code_of(step)(SimpleNamespace(base=OUT, dataset=dataset))
    return json.dumps({name: code.split()[0] for name, code in found.items()}, sort_keys=True)
