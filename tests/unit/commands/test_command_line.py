"""The command line: every step has help, errors are readable, and no half-written file stays."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from clusterlets import __main__ as command_line
from clusterlets.grid.artifacts import SeedBlock
from clusterlets.grid.runs_table import read_cell
from clusterlets.steps.options import STEPS
from clusterlets.storage import save_arrays


@pytest.mark.parametrize("step", STEPS)
def test_every_option_of_every_step_is_explained(step, capsys):
    with pytest.raises(SystemExit) as stopped:
        command_line.main([step, "--help"])
    assert stopped.value.code == 0
    options = capsys.readouterr().out.split("options:")[1].split("\n  -")
    assert len(options) > 2
    for option in options[1:]:
        assert len(option.split()) > 2, f"{step}: {option}"


def test_without_a_command_the_commands_are_listed(capsys):
    assert command_line.main([]) == 0
    assert "extract-clusterlets" in capsys.readouterr().out


def test_an_unknown_step_is_named(capsys):
    assert command_line.main(["mach-pinball"]) == 2
    assert "'mach-pinball'" in capsys.readouterr().err


def test_a_missing_input_gives_a_readable_error_and_writes_nothing(tmp_path, capsys):
    output = tmp_path / "out.json"
    assert (
        command_line.main(
            [*"measure-geometry --dataset x --base-seed 0 --data".split(), str(tmp_path / "x.npz"), "--output", str(output)]
        )
        == 1
    )
    error = capsys.readouterr().err
    assert "x.npz does not exist" in error and "Traceback" not in error
    assert not output.exists()


LOCALES = {
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Latin-1 on the screen": {"PYTHONIOENCODING": "latin-1"},
}


@pytest.mark.slow
def test_in_every_locale_all_names_are_printed_and_files_are_utf_8(tmp_path):
    lines = [f"{row},{row % 7},{'Köln' if row % 3 else '東京'}\n" for row in range(30)]
    (tmp_path / "people.csv").write_text("größe,größe €,東京\n" + "".join(lines), encoding="utf-8")

    def run(name, environment, *options):
        outputs = ["-o", f"{name}.csv", "--plot", f"{name}.svg"]
        command = [sys.executable, "-m", "clusterlets", "cluster", "people.csv", *options, "-k", "3", *outputs]
        process = subprocess.run(command, cwd=tmp_path, env=os.environ | environment, capture_output=True)
        return process.returncode, (process.stdout + process.stderr).decode("utf-8", "replace")

    options = ["--sensitive", "東京", "--features", "größe,größe €"]
    status, printed = run("UTF-8", {"PYTHONUTF8": "1"}, *options)
    assert status == 0 and "Köln" in printed
    for name, environment in LOCALES.items():
        status, printed = run(name, environment, *options)
        assert status == 0 and re.search(r"K(\\xf6|\ufffd)ln", printed), printed
        for suffix in ("csv", "svg"):
            assert (tmp_path / f"UTF-8.{suffix}").read_bytes() == (tmp_path / f"{name}.{suffix}").read_bytes()
    status, printed = run("none", LOCALES["ASCII"], "--sensitive", "größen")
    assert status == 1 and r"no column 'gr\xf6\xdfen'" in printed and "Traceback" not in printed


def test_a_system_error_is_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    receipt = tmp_path / "file" / "receipt.json"
    options = ["--dataset", "iris", "--raw-dir", str(tmp_path / "raw"), "--receipt-path", str(receipt)]
    assert command_line.main(["fetch-dataset", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"clusterlets fetch-dataset: {receipt} cannot be written or read (") and "Traceback" not in error


def test_a_block_is_the_same_after_saving_and_loading(tmp_path):
    path = tmp_path / "block.npz"
    values = {"FRAC (fair)/3": {"a": np.arange(3), "b": np.eye(2)}, "4": {"a": np.zeros(0)}}
    SeedBlock(values).save(path)
    loaded = SeedBlock.load(path)
    assert loaded.status == "ok" and list(loaded.values) == list(values)
    assert np.array_equal(loaded.values["FRAC (fair)/3"]["b"], np.eye(2))


def test_the_steps_turn_a_dataset_into_a_row(tmp_path, capsys):
    """Runs the steps of one cell by hand on data with an obvious answer: two blobs, each with both groups."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [100.0, 0.0]], 20, axis=0)
    X, groups = centres + rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    save_arrays(tmp_path / "d.npz", {"X": X, "groups": groups, "group_names": np.array(["a", "b"])})

    def step(name, **options):
        arguments = [part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", str(value))]
        assert command_line.main([name, *arguments]) == 0, capsys.readouterr().err

    file = {name: tmp_path / name for name in ("d.npz", "geo.json", "g.npz", "l.npz", "s.npz", "row.csv")}
    common = {"dataset": "blobs", "k": 2, "seeds": "0-1", "base_seed": 0}
    step("measure-geometry", data=file["d.npz"], dataset="blobs", base_seed=0, output=file["geo.json"])
    step("extract-clusterlets", data=file["d.npz"], **common, pieces=file["g.npz"], labels=file["l.npz"])
    step("sum-distances", data=file["d.npz"], dataset="blobs", labels=file["l.npz"], base_seed=0, output=file["s.npz"])
    step(
        "score-method",
        **{"pieces": file["g.npz"], "distances": file["s.npz"], "geometry": file["geo.json"], "method": '{"name": "D"}'},
        **{"data": file["d.npz"], "labels": file["l.npz"]},
        **{"parameters": '{"hops": 1}', "settings": '{"scope": "last"}', "limits": '{"seconds": null, "memory_mb": null}'},
        **{"deviation": "absolute", "output": file["row.csv"]},
        **common,
    )
    row, _ = read_cell(file["row.csv"])
    assert (row["n_clusters"], row["deviation_max"], row["overlap"]) == ("2", "0.0", "0.0")
    assert float(row["cohesion"]) > 0.95
    assert (row["delta_min"], row["additive_violation"]) == ("0.0", "0") and float(row["silhouette"]) > 0.95
