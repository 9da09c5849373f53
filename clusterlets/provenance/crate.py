"""The metadata of an archived run, as a Workflow Run RO-Crate, and its validation.

The crate follows version 0.5 of the profile by S. Leo et al., "Recording provenance of workflow runs with RO-Crate",
PLOS ONE 19(9), 2024.
"""

import hashlib
import json
import mimetypes
import tempfile
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from clusterlets.datasets import describe
from clusterlets.provenance import manifest
from clusterlets.provenance.packing import RESULTS, Run, revealed_contents
from clusterlets.storage import hash_of_file
from clusterlets.text import counted

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

#: The file that makes a folder an RO-Crate.
NAME = "ro-crate-metadata.json"
#: The profile to check against; it includes Process Run Crate 0.5, Workflow RO-Crate 1.0 and RO-Crate 1.1.
PROFILE = "workflow-run-crate-0.5"

_SNAKEFILE = "Snakefile"
_CELLS = f"{RESULTS}runs/"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
_BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
# RO-Crate 1.1 has no term for a checksum, but the vocabulary of workflow runs has one.
_EXTRA_TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
# Settings that the crate omits, because they follow from others or say where files are on one machine.
_OMITTED_SETTINGS = ("grids", "tables", "results", "mirror")
# Media types of files that mimetypes may not know.
_MEDIA_TYPES = {".md": "text/markdown", ".yaml": "application/yaml", ".cff": "application/yaml", ".py": "text/x-python"}


def describe_run(
    run: Run, source_files: Mapping[str, bytes], user_files: Mapping[str, bytes], results: Mapping[str, Path]
) -> dict:
    """The crate's JSON-LD: workflow, run, inputs and results, software, authors, licence and papers.

    :mod:`clusterlets.provenance.packing` collects the files, by their names in the archive. The archive has no raw data; the
    crate gives their addresses and checksums. Needs the library ``rocrate``.
    """
    from rocrate.rocrate import ROCrate

    crate = ROCrate()
    crate.metadata.extra_terms.update(_EXTRA_TERMS)
    citation = yaml.safe_load(source_files["CITATION.cff"])
    for name, content in sorted({**source_files, **user_files}.items()):
        if name != _SNAKEFILE:
            crate.add_file(None, name, properties=_file_properties(name, hashlib.sha256(content).hexdigest()))
    workflow = _add_workflow(crate, run, citation, source_files[_SNAKEFILE])
    inputs = [
        *(crate.dereference(name) for name in ("config.yaml", *sorted(user_files))),
        *_add_data(crate, run),
        *_add_settings(crate, run, workflow),
    ]
    _add_run(crate, run, workflow, inputs, _add_results(crate, results))
    _describe_root(crate, run, citation)
    return crate.metadata.generate()


def faults(archive: Path) -> list[str]:
    """The requirements of :data:`PROFILE` that an archive (ZIP) does not meet.

    Needs the libraries ``rocrate`` and ``roc-validator``, but no network.
    """
    from requests_cache import CachedRequest, CachedResponse, CachedSession
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        # The validator would download the context of RO-Crate 1.1, unless it is in this cache. rocrate has a copy.
        with CachedSession(str(cache), backend="sqlite", expire_after=-1) as session:
            response = CachedResponse(
                request=CachedRequest(method="GET", url=_CONTEXT),
                url=_CONTEXT,
                status_code=200,
                headers={"Content-Type": "application/ld+json"},
                content=resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes(),
            )
            session.cache.save_response(response)
        settings = ValidationSettings(
            rocrate_uri=str(archive),
            profile_identifier=PROFILE,
            requirement_severity=Severity.REQUIRED,
            offline=True,
            cache_path=cache,
        )
        result = services.validate(settings)
    return [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues(Severity.REQUIRED)]


def _file_properties(name: str, digest: str) -> dict[str, str]:
    suffix = Path(name).suffix
    media_type = _MEDIA_TYPES.get(suffix) or mimetypes.types_map.get(suffix) or "text/plain"
    return {"name": Path(name).name, "encodingFormat": media_type, "sha256": digest}


def _add_workflow(crate: "ROCrate", run: Run, citation: Mapping, snakefile: bytes) -> "Entity":
    software = run.provenance["libraries"]
    version = (software.get("snakemake") or {}).get("installed")
    properties = {
        **_file_properties(_SNAKEFILE, hashlib.sha256(snakefile).hexdigest()),
        "name": citation["title"],
        "version": citation["version"],
        "conformsTo": {"@id": _BIOSCHEMAS},
        "license": {"@id": "LICENSE"},
    }
    commit = run.provenance["source"]
    if commit:
        properties["codeRepository"] = citation["repository-code"]
        label = f"git commit {commit['commit']}"
        # Software Heritage's identifier of a commit (swh:) is the same for every site that hosts it.
        properties["identifier"] = f"{label}, with changes" if commit["dirty"] else [label, f"swh:1:rev:{commit['commit']}"]
    workflow = crate.add_workflow(None, _SNAKEFILE, main=True, lang="snakemake", lang_version=version, properties=properties)
    workflow["softwareRequirements"] = list(_add_software(crate, run))
    return workflow


def _add_software(crate: "ROCrate", run: Run) -> Iterator["Entity"]:
    """Add Python and every library, with the versions that the run used."""
    implementation, version = run.provenance["python"].split()
    applications = {f"https://www.python.org/#{version}": (implementation, version, "https://www.python.org/")}
    for name, versions in run.provenance["libraries"].items():
        if versions["installed"]:
            address = f"https://pypi.org/project/{name}/{versions['installed']}/"
            applications[address] = name, versions["installed"], address
    for identifier, (name, version, address) in applications.items():
        properties = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version, "url": address}
        yield _add_entity(crate, identifier, properties)


def _add_entity(crate: "ROCrate", identifier: str, properties: Mapping[str, Any]) -> "Entity":
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, identifier, properties=dict(properties)))


def _add_data(crate: "ROCrate", run: Run) -> Iterator["Entity"]:
    """Add the raw files of every dataset, and a description of each of the user's own tables."""
    contents = revealed_contents(run)
    for dataset, identity in run.manifest["datasets"].items():
        settings = run.manifest["settings"]["tables"][dataset]
        usage = f"Used: {identity['rows']} rows, {identity['features']} features (fingerprint {identity['fingerprint']})."
        if "path" in settings:
            properties = {
                "@type": "CreativeWork",
                "name": settings["path"],
                "description": f"One of the user's own tables, which the archive omits. {usage} "
                f"The archive reveals {contents[dataset]}.",
            }
            yield _add_entity(crate, f"#table-{dataset}", {**properties, "sha256": identity["source_sha256"]})
            continue
        description = describe(settings["name"])
        for file in description["files"]:
            yield _add_raw_file(crate, description, file, usage)


def _add_raw_file(crate: "ROCrate", dataset: Mapping, file: Mapping, usage: str) -> "Entity":
    """Add a raw file under its first address, or under a local identifier if it comes with scikit-learn."""
    properties = {
        "name": f"{dataset['name']}/{file['name']}",
        "description": f"{dataset['title']}. {usage}",
        "citation": dataset["citation"],
        "license": dataset["licence"],
        "encodingFormat": "text/plain",
    }
    properties |= {"sha256": file["sha256"]} if "sha256" in file else {}
    properties |= {"contentSize": str(file["bytes"])} if "bytes" in file else {}
    properties |= {"identifier": [f"swh:1:cnt:{blob}" for blob in file["git_blob"]]} if "git_blob" in file else {}
    source = dataset["sources"][0]
    if isinstance(source, str):
        properties["description"] += " The file comes with the library scikit-learn."
        return _add_entity(crate, f"#{dataset['name']}-{file['name']}", {"@type": "CreativeWork", **properties})
    address = source["url"] + (f"#{file['name']}" if "members" in source else "")
    existing = crate.dereference(address)  # datasets that differ only in their groups share a file
    return existing or crate.add_file(address, properties=properties)


def _add_settings(crate: "ROCrate", run: Run, workflow: "Entity") -> Iterator["Entity"]:
    """Add the settings of the run, as parameters of the workflow."""
    for name, value in run.manifest["settings"].items():
        if name in _OMITTED_SETTINGS:
            continue
        parameter = crate.add_formal_parameter(name, "Text", f"#parameter-{name}")
        text = value if isinstance(value, str) else json.dumps(value)
        properties = {"@type": "PropertyValue", "name": name, "value": text, "exampleOfWork": {"@id": parameter.id}}
        setting = _add_entity(crate, f"#setting-{name}", properties)
        parameter["workExample"] = setting
        workflow.append_to("input", parameter)
        yield setting


def _add_results(crate: "ROCrate", results: Mapping[str, Path]) -> list["Entity"]:
    """Add every file. Return the folder of the cells, which has the cells as its parts, and all other files."""
    files = {
        name: crate.add_file(None, name, properties=_file_properties(name, hash_of_file(path)))
        for name, path in results.items()
    }
    cells = [files.pop(name) for name in results if name.startswith(_CELLS)]
    for cell in cells:
        cell["name"] = cell.id.removeprefix(_CELLS)
    description = (
        f"{counted(len(cells), 'cell')} of the grid, each a configuration of a method on a dataset, with a block of seeds"
    )
    folder = crate.add_dataset(None, _CELLS, properties={"name": "runs", "description": description})
    folder["hasPart"] = cells
    return [*files.values(), folder]


def _add_run(crate: "ROCrate", run: Run, workflow: "Entity", inputs: list["Entity"], results: list["Entity"]) -> None:
    jobs, machine = run.provenance["jobs"], run.provenance["machine"]
    # The profile accepts no time zone Z, only an offset.
    began, ended = (jobs[key].replace("Z", "+00:00") for key in ("first_job_began", "last_job_ended"))
    properties = {
        "name": f"Run of the workflow on {_number_of_datasets(run)}",
        "description": f"{counted(jobs['counted'], 'job')} on {json.dumps(machine)}",
        "startTime": began,
        "endTime": ended,
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "agent": _add_entity(crate, _fragment_id(run.agent), {"@type": "Person", "name": run.agent}),
    }
    action = crate.add_action(workflow, "#run", inputs, results, properties=properties)
    crate.root_dataset["mentions"] = action


def _number_of_datasets(run: Run) -> str:
    return counted(len(run.manifest["datasets"]), "dataset")


def _describe_root(crate: "ROCrate", run: Run, citation: Mapping) -> None:
    """Describe the crate as a whole, for the repository in which it is deposited."""
    root, ended = crate.root_dataset, run.provenance["jobs"]["last_job_ended"]
    crate.name = f"{citation['title']}, version {citation['version']}: a run on {_number_of_datasets(run)}"
    crate.description = (
        f"The workflow, the results of a run that ended {ended}, and where both came from. {RESULTS}{manifest.NAME} holds the "
        f"SHA-256 of every result; {RESULTS}report.html is the first page to open. Raw data are referenced, but not included."
    )
    crate.datePublished = ended[:10]
    crate.license = _add_entity(
        crate,
        f"https://spdx.org/licenses/{citation['license']}",
        {"@type": "CreativeWork", "name": citation["license"], "description": "of the code; data keep their own licences"},
    )
    crate.keywords = citation["keywords"]
    for author in citation["authors"]:
        root.append_to("author", _add_author(crate, author), compact=True)
    root["citation"] = [_add_paper(crate, paper) for paper in citation["references"]]
    root["conformsTo"] = [
        _add_entity(crate, address, {"@type": "CreativeWork", "name": name, "version": address.rpartition("/")[2]})
        for address, name in _PROFILES.items()
    ]
    crate.dereference("README.md")["about"] = root


def _add_author(crate: "ROCrate", author: Mapping[str, str]) -> "Entity":
    if "name" in author:
        name, properties = author["name"], {"@type": "Organization"}
    else:
        name = f"{author['given-names']} {author['family-names']}"
        properties = {"@type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
    return _add_entity(crate, _fragment_id(name), {**properties, "name": name})


def _add_paper(crate: "ROCrate", paper: Mapping) -> "Entity":
    properties = {"@type": "ScholarlyArticle", "name": paper["title"]}
    properties |= {"datePublished": str(paper["year"])} if "year" in paper else {}
    identifier = f"https://doi.org/{paper['doi']}" if "doi" in paper else _fragment_id(paper["title"])
    article = _add_entity(crate, identifier, properties)
    article["author"] = [_add_author(crate, author) for author in paper["authors"]]
    return article


def _fragment_id(text: str) -> str:
    return "#" + "-".join("".join(character if character.isalnum() else " " for character in text).lower().split())
