"""Results that are promised byte for byte use only operations that give the same bits on every processor.

The tests search the source of every module for operations that may give different bits:

- functions with several implementations in the C library or in NumPy (log, exp, powers)
- products of matrices (BLAS)
- compiled code that may fuse a product and a sum (pandas' variances, ``np.interp``, SciPy, scikit-learn)
- parsers that do not round correctly
"""

import ast

import pytest
from modules import MODULES

# Functions of NumPy and of the module math. Processors differ in how they compute elementary functions, and in the order in
# which BLAS sums products.
_ELEMENTARY_FUNCTIONS = set(
    "log log2 log10 log1p logaddexp logaddexp2 exp exp2 expm1 pow power float_power cbrt hypot sin cos tan arcsin arccos "
    "arctan arctan2 asin acos atan atan2 sinh cosh tanh gamma lgamma erf erfc sinc i0".split()
)
_PRODUCTS = set("einsum dot matmul inner vdot tensordot kron convolve correlate corrcoef cov vecdot matvec vecmat".split())
_COMPILED_FUNCTIONS = set("interp linalg fft polyfit polyval quantile percentile".split())
_FORBIDDEN_FUNCTIONS = _ELEMENTARY_FUNCTIONS | _PRODUCTS | _COMPILED_FUNCTIONS
# Methods of pandas that sum products in compiled code. NumPy's arrays have harmless methods of the same names. The source does
# not show which of the two is called, so ALLOWED lists each call of an array's method.
_TABLE_METHODS = {"std", "var", "sem", "skew", "kurt", "kurtosis", "corr", "corrwith", "cov", "ewm", "dot", "interpolate"}
_AGGREGATORS = {"agg", "aggregate", "apply", "transform", "pivot_table"}  # these take the name of a method above as a string
_PARSERS = {"read_csv", "read_table", "to_numeric"}
# Methods of random generators that compute products and logarithms in C.
_RANDOM_METHODS = set(
    "normal standard_normal lognormal exponential standard_exponential gamma beta uniform laplace poisson binomial dirichlet "
    "multivariate_normal triangular weibull".split()
)
# Libraries whose results may differ between processors.
_LIBRARIES = {"scipy", "sklearn", "statsmodels", "scikit_posthocs", "bottleneck", "numexpr"}

# These modules compute no number that is promised byte for byte.
UNPROMISED_MODULES = (
    "clusterlets.estimators",  # used by the library, not the workflow
    "clusterlets.tuning",  # not in the workflow either, and its results depend on the time
    "clusterlets.commands",
    "clusterlets.report.drawing",
    "clusterlets.report.figures",
    "clusterlets.report.page",  # a page that shows what other modules computed
)
_SCREENING = "a first pass; partitions that may be on the front are scored again, in a fixed order"
_NUMPY_METHOD = "an array's method: NumPy rounds each product before it sums them"
_STATISTICAL_TEST = "a statistical test, promised within a tolerance"
_ROUNDED = "rounded to six decimals before it is judged and written"
# The reason for each exception (module, function, operation). The function is "" for code outside of functions.
ALLOWED = {
    ("clusterlets.algorithms.kmeans", "", "log"): "of a whole number, rounded down; no whole number is near a power of e",
    ("clusterlets.algorithms.kmeans", "lloyd", ".var"): _NUMPY_METHOD,
    ("clusterlets.algorithms.matching.centroid", "_bulk_scores", "@"): _SCREENING,
    ("clusterlets.algorithms.matching.centroid", "_bulk_scores", "np.matmul"): _SCREENING,
    ("clusterlets.algorithms.limit_counts", "counts_by_program", "import scipy"): "its counts are searched again",
    ("clusterlets.algorithms.limit_counts", "counts_by_program", "@"): "of a sparse matrix of whole numbers",
    ("clusterlets.metrics.pieces", "cohesion", "@"): "integers",
    ("clusterlets.metrics.pieces", "cohesion_with_error", ".std"): _NUMPY_METHOD,
    ("clusterlets.metrics.pieces", "composition", "@"): "integers",
    ("clusterlets.metrics.table", "", ".std"): _NUMPY_METHOD,
    ("clusterlets.datasets.table", "moments", ".std"): _NUMPY_METHOD,
    ("clusterlets.datasets.suspects", "unlike_scales", ".std"): "for a warning, and in no column of the results",
    ("clusterlets.grid.recovery", "composition", "@"): "integers",
    ("clusterlets.analysis.descriptive", "correlation", "import scipy"): "Kendall's tau-b counts pairs in integers",
    ("clusterlets.paper.averages", "forecasts", ".var"): _NUMPY_METHOD,
    ("clusterlets.paper.prediction", "student_cdf", "np.arctan"): _ROUNDED,
    ("clusterlets.paper.verdict", "judge_groups", "np.exp"): _ROUNDED,
    ("clusterlets.paper.verdict", "judge_groups", "np.log"): _ROUNDED,
    ("clusterlets.analysis.statistics", "", "import scipy"): _STATISTICAL_TEST,
    ("clusterlets.analysis.statistics", "", "import scikit_posthocs"): _STATISTICAL_TEST,
    ("clusterlets.analysis.paired", "", "import scipy"): _STATISTICAL_TEST,
    ("clusterlets.analysis.paired", "", "import statsmodels"): _STATISTICAL_TEST,
    ("clusterlets.analysis.clusterings", "", "import sklearn"): "the projection, promised within a tolerance",
}


def operations_in(source):
    """The forbidden operations in a source, as sorted pairs (function, operation)."""
    return sorted(set(_operations(ast.parse(source), "")))


def _operations(node, function):
    for child in ast.iter_child_nodes(node):
        inner_function = child.name if isinstance(child, ast.FunctionDef) else function
        yield from ((inner_function, operation) for operation in _operations_of_node(child))
        yield from _operations(child, inner_function)


def _operations_of_node(node):
    match node:
        case ast.Import(names=names):
            yield from (f"import {alias.name.split('.')[0]}" for alias in names if alias.name.split(".")[0] in _LIBRARIES)
        case ast.ImportFrom(module=str(module), names=names):
            if module.split(".")[0] in _LIBRARIES:
                yield f"import {module.split('.')[0]}"
            if module in ("math", "numpy"):
                yield from (alias.name for alias in names if alias.name in _FORBIDDEN_FUNCTIONS)
        case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
            yield "@"
        case ast.BinOp(op=ast.Pow(), left=left, right=right) if not _is_exact_power(left, right):
            yield "**"
        case ast.AugAssign(op=ast.Pow()):
            yield "**"
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in _PARSERS and not _reads_exactly(node):
            yield attr
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in _AGGREGATORS:
            yield from (repr(name) for name in _constants_in_arguments(node) if name in _TABLE_METHODS)
        case ast.keyword(arg="fastmath"):
            yield "fastmath"
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"), attr=attr) if attr in _FORBIDDEN_FUNCTIONS:
            yield f"np.{attr}" if node.value.id != "math" else f"math.{attr}"
        case ast.Attribute(attr=attr) if attr in _TABLE_METHODS | _RANDOM_METHODS:
            yield f".{attr}"


def _is_exact_power(base, exponent):
    """Whether the base is two, or both the base and the exponent are literal whole numbers."""
    if isinstance(base, ast.Constant) and base.value == 2:
        return True
    return all(isinstance(node, ast.Constant) and isinstance(node.value, int) for node in (base, exponent))


def _constants_in_arguments(call):
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [node.value for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Constant)]


def _reads_exactly(call):
    """Whether this call of a parser keeps numbers as strings, or rounds them correctly."""
    settings = {(keyword.arg, ast.unparse(keyword.value)) for keyword in call.keywords}
    return ("float_precision", "'round_trip'") in settings or ("dtype", "str") in settings


def belongs_to(module, packages):
    return any(module == name or module.startswith(f"{name}.") for name in packages)


@pytest.mark.parametrize("module", sorted(name for name in MODULES if not belongs_to(name, UNPROMISED_MODULES)))
def test_no_promised_number_depends_on_the_processor(module):
    uses = {(module, *use) for use in operations_in(MODULES[module].read_text(encoding="utf-8"))}
    allowed = {use for use in ALLOWED if use[0] == module}
    assert uses == allowed, "ALLOWED must list exactly the operations that the module uses, each with its reason"


def test_every_unpromised_name_covers_a_module_and_other_modules_are_promised():
    assert all(any(belongs_to(module, [name]) for module in MODULES) for name in UNPROMISED_MODULES)
    assert not belongs_to("clusterlets.paper.reported", UNPROMISED_MODULES)


# Each line is "source: operation".
FORBIDDEN_LINES = """
np.log(x): np.log
from math import log: log
x ** 2: **
x **= 2: **
10 ** x: **
np.linalg.norm(x): np.linalg
f(np.matmul): np.matmul
x @ y: @
x @= y: @
x.dot(y): .dot
grouped['a'].std(ddof=0): .std
grouped.agg('var'): 'var'
grouped.agg(s=('a', 'std')): 'std'
pd.read_csv(path): read_csv
pd.to_numeric(x): to_numeric
from scipy.stats import rankdata: import scipy
import sklearn.cluster: import sklearn
stream.normal(size=3): .normal
njit(fastmath=True): fastmath
"""
HARMLESS_LINES = """
2 ** (n - 1)
x['std']
np.sqrt(x * x)
x.mean()
log(x)
grouped['a'].agg(std)
pd.read_csv(path, dtype=str)
pd.read_csv(path, float_precision='round_trip')
stream.permutation(5)
from math import fsum, isnan
read_table(path, columns)
"""


@pytest.mark.parametrize("line", FORBIDDEN_LINES.strip().splitlines())
def test_each_forbidden_operation_is_found(line):
    source, operation = line.rsplit(": ", 1)
    assert operations_in(source) == [("", operation)]
    assert operations_in(f"class C:\n    def f():\n        if x:\n            {source}") == [("f", operation)]


@pytest.mark.parametrize("source", HARMLESS_LINES.strip().splitlines())
def test_nothing_is_found_in_harmless_lines(source):
    assert operations_in(source) == []
