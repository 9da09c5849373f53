"""Strategies for values that fit a JSON schema, and for values with a fault.

They support only the keywords that the schema of configurations uses.
"""

import copy
import json
from collections.abc import Iterator

from fuzzing import ODD_STRINGS, any_of
from hypothesis import strategies as st


def valid_values(schema: dict, root: dict) -> st.SearchStrategy:
    """Values that fit ``schema``, a part of the schema ``root``. Lists and mappings are short, and most numbers are small."""
    while "$ref" in schema:
        node = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "oneOf" in schema:
        return st.one_of([valid_values(choice, root) for choice in schema["oneOf"]])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_KINDS[kind](schema, root) for kind in kinds])


def _string(schema, root):
    if "pattern" in schema:
        return st.from_regex(schema["pattern"]).filter(lambda text: len(text) <= schema.get("maxLength", len(text)))
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 8), 8))


def _integer(schema, root):
    minimum, maximum = schema["minimum"], schema["maximum"]
    return st.one_of(st.integers(minimum, min(minimum + 9, maximum)), st.integers(minimum, maximum), st.just(maximum))


def _number(schema, root):
    if "exclusiveMinimum" in schema:
        return st.floats(schema["exclusiveMinimum"], schema["maximum"], exclude_min=True) | st.just(schema["maximum"])
    return st.floats(schema["minimum"], schema["maximum"]) | any_of(schema["minimum"], schema["maximum"])


def _array(schema, root):
    unique_by = json.dumps if schema.get("uniqueItems") else None
    return st.lists(valid_values(schema["items"], root), min_size=schema.get("minItems", 0), max_size=3, unique_by=unique_by)


def _object(schema, root):
    if "propertyNames" in schema:
        names = _string(schema["propertyNames"], root)
        return st.dictionaries(names, valid_values(schema["additionalProperties"], root), max_size=2)
    properties = {key: valid_values(value, root) for key, value in schema.get("properties", {}).items()}
    required = {key: properties[key] for key in schema.get("required", [])}
    optional = {key: value for key, value in properties.items() if key not in required}
    min_properties = schema.get("minProperties", 0)
    return st.fixed_dictionaries(required, optional=optional).filter(lambda mapping: len(mapping) >= min_properties)


_KINDS = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "array": _array,
    "object": _object,
    "boolean": lambda schema, root: st.booleans(),
    "null": lambda schema, root: st.none(),
}

#: Replacements for a value: numbers at and beyond the usual bounds, values of other types, and odd strings.
ANYTHING = st.one_of(
    any_of(float("nan"), float("inf"), -float("inf"), -1, 0, 1, 2, 0.5, -0.0, 1.0, 2e4, 1e300, 10**400, 2**63),
    any_of(True, False, None),
    any_of([], {}, [[]], [None], {"a": 1}, {1: 2}, [1, "a"]),
    st.floats(),
    st.integers(),
    ODD_STRINGS,
    st.text(max_size=5),
)


@st.composite
def spoilt_values(draw, values: st.SearchStrategy):
    """A value with one change: an item replaced, removed, repeated (in a list) or added (to a mapping)."""
    value = copy.deepcopy(draw(values))
    positions = list(_positions(value))
    if not positions:
        return value
    parent, key = draw(st.sampled_from(positions))
    change = draw(any_of("replace", "remove", "repeat", "add"))
    if change == "replace":
        parent[key] = draw(ANYTHING)
    elif change == "remove":
        del parent[key]
    elif change == "repeat" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif isinstance(parent, dict):  # to a list, nothing is added, so a value may stay intact
        parent[draw(ODD_STRINGS | st.integers())] = draw(ANYTHING)
    return value


def _positions(value) -> Iterator[tuple]:
    """The parent and the key or index of everything in a value."""
    if not isinstance(value, dict | list):
        return
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in children:
        yield value, key
        yield from _positions(child)
