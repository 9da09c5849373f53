"""The whole workflow runs with a user's own tables and choice of groups. The first tests follow docs/extending.md."""

import csv
import hashlib
import html
import json
import os
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest
from real_tables import mirror

from clusterlets.storage import load_rows

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
CITIES = {"Cork, Ireland": 4, "São Paulo": 4, "Zürich": 4}


def example(language):
    """The first code block in this language in the guide."""
    return re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)[1]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """The folder of a run that follows the guide's example to the letter, and the outputs of the example's commands."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.csv").write_text(example("csv"), encoding="utf-8")
    (folder / "people.yaml").write_text(example("yaml"), encoding="utf-8")
    return folder, [run(folder, command) for command in example("sh").splitlines()]


def run(folder, command):
    """The output of a command of the guide, which runs in ``folder`` and not in the checkout."""
    process = subprocess.run(
        command.replace("snakemake", f"snakemake --snakefile '{ROOT / 'Snakefile'}'"),
        cwd=folder,
        shell=True,
        env={**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.returncode == 0, process.stdout
    return process.stdout


def test_the_data_command_prints_one_line_per_dataset(people):
    folder, (output, _) = people
    names = ("dataset", "iris", "people.city")
    header, iris, city = (re.search(rf"^\| {name} .*$", output, re.MULTILINE)[0] for name in names)
    assert [cell.strip() for cell in header.split("|")][1:-1] == [
        *("dataset", "source", "rows", "features", "groups", "fingerprint ok", "licence", "citation")
    ]
    assert [cell.strip() for cell in iris.split("|")][2:5] == ["bundled", "150", "4"] and "| yes " in iris
    assert [cell.strip() for cell in city.split("|")][2:5] == ["people.csv", "12", "3"] and "| not known " in city
    assert all(len(line) <= 120 for line in (header, iris, city))
    assert "- people.city: ignored (not numeric): name" in output
    lines = (folder / "results/people/datasets.csv").read_text(encoding="utf-8").splitlines()
    assert any("3: Cork, Ireland 4, São Paulo 4, Zürich 4" in line for line in lines)


def test_the_whole_grid_runs_and_the_groups_keep_their_names(people):
    folder, _ = people
    rows = list(csv.DictReader((folder / "results/people/runs.csv").read_text(encoding="utf-8").splitlines()))
    rows_of = {name: [row for row in rows if row["dataset"] == name] for name in ("iris", "people.city")}
    # Two seeds of five matchers, FRAC's two outputs and two controls.
    assert len(rows_of["people.city"]) == len(rows_of["iris"]) == len(rows) / 2 == 2 * (5 + 2 + 2)
    assert {row["status"] for row in rows} == {"ok"}
    prepared, geometry = (
        json.loads((folder / f"results/people/{kind}/people.city.json").read_text(encoding="utf-8"))
        for kind in ("prepared", "geometry")
    )
    cities = [city for (city,) in geometry["group_values"]]
    assert prepared["groups"] == dict(zip(cities, geometry["group_sizes"], strict=True)) == CITIES
    scalings = [json.loads((folder / f"results/people/prepared/{name}.json").read_text())["scaling"] for name in rows_of]
    assert scalings == ["none", "standard"]
    assert "people.city" in (folder / "results/people/report.html").read_text(encoding="utf-8")


def test_touching_a_table_reruns_nothing_and_editing_it_reruns_the_jobs_that_depend_on_it(people):
    folder, _ = people
    command = example("sh").splitlines()[1] + " --dry-run"
    os.utime(folder / "people.csv")
    assert "Nothing to be done" in run(folder, command)
    content = (folder / "people.csv").read_text(encoding="utf-8")
    (folder / "people.csv").write_text(content.replace("2100", "2200"), encoding="utf-8")
    plan = run(folder, command)
    verify_output = run(folder, "clusterlets verify --results results/people || true")
    (folder / "people.csv").write_text(content, encoding="utf-8")
    assert "changed since the results were made from them: your own tables and methods\n  people.csv" in verify_output
    assert "Read people.city from people.csv" in plan and "Write the report" in plan
    assert "files are what" in run(folder, "clusterlets verify --results results/people")
    assert "iris" not in plan


def test_names_with_special_characters_reach_the_report_and_the_manifest(workflow):
    """The names contain syntax of Snakemake, shells, matplotlib, Markdown, LaTeX and HTML."""
    names = ["$0-$20k", "$\\frac{$", "rate {pct}", "a|b <b>&amp;", "_hidden $(touch x) `touch x`", "x" * 20_000]
    with open(workflow.folder / "people.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age {n}", "pay $x$", "group {wildcards.k} $HOME"])
        table.writerows([row % 7, row % 11 + row / 100, names[row % 6]] for row in range(120))
    entry = {"name": "people", "id": "null", "path": "people.csv", "sensitive": "group {wildcards.k} $HOME"}
    outcome = workflow.run(config={"datasets": [entry], "k": [2], "seeds": {"count": 1, "batch": 1}})
    assert outcome.status == 0, outcome.output
    results = workflow.results()
    assert "manifest.json" in results and not (workflow.folder / "x").exists()
    description = json.loads(results["prepared/null.json"])
    assert description["groups"] == dict.fromkeys(sorted(names), 20) and description["sensitive"] == entry["sensitive"]
    page = results["report.html"].decode()
    assert f"6: {html.escape(', '.join(f'{name} 20' for name in sorted(names)), quote=False)}" in page


def test_in_an_ascii_locale_logs_and_results_are_utf_8(workflow):
    ascii_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    lines = [f"{row},{'Köln' if row % 3 else '東京'}\n" for row in range(30)]
    entry = {"name": "people", "path": "people.csv", "sensitive": "größe"}
    for first_age, status in (("31", 0), ("älter", 1)):
        (workflow.folder / "people.csv").write_text("".join(["age,größe\n", f"{first_age},Köln\n", *lines]), encoding="utf-8")
        outcome = workflow.run("data", config={"datasets": [entry]}, environment=ascii_locale)
        assert outcome.status == status and "Traceback" not in outcome.output, outcome.output
    assert "log results/tiny/logs/prepare_user_table/people.gr__e.log" in outcome.output  # Snakemake shows no UTF-8 here
    results = workflow.folder / "results/tiny"
    assert "Köln 21" in (results / "datasets.csv").read_text(encoding="utf-8")
    assert "column 'age' holds 'älter'" in (results / "logs/prepare_user_table/people.gr__e.log").read_text(encoding="utf-8")


def test_results_with_two_choices_of_groups_for_one_dataset_are_kept_apart(workflow):
    names = ("heart_failure", "heart_failure.sex+age_group")
    cells = [f"results/tiny/runs/{name}/G-B/k2/seeds0-1.csv" for name in names]
    entries = ["heart_failure", {"name": "heart_failure", "sensitive": ["sex", "age_group"]}]
    outcome = workflow.run(*cells, config={"datasets": entries}, environment={"CLUSTERLETS_MIRROR": str(mirror())})
    assert outcome.status == 0, outcome.output
    for name, cell, n_clusterlets in zip(names, cells, ("4", "8"), strict=True):  # k = 2 in each of two or four groups
        rows = load_rows(workflow.folder / cell)
        assert [(row["dataset"], row["n_clusterlets"]) for row in rows] == [(name, n_clusterlets)] * 2
    geometry = json.loads((workflow.folder / f"results/tiny/geometry/{names[1]}.json").read_text())
    assert geometry["group_values"] == [[sex, age] for sex in ("man", "woman") for age in ("25 to 59", "60 or more")]
    assert geometry["group_sizes"] == [83, 111, 46, 59]


FILE_NAMES = [f"a{character}b.csv" for character in f"{string.punctuation} éß漢".replace("/", "")]
FILE_NAMES += ["-rf.csv", "~/a.csv", "$(touch hit).csv", "`touch hit`.csv", " a.csv", "a .csv"]
FILE_NAMES += ["rate {k}.csv", "{wildcards.dataset}.csv", "{}.csv"]
COLUMN = "in {k} or '$(touch hit)' \"%\" \\ é"


def test_tables_and_their_columns_may_have_any_name(workflow):
    (workflow.folder / "~").mkdir()
    entries = []
    for number, name in enumerate(FILE_NAMES):
        rows = [f"{value},{value % 3},{value + number}" for value in range(9)]
        text = "\n".join(['x,"' + COLUMN.replace('"', '""') + '",y', *rows, ""])
        (workflow.folder / name).write_text(text, encoding="utf-8")
        entries.append({"name": f"t{number}", "id": f"t{number}", "path": name, "sensitive": COLUMN, "features": ["x", "y"]})
    outcome = workflow.run("data", config={"datasets": entries})
    assert outcome.status == 0, outcome.output
    for number, name in enumerate(FILE_NAMES):
        description = json.loads((workflow.folder / f"results/tiny/prepared/t{number}.json").read_text())
        assert (description["source"], description["rows"], description["sensitive"]) == (name, 9, COLUMN)
    assert not list(workflow.folder.rglob("hit"))
    again = workflow.run("--dry-run", "results/tiny/datasets.md", config={"datasets": entries})
    assert "Nothing to be done" in again.output, again.output


def test_a_table_is_read_again_if_and_only_if_its_content_changes(workflow):
    table, config = workflow.folder / "people.csv", {"datasets": [{"name": "people", "path": "people.csv", "sensitive": "b"}]}
    table.write_text("a,b\n1,x\n2,y\n3,x\n")
    result = "results/tiny/prepared/people.b.json"

    def output_of(*arguments):
        outcome = workflow.run(result, *arguments, config=config)
        assert outcome.status == 0, outcome.output
        return outcome.output

    def hash_of_source():
        return json.loads((workflow.folder / result).read_text())["source_sha256"]

    output_of()
    first_hash = hash_of_source()
    new_content = table.read_text().replace("3", "4")
    (workflow.folder / "older").write_text(new_content)
    os.utime(workflow.folder / "older", (1e9, 1e9))
    os.replace(workflow.folder / "older", table)  # the table now has an old time, as after cp -p or tar -x
    assert "Read people.b from people.csv" in output_of("--dry-run")
    output_of()
    assert hash_of_source() == hashlib.sha256(new_content.encode()).hexdigest() != first_hash
    for time in (1e9, 2e9, 4e9):  # two in the past and one in the future
        os.utime(table, (time, time))
        assert "Nothing to be done" in output_of("--dry-run")


@pytest.mark.parametrize("results", ["Rés.u+l@t-s_漢/ü", "../beside"])
def test_the_results_folder_may_have_special_characters_or_be_outside_the_working_folder(workflow, results):
    (workflow.folder / "in").mkdir()  # so that "../beside" is in the folder of this test
    workflow.folder = workflow.folder / "in"
    outcome = workflow.run(f"{results}/runs.csv", config={"results": results, "datasets": ["iris"], "k": [2]})
    assert outcome.status == 0, outcome.output
    assert (workflow.folder / results / "runs.csv").is_file()
