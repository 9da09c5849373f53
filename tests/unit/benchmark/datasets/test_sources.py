"""sources.yaml fits its schema, and follows rules that a schema cannot express."""

import copy
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator

from clusterlets.benchmark import datasets
from clusterlets.benchmark.datasets import catalogue

FOLDER = Path(catalogue.__file__).parent
SOURCES = yaml.safe_load((FOLDER / "sources.yaml").read_text(encoding="utf-8"))
SCHEMA = yaml.safe_load((FOLDER / "sources.schema.yaml").read_text(encoding="utf-8"))


def problems(sources):
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(sources)]


def test_the_sources_fit_their_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert problems(SOURCES) == []


def schemas_with_properties(schema):
    if isinstance(schema, list):
        for subschema in schema:
            yield from schemas_with_properties(subschema)
    elif isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        yield from schemas_with_properties(list(schema.values()))


def test_the_schema_describes_every_key_and_refuses_unknown_ones():
    schemas = list(schemas_with_properties(SCHEMA))
    assert len(schemas) == 3  # of a dataset, a file and a source
    for schema in schemas:
        assert schema["additionalProperties"] is False
        for key, subschema in schema["properties"].items():
            assert "type" in subschema or "$ref" in subschema, key
            assert subschema["description"].endswith("."), key


@pytest.mark.parametrize(
    "path, value, expected",
    [
        (["licnce"], "CC0", "'licnce' was unexpected"),
        (["rows"], "768", "'768' is not of type 'integer'"),
        (["fingerprint"], "abc", "'abc' does not match"),
        (["duplicates"], "yes", "'yes' is not one of ['keep', 'drop']"),
        (["sources", 0], "package", "'package' is not valid under any"),
        (["sources", 0], {"url": "http://plain.example/x"}, "is not valid under any"),
        (["files", 0, "name"], "../pima.csv", "'../pima.csv' does not match"),
        (["files", 0, "git_blob"], ["0" * 40], "is valid under each of"),
    ],
)
def test_the_schema_refuses_bad_values(path, value, expected):
    sources = copy.deepcopy(SOURCES)
    parent = sources["pima"]
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    assert expected in "\n".join(problems(sources))


def test_the_schema_names_a_missing_key():
    for key in ("title", "files", "sources", "licence", "citation", "rows", "features"):
        sources = copy.deepcopy(SOURCES)
        del sources["pima"][key]
        assert problems(sources) == [f"{key!r} is a required property"]


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_serves_all_files(name):
    files = [file["name"] for file in SOURCES[name]["files"]]
    assert len(set(files)) == len(files)
    for source in SOURCES[name]["sources"]:
        # A source without members is the address of the only file.
        assert source == "bundled" or sorted(source.get("members", files[:1])) == sorted(files)


@pytest.mark.parametrize("name", [name for name in SOURCES if SOURCES[name]["sources"] != ["bundled"]])
def test_a_downloaded_dataset_has_sources_on_two_hosts_and_an_archived_copy_comes_last(name):
    addresses = [source["url"] for source in SOURCES[name]["sources"]]
    assert len({urlsplit(address).hostname for address in addresses}) >= 2
    assert addresses[-1].endswith("id_/" + addresses[0])  # the Wayback Machine's path of an unchanged file


def test_a_description_has_every_key_of_the_schema():
    for name in SOURCES:
        keys = {"name", *SCHEMA["$defs"]["dataset"]["properties"]} - {"paper_name"}
        assert keys <= set(datasets.describe(name)) <= keys | {"paper_name"}
