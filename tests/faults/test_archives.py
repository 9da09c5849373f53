"""Every archive in which a dataset is published gives the same table. A local web server serves copies of the archives."""

import copy
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest
from real_tables import mirror
from served import archive

from clusterlets.benchmark import datasets
from clusterlets.benchmark.datasets import catalogue
from clusterlets.benchmark.datasets.fetch import fetch
from clusterlets.tables.table import fingerprint

CATALOGUE = {name: datasets.describe(name) for name in datasets.names()}
WEB_ARCHIVE = "https://web.archive.org/web/"  # not tested: it serves the same bytes as the publisher
# Examples of the other files in publishers' archives.
OTHER_MEMBERS = {"Index": b"Index of adult\n", "old/adult.data": b"", "bank.zip/bank.csv": b"a;b\n"}

ARCHIVES = [
    pytest.param(name, source, id=f"{name} {PurePosixPath(urlsplit(source['url']).path).name}")
    for name, entry in CATALOGUE.items()
    for source in entry["sources"]
    if "members" in source and not source["url"].startswith(WEB_ARCHIVE)
]


@pytest.fixture
def publish(site, tmp_path, monkeypatch):
    """A function that serves an archive of a dataset on this machine, fetches it, and returns the receipt and the table."""

    def publish_archive(name, source, content):
        path = urlsplit(source["url"]).path
        local_catalogue = copy.deepcopy(CATALOGUE)
        local_catalogue[name]["sources"] = [source | {"url": site.address + path}]
        monkeypatch.setattr(catalogue, "_catalogue", lambda: local_catalogue)
        site.serve(path, content)
        receipt = fetch(name, tmp_path)
        assert receipt["source"] == site.address + path
        return receipt, datasets.prepare(name, tmp_path)

    return publish_archive


def read_raw_files(name):
    """The contents of a dataset's real raw files, by file name."""
    return {file["name"]: (mirror() / name / file["name"]).read_bytes() for file in CATALOGUE[name]["files"]}


@pytest.mark.parametrize("name, source", ARCHIVES)
def test_every_archive_gives_the_same_table_even_with_other_line_ends_and_a_byte_order_mark(name, source, publish):
    files = {file: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n") for file, content in read_raw_files(name).items()}
    receipt, table = publish(name, source, zip_like_the_publisher(source, files))
    assert fingerprint(table) == CATALOGUE[name]["fingerprint"] and not receipt["sha256_matches"]


def zip_like_the_publisher(source, files):
    """An archive with ``files`` (content by name) at the paths that the source gives, and with other members.

    A path that begins with bank.zip/ leads into an inner archive.
    """
    contents = OTHER_MEMBERS | {path: files[file] for file, path in source["members"].items()}
    inner = {path.split("/", 1)[1]: content for path, content in contents.items() if path.startswith("bank.zip/")}
    outer = {path: content for path, content in contents.items() if not path.startswith("bank.zip/")}
    return archive(outer | {"bank.zip": archive(inner)})
