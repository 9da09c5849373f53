"""The command line explains every option, and prints readable errors in every locale."""

import os
import re
import subprocess
import sys

import pytest

from clusterlets.benchmark.steps import STEPS


@pytest.mark.parametrize("step", STEPS)
def test_every_option_of_every_step_is_explained(step, run):
    status, output, _ = run(step, "--help")
    assert status == 0
    options = re.findall("^  --([a-z0-9-]+)", output, re.MULTILINE)
    assert len(options) > 1
    explained = re.findall("^(\\w+): .", output, re.MULTILINE)
    assert [option for option in options if option.replace("-", "_") not in explained] == []


def test_without_a_command_the_commands_are_listed(run):
    status, output, _ = run()
    assert status == 0
    topics = ["your own table", "a method of your own", "runs of the workflow"]
    assert re.findall("^(.*):$", output, re.MULTILINE) == topics
    assert output.index("  repair ") < output.index("  rank ") < output.index("  archive ")
    assert len(output.splitlines()) <= 20


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["datasets"]])
def test_a_command_ends_quietly_if_its_reader_has_closed_the_pipe(arguments):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([sys.executable, "-m", "clusterlets", *arguments], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (process.returncode, process.stderr) == (0, "")


def test_an_unknown_command_is_named(run):
    status, _, error = run("mach-pinball")
    assert status == 2 and "'mach-pinball'. `clusterlets --help` lists" in error
    assert "there is no command 'clster' (did you mean 'cluster'?)" in run("clster")[2]


LOCALES = {
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Latin-1 output": {"PYTHONIOENCODING": "latin-1"},
}


@pytest.fixture
def cluster(tmp_path):
    """A function that clusters a table with names in Unicode, and returns the status and all output."""
    lines = [f"{row},{row % 7},{'Köln' if row % 3 else '東京'}\n" for row in range(30)]
    (tmp_path / "people.csv").write_text("größe,größe €,東京\n" + "".join(lines), encoding="utf-8")

    def run_cluster(name, environment, *options):
        outputs = ["-o", f"{name}.csv", "--plot", f"{name}.svg"]
        command = [sys.executable, "-m", "clusterlets", "cluster", "people.csv", *options, "-k", "3", *outputs]
        process = subprocess.run(command, cwd=tmp_path, env=os.environ | environment, capture_output=True)
        return process.returncode, (process.stdout + process.stderr).decode("utf-8", "replace")

    return run_cluster


@pytest.mark.slow
def test_in_every_locale_names_can_be_printed_and_files_are_in_utf_8(cluster, tmp_path):
    options = ["--sensitive", "東京", "--features", "größe,größe €"]
    status, printed = cluster("UTF-8", {"PYTHONUTF8": "1"}, *options)
    assert status == 0 and "Köln" in printed
    for name, environment in LOCALES.items():
        status, printed = cluster(name, environment, *options)
        assert status == 0 and re.search(r"K(\\xf6|\ufffd)ln", printed), printed
        for suffix in ("csv", "svg"):
            assert (tmp_path / f"UTF-8.{suffix}").read_bytes() == (tmp_path / f"{name}.{suffix}").read_bytes()


@pytest.mark.slow
def test_an_error_in_an_ascii_locale_escapes_other_characters(cluster):
    status, printed = cluster("clusters", LOCALES["ASCII"], "--sensitive", "größen")
    assert status == 1 and r"no column 'gr\xf6\xdfen'" in printed and "Traceback" not in printed


def test_a_system_error_is_reported_without_a_traceback(tmp_path, run):
    (tmp_path / "file").touch()
    receipt = tmp_path / "file" / "receipt.json"
    options = ["--dataset", "iris", "--raw-dir", str(tmp_path / "raw"), "--receipt-path", str(receipt)]
    status, _, error = run("fetch-dataset", *options)
    assert status == 1 and error.startswith(f"clusterlets fetch-dataset: {receipt} cannot be written or read (")
    assert "Traceback" not in error
