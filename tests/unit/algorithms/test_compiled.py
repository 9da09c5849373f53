"""One process compiles a kernel and the others load it. Kernels also work if the cache is damaged or cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from clusterlets.algorithms import compiled as module
from clusterlets.algorithms.compiled import compiled

KERNEL_MODULE = """
import sys
from clusterlets.algorithms import compiled as module

@module.compiled("float64(float64)")
def twice(x):
    return 2 * x

compile_for = module._compile_for
def report(dispatcher, signature):
    code = compile_for(dispatcher, signature)
    print("loaded" if dispatcher.stats.cache_hits else "compiled", end=" ")
    return code
module._compile_for = report

if __name__ == "__main__":
    print(twice(21.0))
"""


@pytest.mark.slow
def test_only_one_of_several_simultaneous_processes_compiles(tmp_path):
    (tmp_path / "doubling.py").write_text(KERNEL_MODULE)
    options = {"cwd": tmp_path, "env": {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}, "text": True}
    processes = [subprocess.Popen([sys.executable, "doubling.py"], stdout=subprocess.PIPE, **options) for _ in range(3)]
    outputs = sorted(process.communicate(timeout=600)[0].split() for process in processes)
    assert outputs == [["compiled", "42.0"], *[["loaded", "42.0"]] * 2]


def twice(x):
    return 2 * x


@pytest.fixture
def call(tmp_path, monkeypatch):
    """A function that calls a new kernel, as a new process would, and says whether it was compiled or loaded.

    The cache is in the test's own folder.
    """
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    how = []
    compile_for = module._compile_for

    def noted(dispatcher, signature):
        code = compile_for(dispatcher, signature)
        how.append("loaded" if dispatcher.stats.cache_hits else "compiled")
        return code

    monkeypatch.setattr(module, "_compile_for", noted)

    def call():
        assert compiled("float64(float64)")(twice)(21.0) == 42
        return how.pop()

    return call


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_kernel_is_recompiled_and_cached_again(call, tmp_path, suffix):
    assert [call(), call()] == ["compiled", "loaded"]
    for damage in (lambda content: b"", lambda content: content[: len(content) // 2], lambda content: b"\xff" * len(content)):
        files = list((tmp_path / "cache").rglob(f"*.{suffix}"))
        assert files
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        assert [call(), call()] == ["compiled", "loaded"]


def test_the_first_compilation_is_announced_and_loading_is_not(call, tmp_path):
    announced = []
    with module.before_compiling(lambda: announced.append("soon")):
        assert [call(), call()] == ["compiled", "loaded"]
        shutil.rmtree(tmp_path / "cache")
        assert call() == "compiled" and announced == ["soon"]
    with module.before_compiling(lambda: announced.append("never")):
        assert call() == "loaded" and announced == ["soon"]


def test_a_kernel_works_without_a_writable_cache(call, tmp_path, monkeypatch):
    # Numba checks that the cache is writable by creating a temporary file there. Here this fails, as /dev/null is no folder.
    monkeypatch.setattr("tempfile.TemporaryFile", lambda dir: Path("/dev/null/full").read_bytes())
    assert [call(), call()] == ["compiled", "compiled"]
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_kernel_works_without_file_locks(call, monkeypatch):
    monkeypatch.setattr("fcntl.lockf", lambda *options: Path("/dev/null/full").read_bytes())
    assert [call(), call()] == ["compiled", "loaded"]


def test_arguments_that_do_not_fit_the_signature_are_refused():
    @compiled("int64(int64)")
    def identity(x):
        return x

    assert identity(3) == 3
    with pytest.raises(TypeError):
        identity(3.5 + 1j)


@pytest.mark.slow
def test_compiling_together_caches_every_missing_kernel(tmp_path):
    code = (
        "from clusterlets.algorithms import compiled, kernels\n"
        "names = ['kernels.assign', 'kernels.sums_by_label']\n"
        "missing = lambda: [name for name in names if not compiled._is_cached(compiled._import_kernel(name).__wrapped__)]\n"
        "before = missing()\n"
        "compiled.os.cpu_count = lambda: 2\n"
        "compiled.compile_together(names)\n"
        "print(len(before), len(missing()))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert process.stdout == "2 0\n", process.stderr
