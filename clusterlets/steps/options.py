"""The function of each step and its options, which follow from the function's signature alone.

The command line is made from it, and so is the shell line of the step's rule.
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
    """What a rule runs: the step with all its options; its output goes to the rule's log.

    An input or output is the rule's of the same name, ``dataset``, ``k`` and ``seeds`` are its wildcards, and everything else
    is in its params; ``values`` name other sources, as a shell reads them. Parameters with a default are left out unless they
    are in ``optional``, and so in the params, or in ``values``.
    """
    options = []
    for name, annotation, has_default in _parameters(step):
        if has_default and name not in optional and name not in values:
            continue
        group = {"Input": "input", "Output": "output"}.get(annotation, "wildcards" if name in _WILDCARDS else "params")
        group = "params" if has_default else group
        options.append(f"--{name.replace('_', '-')}={values.get(name, f'{{{group}.{name}:q}}')}")
    return f"clusterlets {step} {' '.join(options)} > {{log:q}} 2>&1"


def shell_prefix(checkout: str, limits: str) -> str:
    """What each shell line starts with: ``clusterlets`` runs the package in ``checkout``, with UTF-8 in every locale.

    The lock and the limits are passed as variables: as parameters of the rules they would rerun jobs, although no result
    depends on the lock's path and few depend on the limits. Braces are doubled, because Snakemake formats the prefix like
    every shell line.
    """
    step = shlex.quote(f"{checkout}/workflow/step.py")
    variables = f"export PYTHONUTF8=1; LOCK={shlex.quote(f'{checkout}/requirements.lock')}; LIMITS={shlex.quote(limits)}"
    prefix = f'set -euo pipefail; {variables}; clusterlets() {{ python -P {step} "$@"; }}; '
    return prefix.replace("{", "{{").replace("}", "}}")


@cache
def _parameters(step: str) -> list[tuple[str, str, bool]]:
    """Name, annotation, and whether it has a default, of each parameter. Parsed, not imported: steps load large libraries."""
    import ast  # imported late: every job reads the names above

    module, function = STEPS[step].split(":")
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    (step_function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    first_default = len(step_function.args.args) - len(step_function.args.defaults)
    return [
        (argument.arg, ast.unparse(argument.annotation) if argument.annotation else "", position >= first_default)
        for position, argument in enumerate(step_function.args.args)
    ]
