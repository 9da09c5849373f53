"""Find operations that may give different bits on different processors, in the source of a module.

- functions with several implementations in the C library or in NumPy (log, exp, powers)
- products of matrices (BLAS)
- compiled code that may fuse a product and a sum (pandas' variances, ``np.interp``, SciPy, scikit-learn)
- parsers that do not round correctly
"""

import ast
from collections.abc import Iterator

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
# not show which of the two is called.
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


def operations_in(source: str) -> list[tuple[str, str]]:
    """The operations in a source, as sorted pairs (function, operation)."""
    return sorted(set(_operations(ast.parse(source), "")))


def _operations(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        inner_function = child.name if isinstance(child, ast.FunctionDef) else function
        yield from ((inner_function, operation) for operation in _operations_of_node(child))
        yield from _operations(child, inner_function)


def _operations_of_node(node: ast.AST) -> Iterator[str]:
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
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math" as module), attr=attr) if attr in _FORBIDDEN_FUNCTIONS:
            yield f"np.{attr}" if module != "math" else f"math.{attr}"
        case ast.Attribute(attr=attr) if attr in _TABLE_METHODS | _RANDOM_METHODS:
            yield f".{attr}"


def _is_exact_power(base: ast.expr, exponent: ast.expr) -> bool:
    """Whether the base is two, or both the base and the exponent are literal whole numbers."""
    if isinstance(base, ast.Constant) and base.value == 2:
        return True
    return all(isinstance(node, ast.Constant) and isinstance(node.value, int) for node in (base, exponent))


def _constants_in_arguments(call: ast.Call) -> list:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [node.value for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Constant)]


def _reads_exactly(call: ast.Call) -> bool:
    """Whether this call of a parser keeps numbers as strings, or rounds them correctly."""
    settings = {(keyword.arg, ast.unparse(keyword.value)) for keyword in call.keywords}
    return ("float_precision", "'round_trip'") in settings or ("dtype", "str") in settings
