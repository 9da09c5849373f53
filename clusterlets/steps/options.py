"""The function of each step of the workflow, and the options of its command.

The function's signature alone determines the options, both on the command line and in the shell line of the step's rule.
"""

import shlex
from functools import cache
from pathlib import Path

#: Module and function of each step.
STEPS = {
    "fetch-dataset": "fetching:fetch_dataset",
    "prepare-dataset": "preparing:prepare_dataset",
    "prepare-user-table": "user_table:prepare_user_table",
    "list-data": "datasets_table:list_data",
    "measure-geometry": "geometry:measure_geometry",
    "measure-plain-cost": "plain_costs:measure_plain_cost",
    "extract-clusterlets": "extraction:extract_clusterlets",
    "sum-distances": "distances:sum_distances",
    "sample-partitions": "partitions:sample_partitions",
    "fit-method": "fitting:fit_method",
    "score-method": "scoring:score_method",
    "collect-runs": "collecting:collect_runs",
    "analyse": "analysis:analyse",
    "recover-clusters": "recovery:recover_clusters",
    "plot": "figures:plot",
    "account": "accounts:account",
    "write-report": "report:write_report",
    "write-leaderboard": "leaderboard:write_leaderboard",
    "write-manifest": "manifest:write_manifest",
}

_WILDCARDS = {"dataset", "k", "seeds"}


def shell_line(step: str, *optional: str, **values: str) -> str:
    """The shell line of a step's rule: the step's command with its options. What the command prints goes to the rule's log.

    An input or output of the step is the input or output of the rule that has the same name. ``dataset``, ``k`` and ``seeds``
    are wildcards of the rule, and all other values are in its params. A parameter in ``values`` gets that shell text instead.
    A parameter with a default is left out, unless ``values`` has it or ``optional`` names it as one of the rule's params.
    """
    options = []
    for name, annotation, has_default in _parameters(step):
        if has_default and name not in optional and name not in values:
            continue
        source = {"Input": "input", "Output": "output"}.get(annotation, "wildcards" if name in _WILDCARDS else "params")
        source = "params" if has_default else source
        options.append(f"--{name.replace('_', '-')}={values.get(name, f'{{{source}.{name}:q}}')}")
    return f"clusterlets {step} {' '.join(options)} > {{log:q}} 2>&1"


def shell_prefix(checkout: str, limits: str) -> str:
    """The start of each shell line: it makes ``clusterlets`` run the package in ``checkout``, with UTF-8 in every locale.

    The path of the lock file and the limits are environment variables. If they were params of the rules, a change would rerun
    all jobs, although no result depends on the path, and few results depend on the limits. Braces are doubled, because
    Snakemake formats the prefix like every shell line.
    """
    step = shlex.quote(f"{checkout}/workflow/step.py")
    variables = f"export PYTHONUTF8=1; LOCK={shlex.quote(f'{checkout}/requirements.lock')}; LIMITS={shlex.quote(limits)}"
    prefix = f'set -euo pipefail; {variables}; clusterlets() {{ python -P {step} "$@"; }}; '
    return prefix.replace("{", "{{").replace("}", "}}")


@cache
def _parameters(step: str) -> list[tuple[str, str, bool]]:
    """Name and annotation of each parameter, and whether it has a default.

    The source is parsed and not imported, because steps load large libraries.
    """
    import ast  # imported late: every job imports this module, and only few call this function

    module, function = STEPS[step].split(":")
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    (step_function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    first_default = len(step_function.args.args) - len(step_function.args.defaults)
    return [
        (argument.arg, ast.unparse(argument.annotation) if argument.annotation else "", position >= first_default)
        for position, argument in enumerate(step_function.args.args)
    ]
