"""``clusterlets check my_method.py``: try a method on small made tables, and say what is wrong with it."""

import sys
from functools import partial
from pathlib import Path

from clusterlets import methods
from clusterlets.commands import cli
from clusterlets.supervision.contract import Trial, trials
from clusterlets.supervision.fits import Budget, Fit, fits
from clusterlets.supervision.machine_code import load_machine_code
from clusterlets.supervision.processes import ending_descendants
from clusterlets.supervision.same_bytes import operations_in
from clusterlets.supervision.statuses import FAILED, OK, OUT_OF_MEMORY, TIMEOUT
from clusterlets.text import counted

#: For each trial, most of which make one or a few fits of 60 rows.
_BUDGET = Budget(seconds=20, memory_mb=4000)
_PACKAGE = Path(methods.__file__).parent
_SAME_NUMBERS = "contributing.md#tests"


def main(arguments: list[str]) -> int:
    """Try a method on small made tables, and print a line for each trial. The status is 1 if something is wrong."""
    parser = cli.parser("check", main.__doc__)
    parser.add_argument(
        "method", metavar="FILE", type=cli.nonempty, help="a Python file with one method, or the name of a method"
    )
    name = parser.parse_args(arguments).method
    method = methods.from_file(name) if name.endswith(".py") else methods.get(name)
    n_wrong = 0
    with ending_descendants():
        if "numba" in method.libraries:
            load_machine_code(method, _BUDGET)
        for trial in trials(method):
            ((_, outcome),) = fits(partial(_run, trial), [0], _BUDGET)
            n_wrong += _print(trial, outcome)
    for file in _files_of(method):
        what = f"{file.name}: the same bits on every processor"
        operations = [
            f"{operation} in {function or 'the module'}" for function, operation in operations_in(file.read_text("utf-8"))
        ]
        print(_line(what, f"{', '.join(operations)} may differ ({_SAME_NUMBERS})" if operations else ""))
        n_wrong += bool(operations)
    print(f"\n{method.name}: {counted(n_wrong, 'thing') + ' wrong' if n_wrong else 'nothing wrong was found'}")
    return 1 if n_wrong else 0


def _run(trial: Trial, _: int) -> str:
    return trial.run()


def _print(trial: Trial, outcome: Fit) -> bool:
    """Print the line of a trial, and return whether something is wrong."""
    wrong, details = outcome.result or "", f"   {outcome.seconds:.2f} s, {outcome.memory_mb:,.0f} MB"
    if outcome.status in (FAILED, TIMEOUT, OUT_OF_MEMORY):
        wrong = f"{outcome.status}: {outcome.note}"
    elif outcome.status != OK:
        details = f"   no clustering: {outcome.note}"
    print(_line(trial.what, f"{wrong} (extending.md#{trial.section})" if wrong else "", details), flush=True)
    return bool(wrong)


def _line(what: str, wrong: str, details: str = "") -> str:
    return f"WRONG  {what}: {wrong}" if wrong else f"ok     {what}{details}"


def _files_of(method: type[methods.Method]) -> list[Path]:
    """The files whose numbers are promised byte for byte: a method of the package, and the algorithm of the same name."""
    file = Path(sys.modules[method.__module__].__file__ or "").resolve()
    candidates = [file, _PACKAGE.parent / "algorithms" / file.name] if file.parent == _PACKAGE else []
    return [candidate for candidate in candidates if candidate.is_file()]
