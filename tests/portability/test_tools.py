"""tiny_grid names and shows a changed result, and without_blas makes a product of doubles fail."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import tiny_grid
import without_blas

from clusterlets.storage import load_arrays, save_arrays

LABELS_FILE = "labels/iris/FRAC/k2/seeds0-1.npz"


@pytest.fixture
def two_runs(tmp_path, monkeypatch):
    """The folders of two equal runs, ``native`` and ``other``. Their bytes are the expected ones."""
    results = tmp_path / "native" / "results"
    save_arrays(results / LABELS_FILE, {"labels/0": np.array([0, 1, 1]), "status": np.array("ok")})
    (results / "runs.csv").write_text("dataset,cohesion\niris,0.5\nwine,0.25\n")
    hashes = tiny_grid.hashes(tmp_path / "native")
    monkeypatch.setattr(tiny_grid, "expected", lambda: hashes)
    return tmp_path / "native", shutil.copytree(tmp_path / "native", tmp_path / "other")


def test_equal_runs_give_no_mismatch(two_runs):
    native, other = two_runs
    (other / "results" / "logs").mkdir()
    (other / "results" / "logs" / "a.log").touch()
    assert tiny_grid.mismatch(other, native) == tiny_grid.mismatch(other) == ""


def test_the_earliest_file_that_differs_is_shown(two_runs):
    native, other = two_runs
    (other / "results" / "runs.csv").write_text("dataset,cohesion\niris,0.5\nwine,0.26\n")
    mismatch = tiny_grid.mismatch(other, native)
    assert mismatch.startswith("1 of 2 files differ from tests/portability/expected.json; the first is runs.csv.")
    assert "\n-wine,0.25\n+wine,0.26\n" in mismatch
    changed_arrays = load_arrays(other / "results" / LABELS_FILE) | {"labels/0": np.array([0, 1, 2])}
    save_arrays(other / "results" / LABELS_FILE, changed_arrays)
    mismatch = tiny_grid.mismatch(other, native)
    assert f"the first is {LABELS_FILE}.\nlabels/0: natively [0 1 1], here [0 1 2]\n" in mismatch
    assert mismatch.endswith(f"All: {LABELS_FILE} runs.csv")


def test_the_message_says_if_a_file_is_missing_or_if_the_native_run_is_wrong_too(two_runs):
    native, other = two_runs
    (other / "results" / "runs.csv").unlink()
    assert "It is missing here" in tiny_grid.mismatch(other, native)
    (native / "results" / "runs.csv").write_text("dataset,cohesion\n")
    assert "A native run on this machine gives the same bytes" in tiny_grid.mismatch(native, native)


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
