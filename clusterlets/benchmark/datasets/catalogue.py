"""The descriptions of the datasets, read from ``sources.yaml``."""

import copy
import functools
from pathlib import Path

from clusterlets.errors import ClusterletsError, did_you_mean


def names() -> list[str]:
    """Names of all datasets in the order of ``sources.yaml``: the paper's eleven, then those in scikit-learn's package."""
    return list(_catalogue())


def describe(name: str) -> dict:
    """The entry of a dataset in ``sources.yaml``, with its name and the defaults. ``sources.schema.yaml`` explains the keys.

    Raises
    ------
    ClusterletsError
        If there is no such dataset.
    """
    if name not in _catalogue():
        hint = did_you_mean(name, names())
        raise ClusterletsError(f"There is no dataset {name!r}{hint}. The datasets are: {', '.join(names())}.")
    defaults = {"name": name, "module": name, "strict": True, "positives": None, "fingerprint": None, "duplicates": "keep"}
    return defaults | copy.deepcopy(_catalogue()[name])


def how_to_leave_out(name: str) -> str:
    """How a run can go on without a dataset."""
    return (
        f"add `--config exclude={name}` to the snakemake command (`make reproduce EXCLUDE={name}`; commas between several); "
        "`clusterlets rank` takes the tables that can be had, `--tables NAMES`"
    )


@functools.cache
def _catalogue() -> dict[str, dict]:
    import yaml  # imported late: reading a user's own table must not load it

    return yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text(encoding="utf-8"))
