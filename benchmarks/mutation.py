"""Mutation testing of the modules that compute: change one thing in the code, and see if a test fails.

    python benchmarks/mutation.py                                               all modules, two processes
    python benchmarks/mutation.py --sample 5 algorithms/matching/pinball.py     every fifth mutant of one module

pytest collects the tests once. Each mutant gets a fork of this process, in which the code of one module is replaced. The
module's tests then run, quickest first, until one fails. Compiled functions run as plain Python. A mutant that no test detects
is printed as a survivor. ``benchmarks/survivors.csv`` explains why each survivor is harmless. The run fails if one is
not explained there.

Three kinds of tests are left out:

- tests that take longer than three seconds in plain Python
- the slowest tests of a module whose tests take more than a minute in total
- tests that start a process, which would not see the mutant

Imports, annotations, decorators, docstrings and error messages are not mutated.
"""

import argparse
import ast
import csv
import importlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import accumulate
from numbers import Number
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

# Set before numpy and numba are imported. With more than one OpenMP thread (scikit-learn's), a fork would wait forever.
os.environ.update(NUMBA_DISABLE_JIT="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import pytest
from hypothesis import Phase, settings

from clusterlets.algorithms import kernels

ROOT = Path(__file__).resolve().parents[1]
SURVIVORS_FILE = ROOT / "benchmarks" / "survivors.csv"
_PINBALL = ("unit/algorithms/test_pinball.py",)
_CENTROID = ("unit/algorithms/test_centroid.py",)
#: The test files of each module that is mutated.
TESTS = {
    "algorithms/matching/objectives.py": (*_PINBALL, *_CENTROID),
    "algorithms/matching/pinball.py": (*_PINBALL, "unit/algorithms/test_published_matchers.py"),
    "algorithms/matching/centroid.py": _CENTROID,
    "algorithms/centroids.py": (*_PINBALL, *_CENTROID, "unit/metrics/test_pieces.py"),
    "metrics/composition.py": ("unit/metrics/test_composition.py", *_PINBALL),
    "metrics/pieces.py": ("unit/metrics/test_pieces.py", *_PINBALL),
    "metrics/prices.py": ("unit/metrics/test_prices.py",),
    "algorithms/kernels.py": ("unit/algorithms/test_kernels.py",),
    "algorithms/kmeans.py": ("unit/algorithms/test_kmeans.py",),
    "algorithms/geometry.py": ("unit/algorithms/test_geometry.py", "unit/algorithms/test_checks.py"),
    "algorithms/extraction.py": ("unit/algorithms/test_extraction.py", "unit/algorithms/test_checks.py"),
    "algorithms/elementary.py": ("unit/algorithms/test_elementary.py",),
    "algorithms/checks.py": ("unit/algorithms/test_checks.py", "unit/test_pandas_index.py"),
    "algorithms/frac.py": ("unit/algorithms/test_frac.py",),
}
MEMORY = 4 * 2**30  # bytes of address space that a mutant's process may use
#: Limits of CPU time in plain Python, for a test and for all tests of a module.
TEST_SECONDS, MODULE_SECONDS = 3, 60
#: A line of kernels.py and its replacement. Tiles of fewer lanes are quicker in plain Python, and have the same edge cases.
LANES_LINES = ("LANES = 128", "LANES = 8")

COMPARISONS = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.RShift: ast.LShift,
    ast.LShift: ast.RShift,
}


class Mutant(NamedTuple):
    """One change: ``replacement`` takes the place of ``field`` of ``parent``, or of item ``index`` if the field is a list."""

    module: str
    line: int
    text: str
    parent: ast.AST
    field: str
    index: int | None
    replacement: ast.AST

    def __str__(self) -> str:
        return f"{self.module}: {self.text}"


def mutants_of(module: str) -> tuple[ast.Module, list[Mutant]]:
    """Return the syntax tree of a module, and all its mutants."""
    tree = ast.parse((ROOT / "clusterlets" / module).read_text(encoding="utf-8").replace(*LANES_LINES))
    return tree, list(_mutants_below(tree, module, ""))


def _mutants_below(parent: ast.AST, module: str, statement: str) -> Iterator[Mutant]:
    """Yield the mutants of all nodes below ``parent``. ``statement`` is the innermost statement around them, in one line."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "exc", "bases"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node):
                continue
            for replacement in _replacements(node):
                ast.copy_location(replacement, node)
                text = f"{_one_line(node)} → {_one_line(replacement)} in {statement[:90]}"
                yield Mutant(module, node.lineno, text, parent, field, index, replacement)
            yield from _mutants_below(node, module, _one_line(node) if isinstance(node, ast.stmt) else statement)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _one_line(node: ast.AST) -> str:
    """Return the source of an expression, or the first line of the source of a statement."""
    return ast.unparse(node).splitlines()[0] if isinstance(node, (ast.stmt, ast.expr)) else ""


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the mutants of a node."""
    match node:
        case ast.Compare(left, [op], right):
            yield from (ast.Compare(left, [other()], right) for other in COMPARISONS[type(op)])
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value):
            if type(op) in OPERATORS:
                yield ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield ast.Assign([target], value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(str() as value):
            yield ast.Constant(value + "XX")
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Return(ast.expr() as value) if getattr(value, "value", ...) is not None:
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Expr(ast.Call()):
            yield ast.Pass()


def install(mutant: Mutant, tree: ast.Module) -> None:
    """Apply a mutant to the syntax tree of its module, and replace the module's code in this process."""
    if mutant.index is None:
        setattr(mutant.parent, mutant.field, mutant.replacement)
    else:
        getattr(mutant.parent, mutant.field)[mutant.index] = mutant.replacement
    name = "clusterlets." + mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = sys.modules[name]
    namespace = {"__name__": name, "__file__": module.__file__, "__builtins__": __builtins__}
    exec(compile(ast.fix_missing_locations(tree), module.__file__, "exec"), namespace)
    for attribute, value in namespace.items():
        old_value = vars(module).get(attribute)
        if isinstance(value, type) and value.__module__ == name:
            for member, function in vars(value).items():
                _replace_code(function, vars(old_value)[member])
        elif not attribute.startswith("__") and not _replace_code(value, old_value):
            _rebind(attribute, old_value, value)


def _replace_code(new: object, old: object) -> bool:
    """Return whether both are functions. If they are the module's own, give ``old`` the code and defaults of ``new``."""
    new, old = map(_function_of, (new, old))
    if not isinstance(new, FunctionType) or not isinstance(old, FunctionType):
        return False
    if new.__code__.co_filename == old.__code__.co_filename and not new.__closure__:
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    return True


def _function_of(member: object) -> object:
    """Return the function of a property, cached property or class method, and anything else unchanged."""
    for attribute in ("fget", "__func__", "func"):
        member = getattr(member, attribute, member)
    return member


def _rebind(attribute: str, old: object, new: object) -> None:
    """Give the new value of a constant to every module that has imported the old one."""
    if isinstance(new, (Number, str, tuple, dict)) and new != old:
        for module in list(sys.modules.values()):
            if isinstance(module, ModuleType) and vars(module).get(attribute) is old:
                setattr(module, attribute, new)


class MutationRun:
    """A pytest plugin that runs the collected tests once without a mutant, then once for each mutant."""

    def __init__(self, modules: list[str], sample: int, jobs: int) -> None:
        self.modules, self.sample, self.jobs = modules, sample, jobs
        self.failed = False  # whether a test has failed since this was last set to False
        self.survivors: list[Mutant] = []
        self.counts: dict[str, list[int]] = {}  # for each module, how many mutants were killed and how many survived

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests and the mutants, in place of pytest's own loop."""
        seconds = self._measure(session.items)
        running: dict[int, Mutant] = {}
        for module in self.modules:
            module_tests = [item for item in seconds if item.path.as_posix().endswith(TESTS[module])]
            module_tests.sort(key=seconds.__getitem__)
            totals = accumulate(seconds[item] for item in module_tests)
            tests = {item: seconds[item] for item, total in zip(module_tests, totals) if total <= MODULE_SECONDS}
            print(f"{module}: {len(tests)} of {len(module_tests)} tests", flush=True)
            tree, mutants = mutants_of(module)
            self.counts[module] = [0, 0]
            for mutant in mutants[:: self.sample]:
                if len(running) == self.jobs:
                    self._reap(running)
                running[self._start(mutant, tree, tests)] = mutant
            while running:
                self._reap(running)
            print(f"{module}: {self.counts[module][0]} of {sum(self.counts[module])} killed", flush=True)
        return True

    def _measure(self, items: list[pytest.Item]) -> dict[pytest.Item, float]:
        """Return the CPU time of each test that passes within :data:`TEST_SECONDS` and starts no process."""
        subprocess.Popen = None  # so that tests that start a process fail
        signal.signal(signal.SIGVTALRM, _fail_slow_test)
        seconds = {}
        for item in items:
            self.failed, start = False, time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, TEST_SECONDS)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if not self.failed:
                seconds[item] = time.process_time() - start
        left_out = len(items) - len(seconds)
        print(f"\n{len(seconds)} tests, {sum(seconds.values()):.0f} s; {left_out} left out", flush=True)
        return seconds

    def _start(self, mutant: Mutant, tree: ast.Module, tests: dict[pytest.Item, float]) -> int:
        """Start a process that runs the tests on a mutant and ends with status 0 if all pass. Return its id.

        ``tests`` holds the usual seconds of each test. The process is stopped if a test takes five times as long plus two
        seconds.
        """
        process_id = os.fork()
        if process_id:
            return process_id
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.failed = False
        try:
            install(mutant, tree)
            for item, usual_seconds in tests.items():
                limit = int(time.process_time() + 5 * usual_seconds + 2)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if self.failed:
                    break
        except BaseException:
            self.failed = True
        os._exit(self.failed)

    def _reap(self, running: dict[int, Mutant]) -> None:
        """Wait until a process ends, and count its mutant as killed or, for status 0, as a survivor."""
        process_id, status = os.wait()
        mutant = running.pop(process_id)
        self.counts[mutant.module][status == 0] += 1
        if status == 0:
            self.survivors.append(mutant)
            print(f"survived  {mutant.module}:{mutant.line}  {mutant.text}", flush=True)


def _fail_slow_test(*_):
    pytest.fail(f"takes longer than {TEST_SECONDS} s")


def report(run: MutationRun) -> int:
    """Print the counts. Return 1 if survivors.csv does not explain every survivor, otherwise 0."""
    killed, survived = (sum(count[index] for count in run.counts.values()) for index in (0, 1))
    with open(SURVIVORS_FILE, newline="", encoding="utf-8") as file:
        explained = {(row["module"], row["mutant"]) for row in csv.DictReader(file)}
    unexplained = [mutant for mutant in run.survivors if (mutant.module, mutant.text) not in explained]
    print(f"{killed} of {killed + survived} mutants killed, {killed / (killed + survived):.1%}")
    print(f"{survived - len(unexplained)} survivors are explained in benchmarks/survivors.csv, {len(unexplained)} are not")
    print(*unexplained, sep="\n")
    return bool(unexplained)


def main() -> int:
    """Run the mutants of the modules that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=list(TESTS), metavar="module", help=", ".join(TESTS))
    parser.add_argument("--sample", type=int, default=1, help="run only every n-th mutant")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    arguments = parser.parse_args()
    settings.register_profile("mutation", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutation")
    kernels.LANES = int(LANES_LINES[1].split()[-1])
    for module in arguments.modules:
        importlib.import_module("clusterlets." + module.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    run = MutationRun(arguments.modules, arguments.sample, arguments.jobs)
    files = dict.fromkeys(str(ROOT / "tests" / file) for module in arguments.modules for file in TESTS[module])
    pytest_options = ["-s", "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider"]
    pytest.main([*pytest_options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *files], [run])
    return report(run)


if __name__ == "__main__":
    sys.exit(main())
