"""Adding a method takes one file: a copy of the checkout with one more method, and what follows from it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
STRIPED = '''
import numpy as np

from clusterlets.methods import PARTS, Choice, Integer, Method, Real


class Striped(Method):
    """Stripes of the rows, in the order of their first feature."""

    name = "striped"
    citation = "Nobody, A method for this test alone"
    guarantee = "nothing"
    cost = "no time at all"
    parameters = {
        "width": Integer(1, 9, grid=[1, 2], trades_fairness=True, meaning="Rows of a stripe."),
        "order": Choice(("up", "down"), meaning="Which rows come first."),
        "slack": Real(0, 1, also=[None], bound=PARTS, meaning="Part of each group that every cluster must hold at least."),
    }

    def fit(self, X, groups, n_clusters, random_state, width=1, order="up", slack=None):
        from clusterlets.algorithms.kmeans import kmeans_labels

        self.order_ = np.argsort(X[:, 0] if order == "up" else -X[:, 0], kind="stable")
        return kmeans_labels(X, n_clusters, random_state)

    class Estimator:
        """What only this estimator has.

        Attributes
        ----------
        order_ : int array (n,)
            The rows in the order of the first feature.
        """
'''
REGISTRY_TESTS = [
    *("tests/unit/methods/test_methods.py", "tests/unit/methods/test_parameters.py", "tests/unit/test_estimators.py"),
    *("tests/unit/test_generated.py", "tests/unit/grid/test_field_configurations.py"),
    *(
        "tests/unit/grid/test_grid.py::test_streams_stay_what_they_are",
        "tests/unit/test_library.py::test_every_public_name_is_the_object_of_that_name",
    ),
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with one more method file and regenerated files."""
    copy = tmp_path_factory.mktemp("copy") / "checkout"
    ignored = shutil.ignore_patterns(".*", "results", "data", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
    (copy / "clusterlets/methods/striped.py").write_text(STRIPED, encoding="utf-8")
    run(copy, "docs/generate.py")
    return copy


def run(checkout, *command):
    """Python's output in the copy, whose package takes precedence."""
    variables = {**os.environ, "PYTHONPATH": str(checkout)}
    process = subprocess.run([sys.executable, "-P", *command], cwd=checkout, env=variables, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_the_generated_files_include_it(checkout):
    assert "from clusterlets.estimators import Striped as Striped" in (checkout / "clusterlets/__init__.pyi").read_text()
    stub = (checkout / "clusterlets/estimators/__init__.pyi").read_text()
    assert 'order: Literal["up", "down"] = "up",' in stub and "slack: float | None = None," in stub
    page = (checkout / "docs/methods.md").read_text()
    assert "| `striped` | Stripes of the rows" in page and "| `striped` | `width` | a whole number from 1 to 9 |" in page


def test_the_workflow_plans_its_cells(checkout):
    options = ("--config", "methods=[k-means, striped]", "datasets=[iris]", "--configfile", "workflow/configs/demo.yaml")
    planned = run(checkout, "-m", "snakemake", "--dry-run", "--cores", "1", *options)
    assert "iris: striped k5_width2" in planned


def test_its_estimator_and_the_command_accept_it(checkout):
    code = (
        "from clusterlets import Striped\n"
        "X, sex = [[0.0], [0.1], [5.0], [5.1]], ['f', 'm', 'f', 'm']\n"
        "fitted = Striped(2, width=2, random_state=0).fit(X, sensitive_features=sex)\n"
        "print(fitted.memberships_.sum(axis=0).tolist(), fitted.order_.tolist())"
    )
    assert run(checkout, "-c", code) == "[2, 2] [0, 1, 2, 3]\n"
    (checkout / "t.csv").write_text("x,g\n" + "".join(f"{row},{'ab'[row % 2]}\n" for row in range(12)))
    command = ("-m", "clusterlets", "cluster", "t.csv", "--sensitive", "g", "--method", "striped", "-k", "3")
    output = run(checkout, *command, "--width", "2")
    assert "striped, k = 3, width=2, seed 0: 3 clusters" in output
    assert "asked for" not in output
    assert "asked for   slack 0.2: " in run(checkout, *command, "--slack", "0.2")


def test_the_registry_tests_pass_with_it(checkout):
    keywords = "striped or Striped or every or registry or generated or streams"
    run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", *REGISTRY_TESTS, "-k", keywords)
