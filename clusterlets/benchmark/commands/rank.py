"""``clusterlets rank my_method.py``: run a method of your own, and say where it stands in the leaderboard."""

import argparse
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import TextWrapper

import pandas as pd

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.analysis.leaderboard import METHOD, MOST_RUNGS, POINTS
from clusterlets.benchmark.grid.cells import cells
from clusterlets.benchmark.grid.configuration import CONFIGURATION, check_configuration
from clusterlets.benchmark.grid.paths import prepared_path
from clusterlets.benchmark.grid.runs_columns import read_cell
from clusterlets.benchmark.grid.runs_frame import fill_text, read_results_table, read_runs, write_csv
from clusterlets.benchmark.provenance import manifest
from clusterlets.benchmark.report.standings import FILES, Standings, all_methods, describe_limit, summary
from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError
from clusterlets.metrics.prices import BELOW_ONE
from clusterlets.parameter_text import combinations, format_parameters
from clusterlets.storage import load_json, write_json
from clusterlets.supervision.statuses import OK
from clusterlets.text import counted

# The columns of a method's row.
_SHOWN = ["reliability", "cases", "tables", "price", "90th percentile", "worst", "runs within"]
#: Folder of the results of all ranked methods, which share the prepared tables and the costs of plain k-means.
RESULTS = "results/rank"

_CHECKOUT = CONFIGURATION.parent
_POINTS = "leaderboard_points.csv"
_EPILOG = """
examples:
  clusterlets rank my_method.py
  clusterlets rank my_method.py --tables heart_failure,pima,credit     a first look, compared on these tables only
  clusterlets rank --name mine --command "Rscript mine.R {table} {k} {seed} {style} {labels}" \
      --parameters '{"style": ["plain", "fancy"]}'

The method runs with the tables, sensitive groups, k, seeds and limits of the finished run in --reference. The values of its
parameters come from its `ladder`, or else from its `parameters`. Finished jobs are not run again; if you edit the method, or a
file that the command names, only your method runs again. See docs/extending.md.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    if not (_CHECKOUT / "Snakefile").is_file():
        raise ClusterletsError(
            "rank runs the workflow, which this copy of the package lacks. In a clone of the repository, run `make "
            "environment` and then .venv/bin/clusterlets rank."
        )
    settings, tables, other_points = _read_reference(options.reference)
    user_config = configuration(settings, _entry(options), options.tables)
    config = check_configuration(user_config, _CHECKOUT / "workflow" / "schemas" / "config.schema.yaml")
    ((name, entry),) = config["method_settings"].items()
    if not set(entry["names"]).isdisjoint(other_points["method"]):
        raise ClusterletsError(f"{options.reference} already has a method called {name}; rename yours.")
    _refuse_too_many_configurations(name, entry)

    folder = Path(RESULTS) / "leaderboards" / name
    write_json(folder / "config.json", user_config)
    smallest_table = min(config["datasets"], key=lambda table: tables[table]["rows"])
    _try_first_cell(config, smallest_table, folder, options.cores)
    _run_workflow(f"{RESULTS}/runs.csv", folder, options.cores)
    for table in config["datasets"]:
        if load_json(prepared_path("json", RESULTS, table))["fingerprint"] != tables[table]["fingerprint"]:
            raise ClusterletsError(f"{table} is not the table of {options.reference}, so prices cannot be compared.")

    runs = read_runs(f"{RESULTS}/runs.csv")
    if len(config["datasets"]) < len(settings["datasets"]):
        print(f"All methods are compared on only some of the tables: {', '.join(config['datasets'])}.")
    for line in _describe_failures(runs):
        print(line)
    outputs = [entry["output"]] if "output" in entry else entry["names"]
    if len(outputs) > 1:
        print(f"{name} has {len(outputs)} outputs. Each is ranked as if it were the only one; --which NAME ranks one.")
    for output in outputs:
        ranked = config | {"method_settings": {name: entry | {"output": output}}}
        standings = _rank_output(runs, ranked, other_points, _output_folder(folder, name, output))
        print("", *describe(standings, output), sep="\n")
    rungs = [format_parameters(combination) for combination in combinations(entry["parameters"])]
    n_starts = entry["parameters"].get("n_init", [1])[0] * entry["starts"]
    rung_text = "; ".join(filter(None, rungs)) or "no parameters"
    print(f"\n{name} tried {counted(len(rungs), 'rung')}, each with {counted(n_starts, 'start')}: {rung_text}")
    print(f"All numbers: {folder}/ (docs/field.md explains the terms)")
    return 0


def _rank_output(runs: pd.DataFrame, settings: Mapping, other_points: pd.DataFrame, folder: Path) -> Standings:
    """The standings of an output, which ``settings`` choose. Its points and standings are written to the folder."""
    (entry,) = settings["method_settings"].values()
    kinds = leaderboard.kinds_of(settings["method_settings"])
    points = leaderboard.points(runs, kinds, leaderboard.starts_of(settings))
    write_csv(folder / _POINTS, points)
    standings = standings_with(other_points, read_results_table(folder / _POINTS), entry["output"])
    for file, frame in zip(FILES, (standings.board, standings.overall, standings.pairs), strict=True):
        write_csv(folder / file, frame)
    return standings


def _output_folder(folder: Path, name: str, output: str) -> Path:
    return folder / output.removeprefix(f"{name} (").removesuffix(")") if output != name else folder


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser(
        "rank", "Run a method of your own as `make field` runs all others, and say where it stands among them.", _EPILOG
    )
    method = parser.add_mutually_exclusive_group(required=True)
    method.add_argument(
        "method", metavar="FILE", nargs="?", type=cli.nonempty, help="a Python file with one method (docs/extending.md)"
    )
    method.add_argument(
        "--command", type=cli.nonempty, help="instead, a command that reads {table} and writes {labels} (docs/extending.md)"
    )
    parser.add_argument("--name", type=cli.nonempty, help="what the command's method is called (default: mine)")
    parser.add_argument(
        "--parameters", metavar="JSON", type=cli.nonempty, help='lists of values to try, such as {"style": ["plain", "fancy"]}'
    )
    parser.add_argument("--which", metavar="OUTPUT", type=cli.nonempty, help="rank only this one of the method's outputs")
    parser.add_argument(
        "--tables",
        metavar="NAMES",
        type=lambda text: cli.nonempty(text).replace(" ", "").split(","),
        help="comma-separated tables to compare on; a name without a column selects all sensitive groups of a table "
        "(default: all)",
    )
    parser.add_argument(
        "--cores", type=cli.whole_number(1, 1024), default=os.cpu_count() or 1, metavar="N", help="default: all"
    )
    reference = _CHECKOUT / "reference" / "field"
    parser.add_argument(
        "--reference", type=Path, default=reference, metavar="FOLDER", help="a finished run (default: reference/field)"
    )
    return parser


# ---- the settings of the finished run --------------------------------------------------------------------------------


def _read_reference(folder: Path) -> tuple[dict, dict[str, dict], pd.DataFrame]:
    """The settings of a finished run, the entries of its tables in the manifest, and its leaderboard points."""
    if not (folder / _POINTS).is_file():
        raise ClusterletsError(f"There is no {folder / _POINTS} to compare with; name the folder of a finished `make field`.")
    content, points = manifest.read(folder / manifest.NAME), read_results_table(folder / _POINTS)
    if list(points.columns) != POINTS:
        raise ClusterletsError(f"{folder} is from a version whose leaderboard had other rules; run `make field` again.")
    return content["settings"], content["datasets"], points


def _entry(options: argparse.Namespace) -> dict[str, object]:
    """The method as an entry of the configuration."""
    entry: dict[str, object] = {"path": options.method}
    if options.command:
        entry = {"name": options.name or "mine", "command": options.command, "files": _files_in(options.command)}
    elif options.name:
        raise ClusterletsError("--name is for --command; a Python file names its method itself.")
    entry |= {"parameters": cli.json_mapping(options.parameters)} if options.parameters else {}
    return entry | ({"output": options.which} if options.which else {})


def _files_in(command: str) -> list[str]:
    """The files below the working folder that a command names; an edit of one must run the method again."""
    try:
        words = shlex.split(command)
    except ValueError:  # an unclosed quote, about which the check of the configuration complains
        return []
    return list(dict.fromkeys(word for word in words if os.path.isfile(word) and not os.path.isabs(word)))


def configuration(settings: Mapping, entry: Mapping, names: list[str] | None) -> dict:
    """The configuration that runs a method, by its entry, with the settings of a finished run.

    ``settings`` come from the manifest of the finished run. ``names`` selects tables by id or by name; None selects all.
    Raises ClusterletsError for a table that the finished run lacks.
    """
    tables = [settings["tables"][table] for table in settings["datasets"]]
    available = list(dict.fromkeys(name for table in tables for name in (table["id"], table["name"])))
    unknown = [name for name in names or [] if name not in available]
    if unknown:
        raise ClusterletsError(f"--tables: the leaderboard has no {', '.join(unknown)}; it has {', '.join(available)}.")
    selected = [table for table in tables if names is None or {table["id"], table["name"]} & set(names)]
    # An id with a dot is derived from the other settings of a table, so it is left out here.
    entries = [{key: table[key] for key in table if key != "id" or "." not in table["id"]} for table in selected]
    common = {key: value for key, value in settings.items() if key not in ("tables", "method_settings")}
    edits: dict[str, object] = {"results": RESULTS, "mirror": None, "exclude": [], "variants": {}, "methods": [dict(entry)]}
    return {**common, "datasets": entries, **edits}


def _refuse_too_many_configurations(name: str, entry: Mapping) -> None:
    n_configurations = math.prod(map(len, entry["parameters"].values()))
    if n_configurations > MOST_RUNGS:
        raise ClusterletsError(
            f"{entry.get('path', name)} tries {counted(n_configurations, 'configuration')}, but a method may try at most "
            f"{MOST_RUNGS}. Give its parameters fewer values, or a `ladder` (docs/extending.md)."
        )


# ---- running the workflow --------------------------------------------------------------------------------------------


def _try_first_cell(config: Mapping, table: str, folder: Path, cores: int) -> None:
    """Run a single cell, so that a mistake in the method's file shows at once."""
    cell = next(cell for cell in cells(config) if cell.dataset == table)
    _run_workflow(f"{RESULTS}/{cell.path}", folder, cores)
    rows = read_cell(f"{RESULTS}/{cell.path}", cell)
    if all(row["status"] == "failed" for row in rows):
        raise ClusterletsError(f"{cell.method} failed on {table}, so it was not compared: {rows[0]['note']}")


def _run_workflow(target: str, folder: Path, cores: int) -> None:
    """Make the file ``target`` with the programs of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    command = [sys.executable, "-P", "-m", "snakemake", target, f"--snakefile={_CHECKOUT / 'Snakefile'}", f"--cores={cores}"]
    environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": ""}  # caching bytecode saves time in every job
    # stdout=2: all output of the workflow goes to standard error.
    process = subprocess.run([*command, "--configfile", str(folder / "config.json")], stdout=2, env=environment)
    if process.returncode:
        raise ClusterletsError(
            "The workflow stopped; its messages above say why. Run the same command again to continue. If a dataset cannot be "
            "had, compare on other tables: --tables NAMES."
        )


def _describe_failures(runs: pd.DataFrame) -> Iterator[str]:
    failures = runs[runs["status"] != OK]
    if len(failures):
        counts, first_failure = failures["status"].value_counts().sort_index(), failures.iloc[0]
        statuses = "; ".join(f"{status} {count}" for status, count in counts.items())
        where = f"{first_failure['dataset']}, k = {first_failure['k']:g}: {first_failure['note']}"
        yield f"{counted(len(failures), 'run')} of {len(runs):,} without a result ({statuses}). The first: {where}"


# ---- the standings ---------------------------------------------------------------------------------------------------


def standings_with(other_points: pd.DataFrame, own_points: pd.DataFrame, method: str) -> Standings:
    """The standings of a method among the others, on the tables on which the method ran.

    ``other_points`` and ``own_points`` are points of the leaderboard; ``method`` names the output of ``own_points`` to rank.
    """
    shared_points = other_points[other_points["dataset"].isin(own_points["dataset"])]
    points = pd.concat([fill_text(frame, "parameters") for frame in (shared_points, own_points)], ignore_index=True)
    board = leaderboard.leaderboard(points)
    rivals = board[(board["kind"] == METHOD) | (board["method"] == method)]
    return Standings(rivals, leaderboard.overall(rivals), leaderboard.pairs(rivals))


def describe(standings: Standings, method: str) -> Iterator[str]:
    """Lines with a method's reliability, price and place under each limit, and its comparison with every other method."""
    yield summary(standings)[0]
    rows = []
    for limit in standings.limits:
        place = standings.under(limit).set_index("method")["place"].get(method)
        table = pd.concat(all_methods(standings, limit).values()).set_index("method")
        if method in table.index:
            place = "none" if pd.isna(place) else f"{place} of {len(standings.under(limit, METHOD))}"
            rows.append({"limit": f"{limit:g}", "place": place, **table.loc[method, _SHOWN]})
    if not rows:
        yield f"\n{method} has no case, because none of its runs has as many clusters as a case's k."
        return
    yield f"\n{method}:\n{pd.DataFrame(rows).to_string(index=False)}"
    yield (
        "(a case is a table with its sensitive groups, and a k; cases: in how many the method keeps the limit, of how many\n"
        " some clustering may keep it; docs/field.md describes the other columns)"
    )
    if (standings.overall.loc[standings.overall["method"] == method, "price"].round(2) < 1).any():
        yield f"(a price {BELOW_ONE})"
    n_tables = len(set(leaderboard.tables_of(standings.board)))
    if n_tables < leaderboard.MIN_TABLES:
        yield f"\nFewer than {leaderboard.MIN_TABLES} tables are too few to tell methods apart."
        return
    fill = TextWrapper(100, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False).fill
    firsts = leaderboard.first_methods(standings.overall)
    for limit in standings.limits:
        yield f"\n{describe_limit(limit).capitalize()}:"
        yield from map(fill, _comparisons(standings.pairs_of(method, limit), method, firsts.get(limit)))


def _comparisons(pairs: pd.DataFrame, method: str, first: str | None) -> Iterator[str]:
    """Lines on the cost over that of the other methods, and on what the tests against the first method tell apart."""
    shared = pairs[pairs["cases"] > 0].to_dict("records")
    if shared:
        yield "cost over that of others in shared cases: " + ", ".join(f"{row['other']} {row['ratio']:.2f}" for row in shared)
    if first is None or pairs.empty:
        return
    is_first = method == first
    rivals = pairs if is_first else pairs[pairs["other"] == first]
    apart = rivals[rivals["told_apart"] != ""].to_dict("records")
    described = [f"{row['other']} ({row['told_apart']}: {_describe_difference(row)})" for row in apart]
    undecided = list(rivals.loc[rivals["told_apart"] == "", "other"])
    place = "in the first place, and " if is_first else ""
    if described:
        yield f"{place}told apart from {', '.join(described)}"
    if undecided:
        yield f"{'' if described else place}not told apart from {', '.join(undecided)}"


def _describe_difference(pair: Mapping) -> str:
    """What is told apart: the ratio of prices, and the difference of reliabilities with its sign."""
    values = {"price": f"{pair['ratio']:.2f}", "reliability": f"{pair['difference']:+.2f}"}
    return ", ".join(text for word, text in values.items() if word in pair["told_apart"])
