"""The workflow's configuration: checked against its schema before anything runs, in plain words."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, ValidationError

from clusterlets.datasets import names as dataset_names
from clusterlets.errors import ClusterletsError
from clusterlets.matching import MATCHERS


def check_configuration(config: Mapping, schema: str | Path) -> dict:
    """The configuration, resolved: excluded datasets left out, their names kept under ``exclude``.

    Raises
    ------
    ClusterletsError
        With one line for each fault: the key, what is wrong with it, and what may stand there.
    """
    validator = Draft202012Validator(yaml.safe_load(Path(schema).read_text(encoding="utf-8")))
    faults = [_in_words(error) for error in sorted(validator.iter_errors(dict(config)), key=lambda error: str(error.path))]
    if not faults:
        faults = [*_unknown("datasets", config["datasets"], dataset_names()), *_unknown("matchers", config["matchers"], MATCHERS)]
        faults += _unknown("exclude", _listed(config["exclude"]), dataset_names())
    if faults:
        raise ClusterletsError("The configuration cannot be used:\n" + "\n".join(f"  - {fault}" for fault in faults))
    excluded = _listed(config["exclude"])
    datasets = [dataset for dataset in config["datasets"] if dataset not in excluded]
    if not datasets:
        raise ClusterletsError("The configuration cannot be used: every dataset is excluded. Name fewer under 'exclude'.")
    return {**config, "datasets": datasets, "exclude": excluded}


def set_mirror(config: Mapping) -> None:
    """Hand the configured mirror to the jobs; ``CLUSTERLETS_MIRROR``, where it is set, comes first.

    By the environment and not as a parameter of the rule: another mirror of the same files changes no result.
    """
    if config["mirror"]:
        os.environ.setdefault("CLUSTERLETS_MIRROR", str(config["mirror"]))


def _listed(value: str | list[str]) -> list[str]:
    """``exclude`` may come from a command line, as in ``--config exclude=nbfi,adult``."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else list(value)


def _unknown(key: str, given: Iterable[str], known: Iterable[str]) -> list[str]:
    known = list(known)
    return [f"{key}: there is no {name!r}{_near(name, known)}; known: {', '.join(known)}" for name in given if name not in known]


def _in_words(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.path)
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = [key for key in error.instance if key not in known]
        return "; ".join(f"{'.'.join(filter(None, [where, str(key)]))}: unknown key{_near(str(key), known)}" for key in unknown)
    if error.validator == "required":
        return f"{where + ': ' if where else ''}{error.message}; config.yaml shows every key"
    meaning = error.schema.get("description", "")
    return f"{where}: {error.message}{'. ' + meaning if meaning else ''}"


def _near(name: str, known: Iterable[str]) -> str:
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
