"""One process compiles a kernel and the others load it. Kernels also work if the cache is damaged or cannot be written."""

import os
import subprocess
import sys

import pytest

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
    {before}
    print(twice(21.0))
"""


@pytest.fixture
def start(tmp_path):
    """A function that starts a process, which runs the statement ``before`` and then calls a kernel.

    The cache is in the test's own folder. The process prints whether it compiled or loaded the kernel, and the kernel's result.
    """

    def start(before="pass"):
        # The file is replaced in one step, because an earlier process may be about to read it. Its timestamp stays the same,
        # because Numba compiles again if the timestamp of the source changes.
        (tmp_path / "next.py").write_text(KERNEL_MODULE.format(before=before))
        os.utime(tmp_path / "next.py", (1, 1))
        (tmp_path / "next.py").replace(tmp_path / "doubling.py")
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "doubling.py"]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    return start


def output_of(process):
    output = process.communicate(timeout=600)[0]
    assert process.returncode == 0
    return output.split()


def test_only_one_of_several_simultaneous_processes_compiles(start):
    processes = [start() for _ in range(4)]
    outputs = sorted(output_of(process) for process in processes)
    assert outputs == [["compiled", "42.0"], *[["loaded", "42.0"]] * 3]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_kernel_is_recompiled_and_cached_again(start, tmp_path, suffix):
    output_of(start())
    for damage in (lambda content: b"", lambda content: content[: len(content) // 2], lambda content: b"\xff" * len(content)):
        files = list((tmp_path / "cache").rglob(f"*.{suffix}"))
        assert files
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        assert output_of(start()) == ["compiled", "42.0"]
        assert output_of(start()) == ["loaded", "42.0"]


def test_compiling_is_announced_and_loading_is_not(start):
    announce_compiling = "twice = module.before_compiling(lambda: print('soon', end=' '))(twice)"
    assert output_of(start(announce_compiling)) == ["soon", "compiled", "42.0"]
    assert output_of(start(announce_compiling)) == ["loaded", "42.0"]


def test_a_kernel_works_without_a_writable_cache(start, tmp_path):
    # Numba checks that the cache is writable by creating a temporary file there. Here this fails, as /dev/null is no folder.
    prevent_writing = "import tempfile; tempfile.TemporaryFile = lambda dir: open('/dev/null/full')"
    assert output_of(start(prevent_writing)) == ["compiled", "42.0"]
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_kernel_works_without_file_locks(start):
    prevent_locking = "import fcntl; fcntl.lockf = lambda *options: open('/dev/null/full')"
    assert output_of(start(prevent_locking)) == ["compiled", "42.0"]
    assert output_of(start(prevent_locking)) == ["loaded", "42.0"]


def test_arguments_that_do_not_fit_the_signature_are_refused():
    @compiled("int64(int64)")
    def identity(x):
        return x

    assert identity(3) == 3
    with pytest.raises(TypeError):
        identity(3.5 + 1j)


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
