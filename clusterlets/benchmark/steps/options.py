"""The function of each step of the workflow, and the options of its command, which are the parameters of the function."""

import shlex
from functools import cache
from pathlib import Path

#: The steps. A module has the name of its step, and so has the function in it.
STEPS = (
    "fetch-dataset",
    "prepare-dataset",
    "prepare-user-table",
    "list-data",
    "measure-geometry",
    "measure-plain-cost",
    "extract-clusterlets",
    "sum-distances",
    "sample-partitions",
    "fit-method",
    "score-method",
    "collect-runs",
    "analyse",
    "plot",
    "account",
    "write-report",
    "write-leaderboard",
    "write-manifest",
)

_WILDCARDS = {"dataset", "k", "seeds"}


def shell_line(step: str, *optional: str, **values: str) -> str:
    """The shell line of a step's rule: the step's command with its options.

    ``values`` gives the shell text of some parameters. Another parameter takes the value of the rule's input, output, wildcard
    or param of the same name. If it has a default, it is a param of the rule, and left out unless ``optional`` names it.
    """
    options = []
    for name, annotation, has_default in _parameters(step):
        if has_default and name not in optional and name not in values:
            continue
        if has_default:
            source = "params"
        else:
            source = {"Input": "input", "Output": "output"}.get(annotation, "wildcards" if name in _WILDCARDS else "params")
        options.append(f"--{name.replace('_', '-')}={values.get(name, f'{{{source}.{name}:q}}')}")
    return f"clusterlets {step} {' '.join(options)} > {{log:q}} 2>&1"


def shell_prefix(checkout: str, budget: str, config_options: str) -> str:
    """The start of each shell line: it makes ``clusterlets`` run the package in ``checkout``, with UTF-8 in every locale.

    The step replaces the shell, because only a child of the run learns that the run has ended.

    The path of the lock file, the budget and what followed ``--config`` are variables of the shell, so that a change does not
    rerun all jobs. Braces are doubled, because Snakemake formats the prefix.
    """
    step = shlex.quote(f"{checkout}/workflow/step.py")
    values = {"LOCK": f"{checkout}/requirements.lock", "BUDGET": budget, "CONFIG_OPTIONS": config_options}
    variables = "; ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
    prefix = f'set -euo pipefail; export PYTHONUTF8=1; {variables}; clusterlets() {{ exec python -P {step} "$@"; }}; '
    return prefix.replace("{", "{{").replace("}", "}}")


@cache
def _parameters(step: str) -> list[tuple[str, str, bool]]:
    """Name and annotation of each parameter, and whether it has a default.

    The source is parsed and not imported, because importing steps loads large libraries.
    """
    import ast  # imported late: jobs import this module, but only planning calls this function

    module = step.replace("-", "_")
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    (step_function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == module)
    first_default = len(step_function.args.args) - len(step_function.args.defaults)
    return [
        (argument.arg, ast.unparse(argument.annotation) if argument.annotation else "", position >= first_default)
        for position, argument in enumerate(step_function.args.args)
    ]
