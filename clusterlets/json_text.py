"""Read JSON from anywhere: what other readers decide silently is refused."""

import json
from collections.abc import Hashable, Sequence
from typing import Any

import clusterlets.installation  # noqa: F401
from clusterlets.errors import ClusterletsError


def parse_json(text: str) -> Any:
    """Parse JSON. O(n) for n characters.

    Raises ClusterletsError if a key stands twice in one object, else ValueError, also for NaN, infinities and deep nesting.
    """
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_keys(keys: Sequence[Any]) -> None:
    """Raise ClusterletsError if a key stands twice in one mapping."""
    seen: set[Any] = set()
    for key in keys:
        if isinstance(key, Hashable):  # others cannot be keys
            if key in seen:
                raise ClusterletsError(f"the key {key!r} stands twice in one mapping; give it one value.")
            seen.add(key)


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    check_keys([key for key, _ in pairs])
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}")
