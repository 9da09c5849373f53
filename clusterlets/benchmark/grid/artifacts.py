"""Files that the steps for one dataset, k and batch of seeds pass on to each other.

One file holds all seeds of the batch. A key is a seed (``"3"``), or an output of a method and a seed (``"FRAC (fair)/3"``).
Each key has several named arrays.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from clusterlets.storage import load_arrays, save_arrays
from clusterlets.supervision.statuses import OK

#: For each key, arrays by name.
ArraysByKey = dict[str, dict[str, np.ndarray]]


@dataclass(frozen=True)
class SeedBatch:
    """The results of a step for one batch of seeds, as one file holds them.

    ``values`` holds arrays by key and name. ``status`` and ``note`` say why the whole batch has no result, if it has none.
    ``failures`` holds the status and note of each seed that has no result or a result with a note.
    """

    values: ArraysByKey
    status: str = OK
    note: str = ""
    failures: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def status_of(self, seed: int) -> tuple[str, str]:
        """Status and note of a seed."""
        if self.status != OK:
            return self.status, self.note
        return self.failures.get(str(seed), (OK, ""))

    def save(self, path: str) -> None:
        """Write the batch as one file."""
        arrays = {f"{name}/{key}": array for key, named_arrays in self.values.items() for name, array in named_arrays.items()}
        keys = np.array(list(self.values), dtype=np.str_)
        status = np.array(json.dumps([self.status, self.note, dict(self.failures)]))
        save_arrays(path, {"keys": keys, "status": status, **arrays})

    @classmethod
    def load(cls, path: str) -> "SeedBatch":
        """Read a file that :meth:`save` wrote. The error names a damaged file, which is left as it is."""
        arrays = load_arrays(path)
        status, note, failures = json.loads(str(arrays.pop("status")))
        values: ArraysByKey = {str(key): {} for key in arrays.pop("keys")}
        for full_name, array in arrays.items():
            name, key = full_name.split("/", 1)
            values[key][name] = array
        return cls(values, status, note, {seed: (status, note) for seed, (status, note) in failures.items()})


@dataclass(frozen=True)
class Prepared:
    """A prepared dataset: instances (n, d), group codes (n,), and each group's values in the S sensitive columns, (K, S)."""

    X: np.ndarray
    groups: np.ndarray
    group_values: list[list[str]]

    @classmethod
    def load(cls, path: str) -> "Prepared":
        """Read the ``.npz`` file that ``prepare_dataset`` wrote."""
        arrays = load_arrays(path)
        return cls(arrays["X"], arrays["groups"], arrays["group_values"].tolist())


def compact(labels: np.ndarray) -> np.ndarray:
    """Convert labels to the smallest unsigned type that holds them. Labels take most of the disk space."""
    return labels.astype(np.min_scalar_type(int(labels.max())))
