"""With any arguments, a command does what it should or says in one line why it cannot."""

import csv
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from fuzzing import ODD_STRINGS, any_of, command, has_reason_in_one_line, restored_folder
from hypothesis import strategies as st
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[2]


def mostly(usual, rare):
    """Values of the strategy ``usual``; about one in ten is of the strategy ``rare`` instead."""
    return st.integers(0, 9).flatmap(lambda number: usual if number else rare)


def options(**values):
    """Some options in any order, each as (name, value) or, rarely, as (name,). ``values`` has a strategy for each option."""
    strategies = {name: mostly(strategy.map(lambda value: (value,)), st.just(())) for name, strategy in values.items()}
    pairs = st.fixed_dictionaries({}, optional=strategies).map(lambda drawn: [(name, *value) for name, value in drawn.items()])
    pairs = pairs.filter(lambda drawn_pairs: not any("--" in pair for pair in drawn_pairs))  # argparse drops the value "--"
    return pairs.flatmap(st.permutations)


def as_arguments(pairs):
    """``[("k", "5")]`` as ``-k 5``. A value that begins with a dash is joined to its long option, as users must write it."""
    for name, *value in pairs:
        if len(name) == 1:
            yield from [f"-{name}", *value]
            continue
        option = f"--{name.replace('_', '-')}"
        yield from [f"{option}={value[0]}"] if value and value[0].startswith("-") else [option, *value]


# ---- cluster ---------------------------------------------------------------------------------------------------------

N_ROWS = 24
NUMBERS = any_of("1", "2", "3", "5", "24", "25", "1000000000", "0", "-1", "1.5", "²", "٣", "1_0", "nan", "9" * 5000)
SHARES = any_of("0", "0.25", "1", "0.5", "1e-5", "0.2000000001", "-0.1", "1.1", "nan", "inf", "1e400", "½")
OUTPUT_PATHS = any_of(
    *("a.csv", "b/c.csv", "people.csv", "folder", "é 漢.csv", "a\nb.csv", "-a.csv", "~.csv", "", ".", "/", "x" * 300)
)
CLUSTER = options(
    sensitive=any_of("city", "sex", "age", "name", "nothing", "") | ODD_STRINGS,
    features=any_of("age,income", "age", "age,age", "city", "", ",", "name") | ODD_STRINGS,
    separator=any_of(",", ";", "\t", "", "ab", '"', "\n", "é"),
    scaling=any_of("none", "standard", "x"),
    method=any_of("frac", "x", "C", "G-B", "D", "B", "G-D", "c", ""),
    k=NUMBERS,
    clusterlets=NUMBERS,
    max_deviation=SHARES,
    hops=NUMBERS,
    omega=SHARES,
    tau=SHARES,
    seed=NUMBERS | any_of("4294967295", "4294967296", "18446744073709551616"),
    o=OUTPUT_PATHS,
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Work in a folder with a table whose rows all differ."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    rows = [f"n{n},{n % 7 + n / 10},{n * n % 31},{'Rom' if n % 3 else 'Bonn'},{'wm'[n % 2]}\n" for n in range(N_ROWS)]
    Path("people.csv").write_text("".join(["name,age,income,city,sex\n", *rows]))


def gives_every_row_a_cluster_or_says_why_not(pairs):
    with restored_folder():
        result = command("cluster", "people.csv", *as_arguments([("sensitive", "city"), *pairs]))
        if result.status:
            assert has_reason_in_one_line(result, "cluster"), result.err
            return
        values = {name: value[0] for name, *value in pairs if value}
        assert result.out.startswith(f"people.csv: {N_ROWS} rows")
        assert f"seed {int(values.get('seed', 0))}:" in result.out
        if "o" in values:
            header, *rows = csv.reader(io.StringIO(Path(values["o"]).read_text()))
            assert header == ["row", "cluster"] and {int(row) for row, _ in rows} == set(range(N_ROWS))
            clusters = {int(cluster) for _, cluster in rows}
            assert clusters == set(range(len(clusters))) and f": {len(clusters)} cluster" in result.out
            if values.get("method") not in ("D", "B"):
                assert len(rows) == N_ROWS
        if values.get("method") == "frac":
            assert f"FRAC (fair), k = {int(values.get('k', 5))}, " in result.out
            # The program prints 0.0 as 0.
            assert f"tau {float(values['tau']) if 'tau' in values else '1/'}" in result.out.replace("tau 0:", "tau 0.0:")


def test_cluster_gives_every_row_a_cluster_or_says_why_not(fuzz, people):
    fuzz(gives_every_row_a_cluster_or_says_why_not, CLUSTER, n_examples=60)


# ---- tune ------------------------------------------------------------------------------------------------------------

PLOT_PATHS = any_of("a.png", "b/c.svg", "people.csv", "a.csv", "folder", "é 漢.pdf", "a.gif", "-a.png", "", "x" * 300 + ".png")
TUNE = options(
    sensitive=mostly(any_of("sex"), any_of("age", "name", "nothing", "") | ODD_STRINGS),
    features=mostly(any_of("age,income", "age"), any_of("city", "") | ODD_STRINGS),
    scaling=mostly(any_of("none", "standard"), ODD_STRINGS),
    clusters=mostly(any_of("2", "3", "24", "2-3"), NUMBERS),
    max_deviation=mostly(any_of("0", "0.25", "1", "1e-5"), SHARES),
    minutes=mostly(any_of("0.02", "1e-9"), any_of("0", "-1", "nan", "inf", "1e400", "1_0")),
    methods=mostly(any_of("FRAC"), ODD_STRINGS),
    seed=mostly(any_of("1", "4294967295"), NUMBERS | any_of("4294967296")),
    o=mostly(any_of("a.csv", "b/c.csv", "é 漢.csv", "x.png"), OUTPUT_PATHS),
    plot=mostly(any_of("a.png", "b/c.svg", "é 漢.pdf"), PLOT_PATHS),
)


def child_processes():
    return Path("/proc/thread-self/children").read_text() if sys.platform == "linux" else ""


def tune_recommends_a_run_that_the_printed_command_repeats(pairs):
    with restored_folder():
        children_before = child_processes()
        result = command("tune", "people.csv", *as_arguments([("sensitive", "city"), *pairs]))
        assert child_processes() == children_before
        if result.status:
            assert has_reason_in_one_line(result, "tune"), result.err
            return
        values = {name: value[0] for name, *value in pairs if value}
        paths = re.findall(r"^(?:every limit|picture): (.*)$", result.out, re.MULTILINE)
        assert len(paths) == 2 and all(Path(path).stat().st_size for path in paths)
        assert paths == [values.get("o", paths[0]), values.get("plot", paths[1])]
        path = list(csv.DictReader(io.StringIO(Path(paths[0]).read_text())))
        assert {row["method"] for row in path} <= {"fair-limit", "FRAC", "k-means"}
        deviation = re.search(r"largest deviation ([\d.]+),", result.out)[1]
        repeated = command(*shlex.split(result.out.splitlines()[-1])[1:])
        assert repeated.status == 0 and re.search(rf"max (deviation )?{deviation}\b", repeated.out), repeated
        pyplot.close("all")  # each command leaves a figure open in this process


def test_tune_recommends_a_run_that_the_printed_command_repeats(fuzz, people):
    fuzz(tune_recommends_a_run_that_the_printed_command_repeats, TUNE, n_examples=12)
