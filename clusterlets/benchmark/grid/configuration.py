"""Read the workflow's configuration, check it before anything runs, and fill in all defaults."""

import functools
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from clusterlets.benchmark.datasets import CLASS, check_sensitive, describe
from clusterlets.benchmark.datasets import names as dataset_names
from clusterlets.benchmark.grid import cells
from clusterlets.benchmark.grid.entries import load_method
from clusterlets.errors import ClusterletsError, did_you_mean
from clusterlets.json_text import check_keys, parse_json
from clusterlets.methods import Method
from clusterlets.methods import names as method_names
from clusterlets.methods.interface.check import check_parameters
from clusterlets.parameter_text import combinations, parse_unquoted
from clusterlets.parameters import canonical_value
from clusterlets.tables import user_table
from clusterlets.text import counted, cut

_LONGEST_ID = 100  # characters; an id is part of file names, which systems limit to 255 bytes
_CHECKOUT = Path(__file__).resolve().parents[3]
#: The file with the default of every key.
CONFIGURATION = _CHECKOUT / "config.yaml"
_MAX_CONFIGURATIONS = 1_000_000  # Snakemake plans about a thousand jobs per second
_RENAMED_KEYS = {"limits": "budget", "block": "batch"}
_LONGEST_MESSAGE = 300  # characters; longer messages of the schema's validator are cut
# Folders that cannot be the folder of results: `_IN_USE` in any working directory, `SOURCES` in the checkout.
_IN_USE = (".git", ".snakemake", "data")
SOURCES = (
    *(*_IN_USE, ".arm64", ".ci", ".github", ".venv", ".venv-lint", "benchmarks", "build", "clusterlets", "config"),
    *("containers", "docs", "envs", "profiles", "reference", "snakemake_logger_plugin_cells", "tests", "workflow"),
)


def _is_integer(_, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # Python counts True as an integer


def _is_number(_, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))  # YAML's .nan would pass every bound


_NUMBER_CHECKS = {"integer": _is_integer, "number": _is_number}
_Validator = extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(_NUMBER_CHECKS))


def read_configuration(path: str | Path | None = None) -> dict:
    """Read and check ``config.yaml`` of the checkout, with its values replaced by those of the file at ``path``, if given.

    As with ``snakemake --configfile``, a mapping is merged with the default, and a list replaces it.
    """
    config = read_file(CONFIGURATION)
    for key, value in (read_file(path) if path else {}).items():
        are_mappings = isinstance(value, dict) and isinstance(config.get(key), dict)
        config[key] = config[key] | value if are_mappings else value
    return check_configuration(config, _CHECKOUT / "workflow" / "schemas" / "config.schema.yaml")


def read_file(path: str | Path) -> dict:
    """Read a configuration's file, YAML or JSON. Raises ClusterletsError if a key stands twice in one mapping."""
    try:
        config = _parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror})"
        raise ClusterletsError(f"{reason}. The default configuration is config.yaml in the project's checkout.") from None
    except ClusterletsError as error:
        raise ClusterletsError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an impossible date such as 2026-02-30 is a ValueError
        raise ClusterletsError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(config, dict):
        raise ClusterletsError(f"{path} must map keys to values; config.yaml shows every key.")
    return config


def _parse(text: str) -> Any:
    """Parse JSON or else YAML, as Snakemake does. YAML reads some of JSON's numbers (1e5) as text."""
    with suppress(ValueError):
        return parse_json(text)
    return yaml.load(text, _Loader)


class _Loader(yaml.SafeLoader):
    """Refuses keys that stand twice, and aliases, of which a few lines can hold more values than fit into memory."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            line = event.start_mark.line + 1
            raise ClusterletsError(f"line {line}: the alias *{event.anchor} is not supported; write its value out.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        try:
            check_keys([self.construct_object(key, deep=True) for key, _ in node.value])
        except ClusterletsError as error:
            raise ClusterletsError(f"line {node.start_mark.line + 1}: {error}") from None
        return super().construct_mapping(node, deep)


def read_config_options(config: Mapping, arguments: Iterable[str]) -> dict:
    """The configuration with the values of ``--config KEY=VALUE`` as a file would have them.

    Snakemake reads ``hops=[2]`` as a list of text.
    """
    keys = {argument.partition("=")[0].partition(".")[0] for argument in arguments}
    return {key: _read_texts(value) if key in keys and not isinstance(value, str) else value for key, value in config.items()}


def _read_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _read_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_read_texts(item) for item in value]
    return parse_unquoted(value) if isinstance(value, str) else value


def check_configuration(config: Mapping, schema: str | Path) -> dict:
    """Check a configuration, first against the schema file, and give every dataset and method all its settings.

    The result has these keys besides the configuration's own:

    - ``datasets``: the ids of the tables that are not excluded; paths and results name tables by id
    - ``tables``: the settings of each table, by id
    - ``exclude``: the names in ``exclude`` that match a dataset
    - ``methods``: the names of the methods
    - ``method_settings``: for each method its source, names in results, label, role and citation, whether it ``is_matcher`` and
      ``needs_partitions``, the ``settings`` that it takes from keys of the configuration, its ``starts`` (a number, or a
      list by dataset with a number for each k), and the values of its other ``parameters``

    Raises
    ------
    ClusterletsError
        If there are faults. The message has one line for each: the key, what is wrong with it, and what is allowed.
    """
    config = _with_whole_numbers(config)
    faults = sorted(_validator(schema).iter_errors(config), key=lambda error: str(error.path))
    _refuse([_explain(error) for error in faults])
    entries = [_method_entry(entry) for entry in config["methods"]]
    results = os.path.normpath(config["results"])  # one spelling, because Snakemake compares paths as text
    tables = [_table_settings(entry, config["scaling"]) for entry in config["datasets"]]
    exclusions = _as_list(config["exclude"])
    names_and_ids = {*dataset_names(), *(table["name"] for table in tables), *(table["id"] for table in tables)}
    dataset_faults = [fault for table in tables for fault in _table_faults(table)]
    dataset_faults += _repetition_faults([table["id"] for table in tables], "give one an 'id'")
    method_faults = _repetition_faults([name for name, _ in entries], "list all values of its parameters in one entry")
    exclusion_faults = _unknown_name_faults(exclusions, sorted(names_and_ids))
    _refuse(
        [
            *_results_faults(results),
            *_misplaced_input_faults(results, config),
            *(f"datasets: {fault}" for fault in dataset_faults),
            *(f"methods: {fault}" for fault in method_faults),
            *(f"exclude: {fault}" for fault in exclusion_faults),
            *_variants_without_effect(config),
        ]
    )
    tables_by_id = {table["id"]: table for table in tables if not {table["id"], table["name"]} & set(exclusions)}
    if not tables_by_id:
        _refuse(["exclude: every dataset is excluded; name fewer"])
    method_settings, faults = _method_settings(dict(entries), config)
    _refuse(faults)
    checked = {
        **config,
        "results": results,
        "datasets": list(tables_by_id),
        "tables": tables_by_id,
        "exclude": [name for name in exclusions if any(name in (table["id"], table["name"]) for table in tables)],
        "methods": list(method_settings),
        "method_settings": method_settings,
    }
    _refuse(_too_many_configurations(checked))
    _refuse(_combination_faults(checked))
    _refuse(_starts_faults(checked))
    return checked


@functools.cache
def _validator(schema: str | Path):
    return _Validator(yaml.safe_load(Path(schema).read_text(encoding="utf-8")))


def _with_whole_numbers(value):
    """A copy with 1 in place of 1.0, so that each value has one spelling in paths and commands."""
    if isinstance(value, Mapping):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return canonical_value(value)


def _refuse(faults: list[str]) -> None:
    if faults:
        lines = (f"  - {_in_one_line(text)}" for text in faults)
        raise ClusterletsError("\n".join(["The configuration cannot be used:", *lines]))


def _in_one_line(text: str) -> str:
    """Replace line breaks and unprintable characters, which keys and names may contain, by escape codes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _misplaced_input_faults(results: str, config: Mapping) -> Iterator[str]:
    """Faults of the user's tables and methods whose files lie in the folder of results."""
    for key in ("datasets", "methods"):
        for entry in config[key]:
            if isinstance(entry, str):
                continue
            for path in (*([entry["path"]] if "path" in entry else []), *entry.get("files", [])):
                if Path(path).resolve().is_relative_to(Path(results).resolve()):
                    yield f"{key}: {path} is in the folder of results, where a run may overwrite it"


def _results_faults(results: str) -> list[str]:
    """Faults of the path for results. It must not be a file, or a folder of other files, which results could replace."""
    here = Path.cwd()
    # The path as it is written may lead elsewhere than the path with symbolic links resolved, so check both.
    for folder, base in itertools.product((Path(results).resolve(), Path(os.path.abspath(results))), (here, _CHECKOUT)):
        if base.is_relative_to(folder):
            problem = "is the working directory itself" if folder == here else f"holds {base}"
            return [f"results: it {problem}; name a folder below the working directory"]
        if folder.is_relative_to(base):
            top = folder.relative_to(base).parts[0]
            if top in (SOURCES if base == _CHECKOUT else _IN_USE):
                return [f"results: {top} holds other files; name a folder like results/mine"]
        # os.path, because Path.exists raises an error if a name is too long.
        ancestor = next(path for path in (folder, *folder.parents) if os.path.exists(path))
        if not ancestor.is_dir():
            return [f"results: {ancestor} is a file; name a folder"]
    return []


def _table_settings(entry: str | Mapping, scaling: str) -> dict:
    """An entry of ``datasets`` with its id and all defaults."""
    entry = {"name": entry} if isinstance(entry, str) else dict(entry)
    is_user_table = "path" in entry
    if isinstance(entry.get("sensitive"), str):
        entry["sensitive"] = [entry["sensitive"]]
    defaults: dict[str, object] = {"scaling": scaling}
    if is_user_table:
        defaults |= {"features": user_table.NUMERIC, **asdict(user_table.Reading())}
    else:
        defaults |= {"sensitive": [CLASS], "duplicates": _default_duplicates(entry["name"])}
    settings = {**defaults, **entry}
    return {"id": entry["name"] + _id_suffix(settings), **settings}


def _default_duplicates(name: str) -> str | None:
    return describe(name)["duplicates"] if name in dataset_names() else None


def _id_suffix(table: Mapping) -> str:
    """The part of a table's id after its name. It gives other settings other paths, and is "" for a dataset's defaults."""
    if "path" in table:
        return "." + "+".join(map(_make_path_safe, table.get("sensitive", [])))
    suffix = ""
    if table["sensitive"] != [CLASS]:
        suffix += "." + "+".join(map(_make_path_safe, table["sensitive"]))
    if table["duplicates"] != _default_duplicates(table["name"]):
        suffix += {"keep": ".with_duplicates", "drop": ".without_duplicates"}[table["duplicates"]]
    return suffix


def _make_path_safe(column: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", column)


def _table_faults(table: Mapping) -> list[str]:
    name = table["name"]
    if "path" not in table:
        return _dataset_faults(table)
    if name in dataset_names():
        return [f"{name!r} is a dataset of the benchmark; give the table {table['path']} another name"]
    if "sensitive" not in table:
        return [f"{name}: 'sensitive' is missing, the column of {table['path']} whose values are the groups"]
    faults = []
    if "duplicates" in table:
        faults.append(f"{name}: 'duplicates' is for the benchmark's datasets; leave the rows out of {table['path']} yourself")
    if table["features"] != user_table.NUMERIC:
        overlap = [column for column in table["features"] if column in table["sensitive"]]
        faults += [f"{name}: {column!r} cannot be both sensitive and a feature" for column in overlap]
    faults += _collect_faults(lambda: user_table.check_file(Path(table["path"])), f"{name}: ")
    reading = user_table.Reading(**{key: table[key] for key in user_table.READING})
    faults += _collect_faults(reading.check, f"{name}: ")
    return faults + _id_faults(table)


def _dataset_faults(table: Mapping) -> list[str]:
    name = table["name"]
    misplaced = [key for key in ("features", *user_table.READING) if key in table]
    if misplaced:
        return [f"{name}: {misplaced[0]!r} is for tables of your own, which need a 'path'"]
    if unknown := _unknown_name_faults([name], dataset_names()):
        return [f"{unknown[0]}; a table of your own needs a 'path'"]
    if table["sensitive"] != [CLASS] and table["duplicates"] == "drop":
        return [f"{name}: 'drop' compares rows by features and class, so it needs the class as the sensitive column"]
    if table["sensitive"] != [CLASS]:  # the class needs no check, which would load the dataset's module
        return _collect_faults(lambda: check_sensitive(name, table["sensitive"])) + _id_faults(table)
    return _id_faults(table)


def _id_faults(table: Mapping) -> list[str]:
    """Faults of a table's id: it is too long for a file name, or it is the id of a dataset of the benchmark."""
    name, table_id = table["name"], table["id"]
    if len(table_id) > _LONGEST_ID:
        problem = f"the id {table_id[:30]!r}... has {len(table_id):,} characters"
        return [f"{name[:60]}: {problem}; give the entry an 'id' of at most {_LONGEST_ID}"]
    if table_id in dataset_names() and (table_id != name or _id_suffix(table)):
        return [f"{name}: the id {table_id!r} belongs to a dataset with its default settings; choose another"]
    return []


def _collect_faults(check: Callable[[], object], prefix: str = "") -> list[str]:
    try:
        check()
    except ClusterletsError as error:
        return [f"{prefix}{error}"]
    return []


def _repetition_faults(ids: list[str], remedy: str) -> list[str]:
    repeated = sorted({name for name in ids if ids.count(name) > 1})
    return [f"two entries have the name {name!r}, so one would overwrite the other; {remedy}" for name in repeated]


def _variants_without_effect(config: Mapping) -> list[str]:
    """Faults of variants that change nothing. Their results would suggest that a choice has no effect."""
    return [
        f"variants.{name}.{key}: it is already {value} in the grid; a variant must change a setting"
        for name, changes in config["variants"].items()
        for key, value in changes.items()
        if config[key] == value
    ]


def _method_entry(entry: str | Mapping) -> tuple[str, dict]:
    """The name of a method, which may come from its file, and the rest of its entry."""
    entry = {"name": entry} if isinstance(entry, str) else dict(entry)
    if "path" in entry:
        entry["name"] = load_method(entry).name
    return entry.pop("name"), entry


def _method_settings(entries: Mapping[str, dict], config: Mapping) -> tuple[dict[str, dict], list[str]]:
    """The entry of each method with all its settings, and the faults of all entries."""
    method_settings, faults = {}, []
    for name, entry in entries.items():
        try:
            method = load_method({"name": name, **entry})
            check_parameters(method, entry.get("parameters", {}), f"methods: {name}")
        except ClusterletsError as error:
            faults.append(str(error))
            continue
        faults += [f"methods: {fault}" for fault in _method_faults(name, entry)]
        if "output" in entry and entry["output"] not in method.outputs:
            faults.append(
                f"methods: {name}: there is no output {entry['output']!r}; it has {', '.join(method.outputs) or 'none'}"
            )
        method_settings[name] = _settings_of(method, name, entry, config)
    return method_settings, faults


def _method_faults(name: str, entry: Mapping) -> list[str]:
    is_users_own = "path" in entry or "command" in entry
    if is_users_own and name.lower() in {"clusterlets", *map(str.lower, method_names())}:
        return [f"{entry.get('path', name)}: the benchmark already uses the name {name!r}; choose another"]
    faults = []
    if "files" in entry and not is_users_own:
        faults.append(f"{name}: 'files' is for methods of your own, which need a 'path' or a 'command'")
    missing = [file for file in entry.get("files", []) if not os.path.isfile(file)]
    return faults + [f"{name}: files: there is no file {file}" for file in missing]


def _settings_of(method: type[Method], name: str, entry: Mapping, config: Mapping) -> dict:
    """An entry of ``methods`` with all its settings."""
    configured = {parameter: config[parameter] for parameter in ("hops", "omega")}
    values_tried = method.ladder() if config["ladders"] else method.grid()
    defaults = {parameter: configured.get(parameter, list(values)) for parameter, values in values_tried.items()}
    parameters = {**defaults, **entry.get("parameters", {})}
    starts = entry.get("starts", config["starts"] if method.is_random and not method.is_matcher else None)
    if isinstance(starts, int) and method.makes_its_own_starts():
        parameters.setdefault("n_init", [starts])
    if "n_init" in parameters:
        starts = None
    return {
        **{key: entry[key] for key in ("path", "command", "files") if key in entry},
        **({"citation": method.citation} if {"path", "command"} & entry.keys() else {}),
        **({"output": f"{name} ({entry['output']})"} if "output" in entry else {}),
        "names": method.names_in_results(),
        "label": method.label or name,
        "role": method.role,
        "is_matcher": method.is_matcher,
        "needs_partitions": method.needs_partitions(),
        "settings": dict(method.settings),
        "starts": starts or 1,
        "parameters": parameters,
    }


def _combination_faults(config: Mapping) -> list[str]:
    """Faults that the methods report for single combinations of k and parameters."""
    faults = [
        f"methods: {name}: {fault}"
        for name, entry in config["method_settings"].items()
        for k in config["k"]
        for combination in combinations(entry["parameters"])
        for fault in load_method({"name": name, **entry})().faults(k, **combination)
    ]
    return list(dict.fromkeys(faults))


def _starts_faults(config: Mapping) -> list[str]:
    """Faults of entries whose starts depend on the case: they need a number for each dataset and k."""
    return [
        f"methods: {name}: starts: {dataset} needs {counted(len(config['k']), 'number')}, one for each k"
        for name, entry in config["method_settings"].items()
        if isinstance(entry["starts"], Mapping)
        for dataset in config["datasets"]
        if len(entry["starts"].get(dataset, ())) != len(config["k"])
    ]


def _too_many_configurations(config: Mapping) -> list[str]:
    number = cells.number_of_configurations(config)
    if number <= _MAX_CONFIGURATIONS:
        return []
    return [
        f"the grid has {number:,} configurations (dataset, method, k, parameters, batch of seeds), more than "
        f"{_MAX_CONFIGURATIONS:,}; use larger batches of seeds, or fewer values"
    ]


def set_mirror(config: Mapping) -> None:
    """Pass the configured mirror to the jobs as ``CLUSTERLETS_MIRROR``, unless this variable is already set.

    An environment variable is not a parameter of a rule, so another mirror does not rerun jobs.
    """
    if config["mirror"]:
        os.environ.setdefault("CLUSTERLETS_MIRROR", str(config["mirror"]))


def _as_list(value: str | list[str] | None) -> list[str]:
    """The value of ``exclude`` as a list. On a command line it is text, such as ``exclude=nbfi,adult`` or ``exclude=``."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else list(value or [])


def _unknown_name_faults(names: list[str], valid_names: list[str]) -> list[str]:
    unknown = [name for name in names if name not in valid_names]
    return [f"there is no {name!r}{did_you_mean(name, valid_names)}; known: {', '.join(valid_names)}" for name in unknown]


def _hint(key: str, allowed: list[str]) -> str:
    return f" (it is called {_RENAMED_KEYS[key]!r} now)" if key in _RENAMED_KEYS else did_you_mean(key, allowed)


def _explain(error: ValidationError) -> str:
    key_path = ".".join(str(part) for part in error.path)
    message = cut(error.message, _LONGEST_MESSAGE)
    if error.validator == "additionalProperties":
        allowed = list(error.schema["properties"])
        unknown = [key for key in error.instance if key not in allowed]
        prefix = f"{key_path}." if key_path else ""
        return "; ".join(f"{prefix}{key}: unknown key{_hint(str(key), allowed)}" for key in unknown)
    if error.validator == "required":
        return f"{key_path + ': ' if key_path else ''}{message}; config.yaml shows every key"
    meaning = error.schema.get("description", "")
    return f"{key_path}: {message}{'. ' + meaning if meaning else ''}"
