"""A local web server for everything that can go wrong between a publisher and a disk, and a dataset to fetch."""

import hashlib
import importlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clusterlets.datasets.fetch import fetch
from clusterlets.datasets.table import fingerprint
from clusterlets.errors import ClusterletsError

HEADER = "Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome\n"
GOOD = (HEADER + "".join(f"{row},148,72,35,0,33.6,0.627,50,{row % 2}\n" for row in range(10_000))).encode()
LINE = "{}, Private, 77516, HS-grad, 9, Never-married, Sales, Own-child, White, Male, 0, 0, 40, Cuba, {}\n"
ADULT = {
    "adult.data": "".join(LINE.format(age, "<=50K") for age in range(17, 90)).encode(),
    "adult.test": ("|1x3 Cross validator\n" + "".join(LINE.format(age, ">50K.") for age in range(17, 60))).encode(),
}


def archive(members, compression=zipfile.ZIP_DEFLATED):
    """A zip archive with the members, as bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zip_file:
        for name, content in members.items():
            zip_file.writestr(name, content)
    return buffer.getvalue()


class Site:
    """Sends from 127.0.0.1 the replies that :meth:`serve` set up for a path: each request takes the next, the last one stays.

    ``requested_paths`` has the path of each request, ``logins`` its Authorization header.
    """

    def __init__(self):
        self.replies, self.requested_paths, self.logins = {}, [], []
        self.stalled, self.resume = threading.Event(), threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.requested_paths.append(self.path)
                site.logins.append(self.headers["Authorization"])
                queue = site.replies.get(self.path, [{"status": 404, "body": b"not here"}])
                site.answer(self, **(queue.pop(0) if len(queue) > 1 else queue[0]))

            def log_message(self, *_):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def serve(self, path, body=b"", **how):
        """Add a reply; see :meth:`answer` for its options."""
        self.replies.setdefault(path, []).append({"body": body, **how})

    def heal(self, path, body=GOOD):
        """From now on the path serves the right content."""
        self.replies[path] = [{"body": body}]

    def answer(self, handler, body, status=200, cut=None, stall=None, drip=None, slow_headers=False, sized=True, headers=()):
        """Send a reply.

        cut: hang up after this many bytes; stall: send this many, set the event ``stalled``, continue after ``resume``;
        drip: (bytes, seconds) send this many bytes at a time, and wait this long in between; slow_headers: drip into a header;
        sized: send the Content-Length; headers: further ones, they replace those of the same name.
        """
        lengths = {"Content-Length": str(len(body))} if sized else {}
        handler.send_response(status)
        for name, value in {**lengths, **dict(headers)}.items():
            handler.send_header(name, value)
        if slow_headers:
            handler.flush_headers()
            body = b"X: " + b"x" * 10_000
        else:
            handler.end_headers()
        try:
            if stall is not None:
                handler.wfile.write(body[:stall])
                self.stalled.set()
                self.resume.wait(20)
                body = body[stall:]
            if drip is not None:
                while body and not self.resume.wait(drip[1]):
                    handler.wfile.write(body[: drip[0]])
                    body = body[drip[0] :]
            handler.wfile.write(body[:cut])
        except OSError:  # the client was killed or hung up
            pass

    def close(self):
        self.resume.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Toy:
    """A dataset ``toy`` of one file, in pima's format, or of two, in adult's, and what must be true after a fault."""

    def __init__(self, folder, contents, module):
        self.raw, self.contents = folder / "raw", contents
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        self.entry = {
            "title": "Toy",
            "module": module,
            "sources": [],
            "licence": "none",
            "citation": "none",
            "files": [{"name": name, "sha256": digest} for name, digest in hashes.items()],
        }
        self.entry |= self._table(folder / "true")

    def _table(self, folder):
        """The description of the prepared table."""
        folder.mkdir()
        for name, content in self.contents.items():
            (folder / name).write_bytes(content)
        module = importlib.import_module(f"clusterlets.datasets.{self.entry['module']}")
        table = module.prepare({name: folder / name for name in self.contents})
        return {"rows": table.X.shape[0], "features": table.X.shape[1], "fingerprint": fingerprint(table)}

    @property
    def catalogue(self):
        return {"toy": self.entry}

    @property
    def target(self):
        return self.raw / "toy" / next(iter(self.contents))

    def from_addresses(self, *addresses, members=None):
        """The sources from now on."""
        self.entry["sources"] = [{"url": address} | ({"members": members} if members else {}) for address in addresses]

    def fetch(self, mirror=None):
        return fetch("toy", self.raw, mirror)

    def finished(self):
        """Names in the raw folder that could be mistaken for data."""
        return sorted(path.name for path in self.raw.glob("toy/*") if not path.name.startswith("."))

    def refuses(self, reason, source=None, mirror=None):
        """Fetching fails; the message names dataset, source, reason and remedy; no file is there."""
        with pytest.raises(ClusterletsError, match=reason) as caught:
            self.fetch(mirror)
        message = str(caught.value)
        assert message.startswith("toy: ") and str(self.raw / "toy") in message and "What to do: " in message
        assert source is None or source in message
        assert "Traceback" not in message and self.finished() == []
        return message

    def recovers(self, mirror=None):
        """A rerun fetches the right file, a second one finds it, and only the lock and the note of origin lie next to it."""
        receipt = self.fetch(mirror)
        assert self.fetch(mirror) == receipt and receipt["sha256_matches"]
        assert {name: (self.raw / "toy" / name).read_bytes() for name in self.contents} == self.contents
        names = {path.name for path in (self.raw / "toy").iterdir()}
        assert names == {*self.contents, ".lock", ".origin.json"}
        return receipt
