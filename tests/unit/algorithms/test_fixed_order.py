"""Results that are promised byte for byte use only operations that give the same bits on every processor.

The tests search the source of every module for operations that may give different bits.
"""

import pytest
from modules import MODULES

from clusterlets.supervision.same_bytes import operations_in

# These modules compute no number that is promised byte for byte.
UNPROMISED_MODULES = (
    "clusterlets.estimators",  # used by the library, not the workflow
    "clusterlets.tuning",  # not in the workflow either, and its results depend on the time
    "clusterlets.benchmark.commands",
    "clusterlets.commands",
    "clusterlets.pages",
    "clusterlets.benchmark.report.figures",
    "clusterlets.benchmark.report.page",  # a page that shows what other modules computed
)
_SCREENING = "a first pass; partitions that may be on the front are scored again, in a fixed order"
_NUMPY_METHOD = "an array's method: NumPy rounds each product before it sums them"
_STATISTICAL_TEST = "a statistical test, promised within a tolerance"
# The reason for each exception (module, function, operation). The function is "" for code outside of functions.
ALLOWED = {
    ("clusterlets.algorithms.kmeans", "", "log"): "of a whole number, rounded down; no whole number is near a power of e",
    ("clusterlets.algorithms.kmeans", "lloyd", ".var"): _NUMPY_METHOD,
    ("clusterlets.algorithms.matching.centroid", "_bulk_scores", "@"): _SCREENING,
    ("clusterlets.algorithms.matching.centroid", "_bulk_scores", "np.matmul"): _SCREENING,
    ("clusterlets.algorithms.limit_counts", "counts_by_program", "import scipy"): "its counts are searched again",
    ("clusterlets.algorithms.limit_assignment", "_program_within", "import scipy"): "its counts are checked",
    ("clusterlets.algorithms.limit_counts", "_improve_counts", "**"): "of a whole number",
    ("clusterlets.algorithms.limit_counts", "counts_by_program", "@"): "of a sparse matrix of whole numbers",
    (
        "clusterlets.algorithms.limit_repair",
        "_solve_program",
        "import scipy",
    ): "used by repair alone, in no run of the workflow",
    ("clusterlets.algorithms.limit_repair", "_solve_program", "@"): "of a sparse matrix of zeros",
    ("clusterlets.algorithms.limit_repair", "repair_labels", "**"): "of whole numbers",
    ("clusterlets.algorithms.limit_assignment", "assign_new", "**"): "of whole numbers",
    ("clusterlets.algorithms.enumeration", "every_labelling", "**"): "of whole numbers",
    ("clusterlets.metrics.pieces", "cohesion", "@"): "integers",
    ("clusterlets.metrics.pieces", "cohesion_with_error", ".std"): _NUMPY_METHOD,
    ("clusterlets.metrics.pieces", "composition", "@"): "integers",
    ("clusterlets.metrics.all_scores", "", ".std"): _NUMPY_METHOD,
    ("clusterlets.tables.table", "moments", ".std"): _NUMPY_METHOD,
    ("clusterlets.tables.table", "moments", ".var"): _NUMPY_METHOD,
    ("clusterlets.tables.user_table", "complete_rows", "import sklearn"): "medians are values, or the mean of two",
    ("clusterlets.tables.user_table", "_one_hot", "import sklearn"): "zeros and ones",
    ("clusterlets.tables.suspects", "unlike_scales", ".std"): "for a warning, and in no column of the results",
    ("clusterlets.benchmark.grid.runs_frame", "read_results_table", "read_csv"): "with an option for older versions of pandas",
    ("clusterlets.benchmark.analysis.descriptive", "correlation", "import scipy"): "Kendall's tau-b counts pairs in integers",
    ("clusterlets.benchmark.analysis.statistics", "", "import scipy"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.statistics", "", "import scikit_posthocs"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.paired", "", "import scipy"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.paired", "", "import statsmodels"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.leaderboard", "", "import scipy"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.leaderboard", "", "import statsmodels"): _STATISTICAL_TEST,
    ("clusterlets.benchmark.analysis.leaderboard", "_exact_bounds", ".beta"): "rounded to six decimals",
    ("clusterlets.benchmark.analysis.leaderboard", "overall", "np.quantile"): "one of the values",
}


def belongs_to(module, packages):
    return any(module == name or module.startswith(f"{name}.") for name in packages)


@pytest.mark.parametrize("module", sorted(name for name in MODULES if not belongs_to(name, UNPROMISED_MODULES)))
def test_no_promised_number_depends_on_the_processor(module):
    uses = {(module, *use) for use in operations_in(MODULES[module].read_text(encoding="utf-8"))}
    allowed = {use for use in ALLOWED if use[0] == module}
    assert uses == allowed, "ALLOWED must list exactly the operations that the module uses, each with its reason"


def test_every_unpromised_name_covers_a_module_and_other_modules_are_promised():
    assert all(any(belongs_to(module, [name]) for module in MODULES) for name in UNPROMISED_MODULES)
    assert not belongs_to("clusterlets.benchmark.paper.reported", UNPROMISED_MODULES)


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
