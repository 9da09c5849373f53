"""without_blas makes a product of doubles fail, so the test that a grid uses no BLAS can fail."""

import subprocess
import sys

import pytest
import tiny_grid
import without_blas

needs_breakable_blas = pytest.mark.skipif(
    not without_blas.POSSIBLE, reason="not run: BLAS can be broken on Linux on x86-64 and aarch64 only"
)


@needs_breakable_blas
@pytest.mark.parametrize(
    ("product", "message"),
    [
        ("x @ x", "Illegal instruction"),
        ("x @ x[0]", "Illegal instruction"),
        ("x[0] @ x[0]", "Illegal instruction"),
        ("x.T @ x", "Illegal instruction"),
        ("np.linalg.norm(x)", "Illegal instruction"),
        ("np.dot(x, x)", "numpy.dot of doubles"),
        ("np.einsum('ij,ij->i', x, x)", "numpy.einsum of doubles"),
    ],
)
def test_a_product_of_doubles_ends_the_process(product, message):
    process = run_without_blas(product)
    assert process.returncode != 0 and message in process.stderr and 'File "<string>", line 5' in process.stderr


@needs_breakable_blas
def test_products_of_other_types_and_sums_still_work():
    for expression in ("n @ n", "np.dot(n, n)", "np.einsum('ij->i', n)", "x.astype('f4') @ x.astype('f4')", "x.sum()"):
        process = run_without_blas(expression)
        assert process.returncode == 0, process.stderr


def run_without_blas(expression):
    """Evaluate an expression after forbid(), in a separate process. In it, x is an array of doubles, and n one of integers."""
    setup = "import numpy as np, without_blas\nx = np.full((9, 9), 0.1)\nn = np.ones((9, 9), int)\nwithout_blas.forbid()\n"
    return subprocess.run([sys.executable, "-c", setup + expression], cwd=tiny_grid.HERE, capture_output=True, text=True)
