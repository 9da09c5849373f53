"""A local web server that can fail in all the ways a publisher's server can, and a toy dataset to fetch from it."""

import hashlib
import importlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clusterlets.benchmark.datasets.fetch import fetch
from clusterlets.errors import ClusterletsError
from clusterlets.tables.table import fingerprint

HEADER = "Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome\n"
#: The correct content of a toy of one file, and the same with a wrong value.
GOOD = (HEADER + "".join(f"{row},148,72,35,0,33.6,0.627,50,{row % 2}\n" for row in range(10_000))).encode()
WRONG = GOOD.replace(b"33.6", b"36.3", 1)
ADULT_LINE = "{}, Private, 77516, HS-grad, 9, Never-married, Sales, Own-child, White, Male, 0, 0, 40, Cuba, {}\n"
#: The correct contents of a toy of two files, by file name.
ADULT = {
    "adult.data": "".join(ADULT_LINE.format(age, "<=50K") for age in range(17, 90)).encode(),
    "adult.test": ("|1x3 Cross validator\n" + "".join(ADULT_LINE.format(age, ">50K.") for age in range(17, 60))).encode(),
}


def archive(members, compression=zipfile.ZIP_DEFLATED):
    """The bytes of a zip archive. ``members`` maps the name of each member to its content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zip_file:
        for name, content in members.items():
            zip_file.writestr(name, content)
    return buffer.getvalue()


class Site:
    """A web server on 127.0.0.1.

    Requests for a path get the replies added by :meth:`serve`, one after the other. The last reply is repeated.
    ``requested_paths`` lists the paths of the requests, and ``logins`` their Authorization headers.
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
                site.reply(self, **(queue.pop(0) if len(queue) > 1 else queue[0]))

            def log_message(self, *_):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def serve(self, path, body=b"", **options):
        """Add a reply for this path. :meth:`reply` describes the options."""
        self.replies.setdefault(path, []).append({"body": body, **options})

    def heal(self, path, body=GOOD):
        """Serve the right content at this path from now on."""
        self.replies[path] = [{"body": body}]

    def reply(self, handler, body, status=200, cut=None, stall=None, sized=True, headers=()):
        """Send a reply.

        cut: end the body after this many bytes, although Content-Length counts all
        stall: pause after this many bytes; set the event ``stalled``, and go on once ``resume`` is set
        sized: whether to send Content-Length
        headers: additional headers, which replace headers of the same name
        """
        lengths = {"Content-Length": str(len(body))} if sized else {}
        handler.send_response(status)
        for name, value in {**lengths, **dict(headers)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        try:
            if stall is not None:
                handler.wfile.write(body[:stall])
                self.stalled.set()
                self.resume.wait(20)
                body = body[stall:]
            handler.wfile.write(body[:cut])
        except OSError:  # the client hung up or was killed
            pass

    def close(self):
        self.resume.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Toy:
    """A dataset ``toy``: one file in pima's format, or two in adult's."""

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
        self.entry |= self._describe_table(folder / "original")

    def _describe_table(self, folder):
        """The catalogue's fields on the table: rows, features and fingerprint."""
        folder.mkdir()
        for name, content in self.contents.items():
            (folder / name).write_bytes(content)
        module = importlib.import_module(f"clusterlets.benchmark.datasets.{self.entry['module']}")
        table = module.prepare({name: folder / name for name in self.contents})
        return {"rows": table.X.shape[0], "features": table.X.shape[1], "fingerprint": fingerprint(table)}

    @property
    def catalogue(self):
        return {"toy": self.entry}

    @property
    def target(self):
        """The path of the first raw file."""
        return self.raw / "toy" / next(iter(self.contents))

    def set_sources(self, *addresses, members=None):
        """Make these addresses the only sources. For archives, ``members`` maps each file to its path in the archive."""
        self.entry["sources"] = [{"url": address} | ({"members": members} if members else {}) for address in addresses]

    def fetch(self, mirror=None):
        return fetch("toy", self.raw, mirror)

    def data_files(self):
        """Names of the files in the raw folder that could be mistaken for data."""
        return sorted(path.name for path in self.raw.glob("toy/*") if not path.name.startswith("."))

    def assert_fetch_fails(self, reason, source=None, mirror=None):
        """Assert that a fetch fails, leaves no data, and names dataset, source, reason and remedy. Return the message."""
        with pytest.raises(ClusterletsError, match=reason) as error:
            self.fetch(mirror)
        message = str(error.value)
        assert message.startswith("toy: ") and str(self.raw / "toy") in message and "What to do: " in message
        assert source is None or source in message
        assert "Traceback" not in message and self.data_files() == []
        return message

    def fetch_and_check(self, mirror=None):
        """Assert that a fetch gets the right files, and that a second one gives the same receipt. Return the receipt.

        The folder may hold nothing else but the note on the origin of the files.
        """
        receipt = self.fetch(mirror)
        assert self.fetch(mirror) == receipt and receipt["sha256_matches"]
        assert {name: (self.raw / "toy" / name).read_bytes() for name in self.contents} == self.contents
        names = {path.name for path in (self.raw / "toy").iterdir()}
        assert names == {*self.contents, ".origin.json"}
        return receipt
