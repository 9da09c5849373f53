"""``clusterlets check my_method.py``: try a method on small made tables, and say what is wrong with it."""

import sys
import traceback
from collections import defaultdict
from functools import partial
from pathlib import Path

from clusterlets import methods
from clusterlets.commands import cli
from clusterlets.errors import MethodError
from clusterlets.supervision.contract import Trial, trials
from clusterlets.supervision.fits import Budget, Fit, fits
from clusterlets.supervision.machine_code import load_machine_code
from clusterlets.supervision.processes import ending_descendants
from clusterlets.supervision.same_bytes import operations_in
from clusterlets.supervision.statuses import FAILED, OK, OUT_OF_MEMORY, TIMEOUT
from clusterlets.text import counted, cut

#: For each trial, most of which make one or a few fits of 60 rows.
_BUDGET = Budget(seconds=20, memory_mb=4000)
_PACKAGE = Path(methods.__file__).parent
_LONGEST_ERROR = 200  # characters
_SAME_NUMBERS = "contributing.md#tests"


def main(arguments: list[str]) -> int:
    """Try a method on small made tables, and print a line for each trial. The status is 1 if something is wrong."""
    parser = cli.parser("check", main.__doc__)
    parser.add_argument(
        "method", metavar="FILE", type=cli.nonempty, help="a Python file with one method, or the name of a method"
    )
    name = parser.parse_args(arguments).method
    method = methods.from_file(name) if name.endswith(".py") else methods.get(name)
    n_wrong, ended_by = 0, defaultdict(list)
    with ending_descendants():
        if "numba" in method.libraries:
            load_machine_code(method, _BUDGET)
        for trial in trials(method):
            ((_, outcome),) = fits(partial(_run, trial), [0], _BUDGET)
            wrong, error = outcome.result or ("", "")
            if error:
                ended_by[error].append(trial.what)
            n_wrong += _print(trial, outcome, wrong)
    for file in _files_of(method):
        what = f"{file.name}: the same bits on every processor"
        operations = [
            f"{operation} in {function or 'the module'}" for function, operation in operations_in(file.read_text("utf-8"))
        ]
        print(_line(what, f"{', '.join(operations)} may differ ({_SAME_NUMBERS})" if operations else ""))
        n_wrong += bool(operations)
    for error, ended in ended_by.items():
        print(f"\nwhat ended {counted(len(ended), 'trial')} ({'; '.join(ended)}):\n{error.rstrip()}")
    print(f"\n{method.name}: {counted(n_wrong, 'thing') + ' wrong' if n_wrong else 'nothing wrong was found'}")
    return 1 if n_wrong else 0


def _run(trial: Trial, _: int) -> tuple[str, str]:
    """What is wrong, and the traceback of the exception if the method's code raised one, which may end many trials."""
    try:
        return trial.run(), ""
    except MethodError as error:
        return f"{FAILED}: {cut(error.raised, _LONGEST_ERROR)}", "".join(traceback.format_exception(error.__cause__))


def _print(trial: Trial, outcome: Fit, wrong: str) -> bool:
    """Print the line of a trial, and return whether something is wrong."""
    details = f"   {outcome.seconds:.2f} s, {outcome.memory_mb:,.0f} MB"
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
