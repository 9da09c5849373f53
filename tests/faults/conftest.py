"""A web server of our own for everything that goes wrong between a publisher and a disk."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Site:
    """Answers on 127.0.0.1: ``replies[path]`` is a list of (status, body, bytes to send before hanging up or None).

    Each request takes the next reply, the last one stays; ``asked`` are the paths in order.
    """

    def __init__(self):
        self.replies = {}
        self.asked = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                queue = site.replies.get(self.path, [(404, b"not here", None)])
                status, body, cut = queue.pop(0) if len(queue) > 1 else queue[0]
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[:cut])

            def log_message(self, *_):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def serve(self, path, body, status=200, cut=None):
        self.replies.setdefault(path, []).append((status, body, cut))

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch):
    """No test may look up another host; proxies of the environment do not count."""
    lookup = socket.getaddrinfo

    def guarded(host, *args, **kwargs):
        assert host == "127.0.0.1", f"a test tried to reach {host}"
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", guarded)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
