"""Fixtures of the fault tests: a web server, toy datasets, and a guard against contacting other machines."""

import socket
import types

import pooch.core
import pytest
from served import ADULT, GOOD, Site, Toy

from clusterlets.benchmark.datasets import catalogue


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A dataset of one file. It is the only one in the catalogue."""
    toy = Toy(tmp_path, {"diabetes.csv": GOOD}, "pima")
    monkeypatch.setattr(catalogue, "_catalogue", lambda: toy.catalogue)
    return toy


@pytest.fixture
def toy_of_two_files(tmp_path, monkeypatch):
    """A dataset of two files. It is the only one in the catalogue."""
    toy = Toy(tmp_path, ADULT, "adult")
    monkeypatch.setattr(catalogue, "_catalogue", lambda: toy.catalogue)
    return toy


@pytest.fixture(autouse=True)
def no_contact_with_other_machines(monkeypatch):
    """Fail a test that looks up a host other than this machine. Ignore proxies that the environment sets."""
    lookup = socket.getaddrinfo

    def guarded_lookup(host, *args, **kwargs):
        assert host == "127.0.0.1", f"a test tried to reach {host}"
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(autouse=True)
def pooch_does_not_wait(monkeypatch):
    """Let pooch try again at once, instead of after one second and then two."""
    monkeypatch.setattr(pooch.core, "time", types.SimpleNamespace(sleep=lambda _: None))
