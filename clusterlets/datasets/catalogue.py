"""The descriptions of the datasets, read from ``sources.yaml``."""

import copy
import difflib
import functools
from pathlib import Path

from clusterlets.errors import ClusterletsError


def names() -> list[str]:
    """Names of all datasets in the order of ``sources.yaml``: the paper's eleven, then those of scikit-learn's package."""
    return list(_catalogue())


def describe(name: str) -> dict:
    """The entry of a dataset in ``sources.yaml`` (see its head for the keys), with ``name`` and the defaults filled in.

    Raises
    ------
    ClusterletsError
        If there is no such dataset: the message names the nearest ones.
    """
    if name not in _catalogue():
        matches = difflib.get_close_matches(name, _catalogue(), n=3)
        hint = f"Did you mean {' or '.join(matches)}? " if matches else ""
        raise ClusterletsError(f"There is no dataset {name!r}. {hint}The datasets are: {', '.join(names())}.")
    defaults = {"name": name, "module": name, "strict": True, "positives": None, "fingerprint": None, "sources": []}
    defaults["duplicates"] = "keep"
    return defaults | copy.deepcopy(_catalogue()[name])


@functools.cache
def _catalogue() -> dict[str, dict]:
    import yaml  # imported late: a user's own table needs no catalogue

    return yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text(encoding="utf-8"))
