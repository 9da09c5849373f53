"""The plan of a run: inputs and parameters of each file that the run makes. Snakemake runs the rules, which read the plan.

``wildcards`` are Snakemake's. Their attributes are the parts of a path, named as in :mod:`clusterlets.grid.paths`.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clusterlets import datasets, methods
from clusterlets.errors import ClusterletsError
from clusterlets.grid import paths, step_fingerprints, variants
from clusterlets.grid.cells import Cell, cells
from clusterlets.grid.crossed_limits import exceeded_limits
from clusterlets.grid.entries import PROGRAM, load
from clusterlets.grid.estimate import dataset_steps
from clusterlets.storage import hash_of_file

_SOURCE_KEYS = ("path", "command", "conda")


class Plan:
    """The plan of a checked configuration. The rules read its attributes.

    ``variant_folders`` maps each folder of cells to the name of its variant, which is empty for the grid itself. ``settings``
    maps each of these folders to its configuration, and ``data_folders`` lists the folders that have their own tables.
    ``entries`` maps the name of each method to where it comes from, in the format that jobs read; ``methods`` maps it to the
    class. ``matchers`` are the names of the methods that join clusterlets, and ``user_tables`` the ids of the user's own
    tables. ``limits`` is the time and memory that a fit may take, as JSON.
    """

    def __init__(self, config: Mapping):
        self.config, self.results = config, config["results"]
        self.variant_folders = {variants.folder(self.results, name): name for name in ["", *config["variants"]]}
        self.settings = {folder: variants.settings_of(config, name) for folder, name in self.variant_folders.items()}
        self.data_folders = [folder for folder, name in self.variant_folders.items() if variants.has_own_tables(config, name)]
        self.entries = {
            name: {"name": name, **{key: grid[key] for key in _SOURCE_KEYS if key in grid}}
            for name, grid in config["grids"].items()
        }
        self.methods = {name: load(entry) for name, entry in self.entries.items()}
        self.matchers = {name for name, method in self.methods.items() if method.needs}
        self.user_tables = [dataset for dataset, table in config["tables"].items() if "path" in table]
        self.limits = json.dumps(config["limits"], sort_keys=True)

    def wildcard_constraints(self) -> dict[str, str]:
        """The regular expression that each wildcard matches."""
        return {
            "place": _any_of(self.variant_folders),
            "base": _any_of(self.data_folders),
            "dataset": _any_of([*self.config["tables"], *datasets.names()]),
            "method": _any_of(dict.fromkeys([*self.methods, *methods.names()])),
            "k": "[2-9]|[1-9][0-9]+",
            "parameters": "(?:_[A-Za-z0-9%.+-]+)*",  # as grid.cells writes them
            "seeds": "[0-9]+-[0-9]+",
        }

    def user_tables_constraint(self) -> str:
        """A regular expression that matches the ids of the user's own tables, and nothing if there are none."""
        return _any_of(self.user_tables) or "(?!)"

    # ---- cells -------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _cells(self) -> dict[str, Cell]:
        return {cell.path: cell for cell in cells(self.config)}

    def cell(self, wildcards: Any) -> Cell:
        """The cell with these wildcards. Raises ClusterletsError if the configured grid has no such cell."""
        path = paths.CELL.removeprefix("{place}/").format(**_parts(wildcards))
        if path not in self._cells:
            raise ClusterletsError(
                f"{path} is not a cell of the configured grid. Add its dataset, method, k, parameters and seeds to the "
                "configuration (a file with these keys, after --configfile), and ask again."
            )
        return self._cells[path]

    def parameters(self, wildcards: Any) -> str:
        """The parameters of a cell's method, as JSON."""
        return json.dumps(self.cell(wildcards).parameters)

    def starts(self, wildcards: Any) -> int:
        """Number of starts of each run of a method."""
        return self.config["grids"][wildcards.method]["starts"]

    def method_entry(self, wildcards: Any) -> str:
        """Where a cell's method comes from, as JSON."""
        return json.dumps(self.entries[wildcards.method])

    def method_settings(self, wildcards: Any) -> str:
        """The values that a cell's method takes from keys of the configuration, by parameter name, as JSON."""
        settings = self.settings[wildcards.place]
        return json.dumps({name: settings[key] for name, key in self.methods[wildcards.method].settings.items()})

    def deviation(self, wildcards: Any) -> str:
        """The kind of deviation that the scores of a cell use."""
        return self.settings[wildcards.place]["deviation"]

    def exceeded_limits(self, pattern: str) -> Callable[[Any], str]:
        """A function from wildcards to the value of :func:`clusterlets.grid.crossed_limits.exceeded_limits` for the cell.

        ``pattern`` is the path of the cell's file, with wildcards. The function's value is a parameter of the rule, so a
        cell in which a fit exceeded a limit runs again when the limits change.
        """

        # The path comes from the wildcards, because Snakemake ignores a change in a parameter that depends on the output.
        def limits_to_rerun_with(wildcards: Any) -> str:
            return exceeded_limits(pattern.format(**_parts(wildcards)), self.limits)

        return limits_to_rerun_with

    # ---- inputs ------------------------------------------------------------------------------------------------------

    def score_inputs(self, wildcards: Any) -> dict[str, str]:
        """The files that a cell is scored from: the clusters of its method or, for a matcher, the clusterlets to join."""
        cell = self.cell(wildcards)
        base = wildcards.place if wildcards.place in self.data_folders else self.results
        inputs = {"geometry": paths.GEOMETRY.format(base=base, dataset=cell.dataset)}
        kinds = ["pieces"]
        if cell.method in self.matchers:
            kinds += ["labels", "distances", *self._partitions(cell.method)]
            inputs["data"] = paths.prepared_path("npz", base, cell.dataset)
        return inputs | {kind: self._block_path(kind, cell, base) for kind in kinds}

    def run_files(self, wildcards: Any) -> list[str]:
        """The files of all cells of the grid or of a variant, which may share some of the grid's cells."""
        return variants.paths(self.config, self.variant_of(wildcards))

    def plain_costs(self, wildcards: Any) -> list[str]:
        """The files with the costs of plain k-means on the tables of a folder of cells, for every configured k."""
        return list(variants.plain_cost_paths(self.config, self.variant_of(wildcards)).values())

    def variant_of(self, wildcards: Any) -> str:
        """The name of the variant that a folder of cells belongs to; empty for the grid itself."""
        return self.variant_folders[wildcards.place]

    def folder_settings(self, wildcards: Any) -> str:
        """The settings that the results in a folder of cells depend on, as JSON."""
        return results_settings(self.settings[wildcards.place])

    def recovery_inputs(self) -> list[str]:
        """All files that are needed to recover the clusters of any run."""
        files = {paths.prepared_path("npz", self.results, dataset) for dataset in self.config["datasets"]}
        for cell in self._cells.values():
            kinds = ["pieces", "labels", *self._partitions(cell.method)]
            files.update(self._block_path(kind, cell, self.results) for kind in kinds)
        return sorted(files)

    def _partitions(self, method: str) -> list[str]:
        return ["partitions"] if "partitions" in self.methods[method].needs else []

    def _block_path(self, kind: str, cell: Cell, base: str) -> str:
        return paths.cell_block_path(kind, cell, cell.method in self.matchers, base)

    # ---- tables ------------------------------------------------------------------------------------------------------

    def table(self, wildcards: Any) -> dict:
        """The settings of a table. Raises ClusterletsError if the configuration has no such table."""
        tables = self.settings[wildcards.base]["tables"]
        if wildcards.dataset not in tables:
            raise ClusterletsError(f"{wildcards.dataset} is not configured. Add it to 'datasets' in the configuration.")
        return tables[wildcards.dataset]

    def table_setting(self, key: str) -> Callable[[Any], Any]:
        """A function from wildcards to one setting of the table. Lists of column names are joined by ``+``."""

        def setting_of(wildcards: Any) -> Any:
            value = self.table(wildcards)[key]
            return "+".join(value) if isinstance(value, list) else value

        return setting_of

    def user_table_settings(self, wildcards: Any) -> str:
        """How to read a user's table, as JSON."""
        table = self.table(wildcards)
        return json.dumps({key: table[key] for key in ("sensitive", "features", "separator", "scaling")})

    def user_table_hash(self, wildcards: Any) -> str:
        """SHA-256 of the file of a user's table."""
        return _hash_of_file(self.table(wildcards)["path"])

    def receipt(self, wildcards: Any) -> str:
        """Path of the receipt that is written when a table's raw files are fetched."""
        return _receipt(self.table(wildcards)["name"])

    def edited_raw_files(self, wildcards: Any) -> str:
        """A message that names the raw files of a table that were edited after fetching, or "" if there are none.

        Their content is compared with the receipt, because a time stamp would miss an older file that replaced a newer one.
        The value is a parameter of a rule: a change makes Snakemake run the step that reports edited files and sets them aside.
        """
        return _edited_files(self.receipt(wildcards))

    def is_cacheable(self, wildcards: Any) -> bool:
        """Whether a job's parameters describe everything that it depends on, so that Snakemake may cache its results.

        For a user's table, the parameters include its hash. For other tables, they suffice if the SHA-256 of the raw files is
        the expected one. For a method that is a command, they never suffice, because they do not describe the programs it runs.
        """
        parts = _parts(wildcards)
        table, method = self.config["tables"][parts["dataset"]], self.entries.get(parts.get("method", ""), {})
        if "command" in method:
            return False
        return "path" in table or json.loads(Path(_receipt(table["name"])).read_text(encoding="utf-8"))["sha256_matches"]

    def seconds_per_job(self) -> dict[str, dict[str, float]]:
        """Estimated CPU seconds of a job, by rule and dataset. Omits users' tables, because their rows are not counted yet."""
        seconds_by_rule: dict[str, dict[str, float]] = defaultdict(dict)
        for dataset, table in self.config["tables"].items():
            if dataset not in self.user_tables:
                description = datasets.describe(table["name"])
                for rule, (jobs, seconds) in dataset_steps(description["rows"], description["features"], self.config).items():
                    seconds_by_rule[rule][dataset] = seconds / jobs
        return dict(seconds_by_rule)

    # ---- fingerprints ------------------------------------------------------------------------------------------------

    def fetch_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of fetching a dataset. It includes no library, because libraries do not change what is downloaded."""
        return step_fingerprints.dataset_fingerprint("fetching", wildcards.dataset, libraries=())

    def prepare_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of preparing a dataset."""
        return step_fingerprints.dataset_fingerprint("preparing", self.table(wildcards)["name"], libraries=("numpy", "pandas"))

    def method_fingerprint(self, step: str) -> Callable[[Any], str]:
        """A function from wildcards to the fingerprint of ``step``, which runs the method that the wildcards name.

        The fingerprint includes the file and libraries of this method, but of no other.
        """

        def fingerprint_of(wildcards: Any) -> str:
            method = wildcards.method
            numeric = ["numpy"] if method in self.matchers else ["numpy", *methods.COMPILED]
            return step_fingerprints.step_fingerprint(
                step,
                "methods",
                *self._modules([method]),
                libraries=tuple(dict.fromkeys([*numeric, *self.methods[method].libraries])),
                user_files=self._user_files([method]),
            )

        return fingerprint_of

    def recovery_fingerprint(self) -> str:
        """Fingerprint of the step that recovers clusters. It includes all matchers, because the step runs them again."""
        matchers = sorted(self.matchers)
        return step_fingerprints.step_fingerprint(
            "steps.recovery",
            *self._modules(matchers),
            libraries=("numpy", "pandas", "scikit-learn"),
            user_files=self._user_files(matchers),
        )

    def rule_fingerprints(self, codes: Mapping[str, Any]) -> dict[str, str]:
        """The first 16 digits of every rule's fingerprint; of a rule that depends on method or dataset, one entry for each.

        ``codes`` maps each rule to its parameter ``code``: a fingerprint, or a function of the wildcards.
        """
        fingerprints = {rule: code for rule, code in codes.items() if isinstance(code, str)}
        for method in self.methods:
            fingerprints[f"score_method {method}"] = self.method_fingerprint("steps.scoring")(SimpleNamespace(method=method))
            if method not in self.matchers:
                fingerprints[f"fit_method {method}"] = self.method_fingerprint("steps.fitting")(SimpleNamespace(method=method))
        for dataset in self.config["datasets"]:
            if dataset not in self.user_tables:
                table = SimpleNamespace(base=self.results, dataset=dataset)
                name = self.table(table)["name"]
                fingerprints[f"fetch_dataset {name}"] = self.fetch_fingerprint(SimpleNamespace(dataset=name))
                fingerprints[f"prepare_dataset {dataset}"] = self.prepare_fingerprint(table)
        return {name: code.split()[0] for name, code in fingerprints.items()}

    def _modules(self, names: list[str]) -> list[str]:
        """The modules of this package that define these methods. They are listed because no import statement names them."""
        built_in = [name for name in names if not self.entries[name].keys() & {"path", "command"}]
        programs = [PROGRAM] if any("command" in self.entries[name] for name in names) else []
        return [*(self.methods[name].__module__.removeprefix("clusterlets.") for name in built_in), *programs]

    def _user_files(self, names: Iterable[str]) -> tuple[str, ...]:
        """The files of these methods that are the user's own."""
        grids = [self.config["grids"][name] for name in names]
        return tuple(path for grid in grids for path in (*([grid["path"]] if "path" in grid else []), *grid.get("files", [])))

    def user_files(self) -> str:
        """SHA-256 of every file that belongs to a method of the user's own: by path, as JSON."""
        return json.dumps({path: _hash_of_file(path) for path in self._user_files(self.methods)}, sort_keys=True)


def results_settings(settings: Mapping) -> str:
    """The settings that results depend on, as JSON. Keys are sorted, because ``--config`` changes their order.

    ``mirror`` is left out, because results do not depend on where the raw files were downloaded from.
    """
    return json.dumps({key: settings[key] for key in sorted(settings) if key != "mirror"})


def _receipt(dataset: str) -> str:
    return f"data/raw/{dataset}/receipt.json"


def _parts(wildcards: Any) -> dict[str, str]:
    """Wildcards as a mapping by name. Snakemake's are a list that has attributes and the method ``items``."""
    return dict(wildcards.items()) if hasattr(wildcards, "items") else vars(wildcards)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))


@functools.cache
def _hash_of_file(path: str) -> str:
    try:
        return hash_of_file(path)
    except OSError as error:
        raise ClusterletsError(f"{path} cannot be read ({error.strerror}).") from None


@functools.cache
def _edited_files(receipt: str) -> str:
    """A message that names the files whose hash is not that in the receipt, or "". Only the step reports a damaged receipt."""
    try:
        entries = json.loads(Path(receipt).read_text(encoding="utf-8"))["files"]
        digests = {Path(receipt).with_name(file): entry["sha256"] for file, entry in entries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    edited = [str(path) for path, digest in digests.items() if path.is_file() and _hash_of_file(str(path)) != digest]
    return f"{', '.join(edited)} edited after fetching" if edited else ""
