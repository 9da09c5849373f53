"""The web server and the datasets of these tests, and a guard against contacting other machines."""

import socket
import types

import pooch.core
import pytest
from served import ADULT, GOOD, Site, Toy

from clusterlets.datasets import catalogue


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    toy = Toy(tmp_path, {"diabetes.csv": GOOD}, "pima")
    monkeypatch.setattr(catalogue, "_catalogue", lambda: toy.catalogue)
    return toy


@pytest.fixture
def pair(tmp_path, monkeypatch):
    pair = Toy(tmp_path, ADULT, "adult")
    monkeypatch.setattr(catalogue, "_catalogue", lambda: pair.catalogue)
    return pair


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch):
    """No test may look up a different host; proxies of the environment do not count."""
    lookup = socket.getaddrinfo

    def guarded(host, *args, **kwargs):
        assert host == "127.0.0.1", f"a test tried to reach {host}"
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", guarded)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(autouse=True)
def pooch_does_not_wait(monkeypatch):
    """No wait before further attempts, which pooch makes after one second and then two."""
    monkeypatch.setattr(pooch.core, "time", types.SimpleNamespace(sleep=lambda _: None))
