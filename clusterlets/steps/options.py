"""Where the steps stand, and the options of each: the signature of a step's function is their one source.

The command line follows from it, and so does the shell line of the step's rule.
"""

import shlex
from functools import cache
from pathlib import Path

#: Where the function of each step stands.
STEPS = {
    "fetch-dataset": "fetching:fetch_dataset",
    "prepare-dataset": "preparing:prepare_dataset",
    "prepare-user-table": "user_table:prepare_user_table",
    "list-data": "datasets_table:list_data",
    "measure-geometry": "geometry:measure_geometry",
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
    """What a rule runs: the step with all its options, and its output in the rule's log.

    An input or output is the rule's of the same name, ``dataset``, ``k`` and ``seeds`` are its wildcards, and all else its
    params; ``values`` name another source, as a shell reads it. Parameters with a default are left out unless they are among
    ``optional``.
    """
    options = []
    for name, annotation, has_default in _parameters(step):
        if has_default and name not in optional and name not in values:
            continue
        group = {"Input": "input", "Output": "output"}.get(annotation, "wildcards" if name in _WILDCARDS else "params")
        options.append(f"--{name.replace('_', '-')}={values.get(name, f'{{{group}.{name}:q}}')}")
    return f"clusterlets {step} {' '.join(options)} > {{log:q}} 2>&1"


def shell_prefix(checkout: str, limits: str) -> str:
    """What each shell line starts with: ``clusterlets`` runs the package in ``checkout``, with UTF-8 in every locale.

    The lock and the limits are passed as variables: as parameters of the rules they would make jobs run again, and no result
    depends on the lock's path, few on the limits.
    """
    step = shlex.quote(f"{checkout}/workflow/step.py")
    variables = f"export PYTHONUTF8=1; LOCK={shlex.quote(f'{checkout}/requirements.lock')}; LIMITS={shlex.quote(limits)}"
    return f'set -euo pipefail; {variables}; clusterlets() {{ python -P {step} "$@"; }}; '


@cache
def _parameters(step: str) -> list[tuple[str, str, bool]]:
    """Name, annotation, and whether it has a default, of each parameter. Read and not imported: steps load large libraries."""
    import ast  # which every job, as it reads the names above, does without

    module, function = STEPS[step].split(":")
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    (step_function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    first_default = len(step_function.args.args) - len(step_function.args.defaults)
    return [
        (argument.arg, ast.unparse(argument.annotation) if argument.annotation else "", place >= first_default)
        for place, argument in enumerate(step_function.args.args)
    ]
