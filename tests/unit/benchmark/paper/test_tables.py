"""Tables 1 to 5: their values, the counts of runs that they leave out, and their formats."""

import re
import shutil
import subprocess

import pandas as pd
import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import reported, tables


@pytest.fixture(scope="module")
def our_tables():
    return tables.make(synthetic_runs(seeds=10))


def test_table_1_averages_the_ok_runs_of_each_matcher_and_counts_the_dropped_runs():
    runs = some_runs(
        {"matcher": "D", "deviation_mean": 0.1, "n_clusters": 2},
        {"matcher": "D", "deviation_mean": 0.3, "n_clusters": 4},
        {"matcher": "D", "status": "infeasible", "deviation_mean": None},
        {"matcher": "C", "deviation_mean": 0.5},
        {"method": "FRAC (fair)", "matcher": None, "deviation_mean": 0.9},
    )
    table = tables.by_matcher(runs)
    assert list(table["matcher"]) == ["C", "D-PB"]
    row = table.iloc[1]
    assert row[["deviation_mean", "deviation_mean_std", "size", "size_std"]].tolist() == pytest.approx([0.2, 0.1, 3, 1])
    assert (row["runs"], row["dropped"]) == (2, 1)


def test_table_2_shows_the_best_run_and_counts_the_candidates_and_excluded_runs():
    runs = some_runs(
        {"deviation_mean": 0.01, "n_clusters": 2},
        {"deviation_mean": 0.02, "overlap": 0.5},
        {"deviation_mean": 0.04, "k": 20, "hops": 3, "seed": 7},
        {"deviation_mean": 0.05},
        {"status": "infeasible"},
        {"dataset": "adult", "n_clusters": 1},
        {"method": "k-means", "matcher": None, "deviation_mean": 0.001},
    )
    table = tables.best_runs(runs, "deviation_mean").set_index("dataset")
    assert list(table.index) == ["adult", "pima"]
    assert table.loc["pima", ["k", "hops", "seed"]].tolist() == [20, 3, 7]
    assert table.loc["pima", ["candidates", "degenerate", "dropped"]].tolist() == [2, 2, 1]
    assert pd.isna(table.loc["adult", "matcher"]) and table.loc["adult", "degenerate"] == 1


def test_single_runs_are_chosen_by_value_and_configurations_by_the_mean_over_seeds():
    lucky = [{"hops": 1, "seed": 0, "deviation_mean": 0.00}, {"hops": 1, "seed": 1, "deviation_mean": 0.30}]
    steady = [{"hops": 2, "seed": 0, "deviation_mean": 0.10}, {"hops": 2, "seed": 1, "deviation_mean": 0.12}]
    runs = some_runs(*lucky, *steady).astype({"omega": float})
    assert tables.best_runs(runs, "deviation_mean")["hops"].tolist() == [1]
    best = tables.best_configurations(runs, "deviation_mean").iloc[0]
    assert (best["hops"], best["seeds"], best["candidates"]) == (2, 2, 2)
    assert best["deviation_mean"] == pytest.approx(0.11)


def test_table_4_shows_the_best_run_of_each_output_of_frac():
    runs = some_runs(
        {"deviation_mean": 0.03},
        {"method": "FRAC (nearest)", "matcher": None, "k": 10, "deviation_mean": 0.2},
        {"method": "FRAC (fair)", "matcher": None, "k": 5, "deviation_mean": 0.002},
        {"method": "FRAC (nearest)", "matcher": None, "k": 5, "deviation_mean": 0.1},
    )
    table = tables.best_runs_of_methods(runs, "deviation_mean", selection.COMPARED)
    assert table[["method", "k", "deviation_mean"]].to_numpy().tolist() == [
        ["Clusterlets", 5, 0.03],
        ["FRAC (nearest)", 5, 0.1],
        ["FRAC (fair)", 5, 0.002],
    ]


def test_table_5_agrees_with_correlations_computed_by_hand():
    # In the three runs that are ok: omega 0, 1, 2; cohesion 1, 3, 2; deviation 3, 2, 1; silhouette as omega.
    runs = some_runs(*[{"matcher": "C"}] * 4).assign(omega=[0.0, 1, 2, 9], status=["ok"] * 3 + ["no_valid_partition"])
    runs = runs.assign(cohesion=[1, 3, 2, 0.8], deviation_mean=[3, 2, 1, 0.1], centroid_silhouette=runs["omega"])
    runs = runs.assign(silhouette=-runs["omega"])
    table = tables.correlations(runs)
    value = table.set_index(["coefficient", "x", "y"])["value"]
    assert value["pearson", "cohesion", "omega"] == pytest.approx(0.5)
    assert value["spearman", "cohesion", "omega"] == pytest.approx(0.5)
    assert value["kendall", "cohesion", "omega"] == pytest.approx(1 / 3)
    assert value["kendall", "omega", "deviation"] == pytest.approx(-1)
    assert value["pearson", "centroid_silhouette", "omega"] == pytest.approx(1)
    assert value["pearson", "silhouette", "omega"] == pytest.approx(-1)
    assert set(table["runs"]) == {3}


def test_the_tables_have_all_columns_of_the_paper(our_tables):
    for name in reported.TABLES:
        assert set(reported.table(name).columns) <= set(our_tables[name].frame.columns)


def test_a_table_uses_only_the_first_ten_seeds(our_tables):
    from_twenty_seeds = tables.make(synthetic_runs(seeds=20), ["table1_matchers"])["table1_matchers"]
    pd.testing.assert_frame_equal(from_twenty_seeds.frame, our_tables["table1_matchers"].frame)


def test_markup_characters_are_escaped_in_latex_and_markdown():
    assert tables.latex_escape(r"a_b & 5% #1 {x} $ ~ ^ \ ± – < | −1") == (
        r"a\_b \& 5\% \#1 \{x\} \$ \textasciitilde{} \textasciicircum{} \textbackslash{} $\pm$ -- $<$ \textbar{} $-$1"
    )
    table = tables.Table("t", "T", (tables.Column("x", ("x",)),), pd.DataFrame({"x": ["a|b", "a\\|b", "a\\"]}), "")
    assert tables.to_markdown(table).splitlines()[4:7] == [r"| a\|b |", r"| a\\\|b |", r"| a\\ |"]


def test_latex_rows_fit_the_alignment_and_special_characters_are_escaped(our_tables):
    for table in our_tables.values():
        text = tables.to_latex(table)
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(rows) == len(table.frame) + 1
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(table.columns)}
        assert not re.search(r"(?<!\\)[_%#]", body + table.caption)
        assert text.count("{") == text.count("}")
        assert text.isascii()


def test_latex_rows_of_a_dataset_share_the_cell_with_its_name(our_tables):
    table_4 = tables.to_latex(our_tables["table4_frac_vs_clusterlets"])
    assert table_4.count(r"\multirow{3}{*}") == 10 and r"\multirow{3}{*}{heart\_failure} & Clusterlets & G-B" in table_4


def test_latex_headings_name_the_quantities(our_tables):
    assert "Centroid silhouette" in tables.to_latex(our_tables["table5_correlations"])


def test_markdown_is_a_pipe_table_with_a_dash_for_a_missing_value(our_tables):
    lines = tables.to_markdown(our_tables["table4_frac_vs_clusterlets"]).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    # Two lines of heading, and three methods on each of ten datasets, in 12 columns.
    assert len(rows) == 2 + 30 and {row.count("|") for row in rows} == {13}
    assert any("| FRAC (fair) | – |" in row for row in rows)
    assert lines[-1].endswith("left out for their status: 4 no_valid_partition.")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex; Debian's texlive-latex-extra has it")
def test_all_tables_compile(our_tables, tmp_path):
    (tmp_path / "all_tables.tex").write_text(tables.document(our_tables), encoding="utf-8")
    for name, table in our_tables.items():
        (tmp_path / f"{name}.tex").write_text(tables.to_latex(table), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all_tables.tex"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout
    assert f"({len(our_tables)} pages" in process.stdout and "Overfull" not in process.stdout
