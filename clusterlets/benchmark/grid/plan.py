"""The plan of a run, which gives the rules of Snakemake their inputs and parameters.

``wildcards`` are Snakemake's. Their attributes are the parts of a path, named as in :mod:`clusterlets.benchmark.grid.paths`.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from clusterlets import methods
from clusterlets.benchmark import datasets
from clusterlets.benchmark.grid import fingerprints, paths, variants
from clusterlets.benchmark.grid.budget_records import rerun_parameter
from clusterlets.benchmark.grid.cells import Cell, cells
from clusterlets.benchmark.grid.entries import PROGRAM_MODULE, load_method
from clusterlets.errors import ClusterletsError
from clusterlets.parameter_text import combinations, configuration
from clusterlets.storage import hash_of_file
from clusterlets.tables.user_table import READING

_SOURCE_KEYS = ("path", "command")


class Plan:
    """The plan of a checked configuration. The rules read these attributes:

    - ``variant_folders``: the variant of each folder of cells; an empty name stands for the grid itself
    - ``settings``: the configuration of each of these folders
    - ``data_folders``: the folders among these that have their own tables
    - ``entries``: for each method, the entry that jobs load it from
    - ``methods``: the class of each method
    - ``matchers``: the names of the methods that join clusterlets
    - ``user_tables``: the ids of the user's own tables
    - ``budget``: the time and memory that a fit may take, as JSON
    - ``has_paper_data``: whether any dataset is one of the paper's, so that its numbers and claims can be judged
    """

    def __init__(self, config: Mapping):
        self.config, self.results = config, config["results"]
        self.variant_folders = {variants.folder(self.results, name): name for name in ["", *config["variants"]]}
        self.settings = {folder: variants.settings_of(config, name) for folder, name in self.variant_folders.items()}
        self.data_folders = [folder for folder, name in self.variant_folders.items() if variants.has_own_tables(config, name)]
        self.entries = {
            name: {"name": name, **{key: entry[key] for key in _SOURCE_KEYS if key in entry}}
            for name, entry in config["method_settings"].items()
        }
        self.methods = {name: load_method(entry) for name, entry in self.entries.items()}
        self.matchers = {name for name, method in self.methods.items() if method.is_matcher}
        self.user_tables = [dataset for dataset, table in config["tables"].items() if "path" in table]
        self.budget = json.dumps(config["budget"], sort_keys=True)
        self.has_paper_data = any(
            "paper_name" in datasets.describe(name) for name in {*config["datasets"]} & {*datasets.names()}
        )

    def wildcard_constraints(self) -> dict[str, str]:
        """The regular expression that each wildcard matches."""
        return {
            "cells_of": _any_of(self.variant_folders),
            "tables_of": _any_of(self.data_folders),
            "dataset": _any_of([*self.config["tables"], *datasets.names()]),
            "method": _any_of(dict.fromkeys([*self.methods, *methods.names()])),
            "k": "[2-9]|[1-9][0-9]+",
            "parameters": "(?:_[A-Za-z0-9%.+-]+)*",  # as grid.cells writes them
            "seeds": "[0-9]+-[0-9]+",
        }

    def user_tables_constraint(self) -> str:
        """A regular expression that matches only the ids of the user's own tables."""
        return _any_of(self.user_tables) or "(?!)"  # "(?!)" matches nothing

    # ---- cells -------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _cells(self) -> dict[str, Cell]:
        return {cell.path: cell for cell in cells(self.config)}

    @functools.cached_property
    def _configurations(self) -> dict[str, dict[str, dict]]:
        return {
            name: {configuration(parameters): parameters for parameters in combinations(entry["parameters"])}
            for name, entry in self.config["method_settings"].items()
        }

    def cell(self, wildcards: Any) -> Cell:
        """The cell with these wildcards. Raises ClusterletsError if the configured grid has no such cell."""
        path = paths.CELL.removeprefix("{cells_of}/").format(**_parts(wildcards))
        if path not in self._cells:
            raise _not_in_grid(path)
        return self._cells[path]

    def cell_parameters(self, wildcards: Any) -> str:
        """The values of each parameter of a cell's method, as JSON."""
        return json.dumps(self.cell(wildcards).parameters)

    def fit_parameters(self, wildcards: Any) -> str:
        """The parameters of one configuration of a cell, as JSON."""
        parameters_by_name = self._configurations[self.cell(wildcards).method]
        if wildcards.parameters not in parameters_by_name:
            raise _not_in_grid(f"{wildcards.method} with k{wildcards.k}{wildcards.parameters}")
        return json.dumps(parameters_by_name[wildcards.parameters])

    def starts(self, wildcards: Any) -> int:
        """Number of starts of each run of a method in a case."""
        starts = self.config["method_settings"][wildcards.method]["starts"]
        return starts if isinstance(starts, int) else starts[wildcards.dataset][self.config["k"].index(int(wildcards.k))]

    def method_entry(self, wildcards: Any) -> str:
        """The entry that a cell's method is loaded from, as JSON."""
        return json.dumps(self.entries[self.cell(wildcards).method])

    def shared_settings(self, wildcards: Any) -> str:
        """The values that a cell's method takes from keys of the configuration, by parameter name, as JSON."""
        settings = self.settings[wildcards.cells_of]
        return json.dumps({name: settings[key] for name, key in self.methods[wildcards.method].settings.items()})

    def deviation(self, wildcards: Any) -> str:
        """The kind of deviation that the scores of a cell use."""
        return self.settings[wildcards.cells_of]["deviation"]

    def exceeded_budget(self, pattern: str) -> Callable[[Any], str]:
        """A function from wildcards to the budget that the cell must be rerun with, or to "" if its fits exceeded none.

        ``pattern`` is the path of the cell's file, with wildcards. See :func:`rerun_parameter`.
        """

        # A function of the wildcards: Snakemake ignores changes of a parameter that is a function of the output.
        def budget_to_rerun_with(wildcards: Any) -> str:
            return rerun_parameter(pattern.format(**_parts(wildcards)), self.budget)

        return budget_to_rerun_with

    # ---- inputs ------------------------------------------------------------------------------------------------------

    def tables_of(self, wildcards: Any) -> str:
        """The folder with the tables and clusters that a cell is scored from."""
        return wildcards.cells_of if wildcards.cells_of in self.data_folders else self.results

    def score_inputs(self, wildcards: Any) -> dict[str, str | list[str]]:
        """The files that a cell is scored from, by the name of the rule's input."""
        cell, method, tables_of = self.cell(wildcards), self.methods[wildcards.method], self.tables_of(wildcards)
        fits = {} if method.is_matcher else {"pieces": paths.fitted_pieces(cell, tables_of)}
        return paths.shared_inputs(cell, method, tables_of) | fits

    def run_files(self, wildcards: Any) -> list[str]:
        """The files of all cells of the grid or of a variant. A variant shares the cells that its change does not affect."""
        return list(variants.cells_by_path(self.config, self.variant_of(wildcards)))

    def plain_costs(self, wildcards: Any) -> list[str]:
        """The files with the costs of plain k-means, for every table and k of a folder of cells."""
        return list(variants.plain_cost_paths(self.config, self.variant_of(wildcards)).values())

    def variant_of(self, wildcards: Any) -> str:
        """The name of the variant of a folder of cells; empty for the grid itself."""
        return self.variant_folders[wildcards.cells_of]

    def folder_settings(self, wildcards: Any) -> str:
        """The settings that the results in a folder of cells depend on, as JSON."""
        return results_settings(self.settings[wildcards.cells_of])

    # ---- tables ------------------------------------------------------------------------------------------------------

    def table_settings(self, wildcards: Any) -> dict:
        """The settings of a table. Raises ClusterletsError if the configuration has no such table."""
        tables = self.settings[wildcards.tables_of]["tables"]
        if wildcards.dataset not in tables:
            raise ClusterletsError(f"{wildcards.dataset} is not configured. Add it to 'datasets' in the configuration.")
        return tables[wildcards.dataset]

    def table_setting(self, key: str) -> Callable[[Any], Any]:
        """A function from wildcards to one setting of the table. Lists of column names are joined by ``+``."""

        def setting_of(wildcards: Any) -> Any:
            value = self.table_settings(wildcards)[key]
            return "+".join(value) if isinstance(value, list) else value

        return setting_of

    def user_table_settings(self, wildcards: Any) -> str:
        """How to read a user's table, as JSON."""
        table = self.table_settings(wildcards)
        return json.dumps({key: table[key] for key in ("sensitive", "features", "scaling", *READING)})

    def user_table_hash(self, wildcards: Any) -> str:
        """SHA-256 of the file of a user's table."""
        return _hash_of_file(self.table_settings(wildcards)["path"])

    def missing_files(self) -> dict[str, list[str]]:
        """The raw files that are not here yet, by dataset. Files that come with a library are left out."""
        names = dict.fromkeys(table["name"] for table in self.config["tables"].values() if "path" not in table)
        missing: dict[str, list[str]] = {}
        for description in map(datasets.describe, names):
            paths = [f"data/raw/{description['name']}/{file['name']}" for file in description["files"]]
            absent = [path for path in paths if not Path(path).is_file()]
            if absent and description["module"] != "bundled":
                missing[description["name"]] = absent
        return missing

    def receipt(self, wildcards: Any) -> str:
        """Path of the receipt that is written when a table's raw files are fetched."""
        return _receipt(self.table_settings(wildcards)["name"])

    # ---- code --------------------------------------------------------------------------------------------------------

    def fetch_code(self) -> dict[str, Any]:
        """The code of fetching a dataset, without libraries, because they do not change what is downloaded."""
        return self._code_of_datasets("benchmark.steps.fetch_dataset", lambda wildcards: wildcards.dataset)

    def prepare_code(self) -> dict[str, Any]:
        """The code of preparing a dataset."""
        return self._code_of_datasets(
            "benchmark.steps.prepare_dataset",
            lambda wildcards: self.table_settings(wildcards)["name"],
            libraries=("numpy", "pandas"),
        )

    def _code_of_datasets(self, step: str, name_of: Callable[[Any], str], libraries: tuple[str, ...] = ()) -> dict[str, Any]:
        codes = {name: fingerprints.dataset_code(step, name, libraries) for name in datasets.names()}
        return fingerprints.parameters_by(name_of, fingerprints.step_code(step, libraries=libraries), codes)

    def method_code(self, step: str) -> dict[str, Any]:
        """The code of a step that runs the wildcards' method, with the method's file and libraries."""
        names = dict.fromkeys([*methods.names(), *self.methods])
        codes = {name: self._code_of_method(step, name) for name in names}
        return fingerprints.parameters_by(lambda wildcards: wildcards.method, fingerprints.step_code(step, "methods"), codes)

    def _code_of_method(self, step: str, name: str) -> dict[str, str]:
        """The code of a step that runs this method. No import leads to the method's module."""
        entry, method = self.entries.get(name, {}), self.methods.get(name) or methods.get(name)
        built_in = [] if "path" in entry else [method.__module__.removeprefix("clusterlets.")]
        return fingerprints.step_code(
            step,
            "methods",
            *([PROGRAM_MODULE] if "command" in entry else built_in),
            libraries=["numpy", *([] if method.is_matcher else methods.COMPILED), *method.libraries],
            user_files=self._user_files([name]) if name in self.methods else (),
        )

    def _user_files(self, names: Iterable[str]) -> tuple[str, ...]:
        entries = [self.config["method_settings"][name] for name in names]
        return tuple(path for entry in entries for path in (*filter(None, [entry.get("path")]), *entry.get("files", [])))

    def user_files(self) -> str:
        """SHA-256 of every file of the user's own methods, by path, as JSON."""
        return json.dumps({path: _hash_of_file(path) for path in self._user_files(self.methods)}, sort_keys=True)


def results_settings(settings: Mapping) -> str:
    """The settings that results depend on, as JSON: all but the address of the mirror.

    Keys are sorted, because ``--config`` changes their order.
    """
    return json.dumps({key: settings[key] for key in sorted(settings) if key != "mirror"})


def _not_in_grid(name: str) -> ClusterletsError:
    return ClusterletsError(
        f"{name} is not in the configured grid. Add its dataset, method, k, parameters and seeds to the configuration (a file "
        "with these keys, after --configfile), and run the command again."
    )


def _receipt(dataset: str) -> str:
    return f"data/raw/{dataset}/receipt.json"


def _parts(wildcards: Any) -> dict[str, str]:
    """Wildcards by name. Snakemake's are a list that has the method ``items``; others are a namespace."""
    return dict(wildcards.items()) if hasattr(wildcards, "items") else vars(wildcards)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))


@functools.cache
def _hash_of_file(path: str) -> str:
    try:
        return hash_of_file(path)
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be read ({error.strerror}).") from None
