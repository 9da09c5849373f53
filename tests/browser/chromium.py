"""A headless Chromium for tests, which use its mouse and keyboard and see every request and error.

The tests speak the DevTools protocol over a pair of pipes (``--remote-debugging-pipe``). Each message is JSON, and ends in a
zero byte. So the tests need only Debian's package ``chromium``: no port, no socket, no driver of a matching version.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

REQUIRED = "CLUSTERLETS_REQUIRE_BROWSER"  # environment variable: with 1, tests fail if there is no Chromium
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and writes answers to 4. This program moves the pipes there and becomes Chromium.
# The pipes are first copied to descriptors from 10 on, so that neither overwrites the other.
_LAUNCH = (
    "import fcntl, os, sys; r, w = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]); "
    "os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_TIMEOUT = 60.0  # seconds to wait for one answer; some machines are slow
_KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    " ": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}


def find_program(required: bool) -> str:
    """The path of Chromium. If there is none, skip the test, or fail it if a browser is required."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program:
        return program
    reason = f"no Chromium here (looked for {', '.join(PROGRAMS)}); Debian's package is called chromium"
    if required:
        pytest.fail(f"{REQUIRED}=1 and {reason}")
    pytest.skip(reason)


class Chromium:
    """One running browser; ``open`` gives a page in a fresh tab."""

    def __init__(self, program: str, profile: Path):
        browser_in, command_writer = os.pipe()
        answer_reader, browser_out = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(browser_in), str(browser_out), program, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(browser_in, browser_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(browser_in)
        os.close(browser_out)
        self._command_writer, self._answer_reader = command_writer, answer_reader
        self._buffer, self._command_id = b"", 0
        self.events: list[dict] = []

    def close(self) -> None:
        """End the browser."""
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._command_writer)
        os.close(self._answer_reader)

    def send(self, method: str, session: str = "", **parameters) -> dict:
        """Send a command and return its answer. Events that arrive before the answer are kept in ``events``."""
        self._command_id += 1
        command = {"id": self._command_id, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        unsent = json.dumps(command).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self._command_writer, unsent) :]
        deadline = time.monotonic() + _TIMEOUT
        while True:
            message = self._next_message(deadline)
            if message.get("id") == self._command_id:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self.events.append(message)

    def _next_message(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            if not select.select([self._answer_reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium gave no answer within {_TIMEOUT:.0f} s")
            chunk = os.read(self._answer_reader, 1 << 20)
            if not chunk:
                raise EOFError("Chromium has ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int = 1400, height: int = 900, script: bool = True) -> "Page":
        """Open a file in a new tab, with or without JavaScript, and return the page once it has loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.send("Emulation.setScriptExecutionDisabled", value=not script)
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        page.load(path)
        return page


class Page:
    """A tab of the browser."""

    def __init__(self, browser: Chromium, session: str, target: str):
        self._browser, self._session, self._target = browser, session, target

    def send(self, method: str, **parameters) -> dict:
        return self._browser.send(method, self._session, **parameters)

    def load(self, path: Path) -> None:
        self.send("Page.navigate", url=path.as_uri())
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def close(self) -> None:
        self._browser.send("Target.closeTarget", targetId=self._target)

    def events(self, *methods: str) -> list[dict]:
        """The parameters of all events of this tab so far whose method in the protocol is one of ``methods``."""
        self.run("0")  # the answer to this command arrives after all earlier events
        in_this_tab = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event["params"] for event in in_this_tab if event["method"] in methods]

    def errors(self) -> list[str]:
        """Errors and warnings of the console, of scripts and of the browser itself, which reports blocked content."""
        console = [
            str(event["args"])
            for event in self.events("Runtime.consoleAPICalled")
            if event["type"] in ("error", "warning", "assert")
        ]
        exceptions = [str(event["exceptionDetails"]) for event in self.events("Runtime.exceptionThrown")]
        entries = [event["entry"] for event in self.events("Log.entryAdded")]
        return console + exceptions + [entry["text"] for entry in entries if entry["level"] != "verbose"]

    def requests(self) -> list[str]:
        """Every address that the page requested, except data that is embedded in the page."""
        urls = [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith("data:")]

    def run(self, expression: str):
        """Evaluate an expression in the page and return its value. If the value is a promise, wait for its result."""
        response = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in response, response["exceptionDetails"]
        return response["result"].get("value")

    def wait_for(self, expression: str) -> None:
        deadline = time.monotonic() + _TIMEOUT
        while not self.run(expression):
            assert time.monotonic() < deadline, f"not true within {_TIMEOUT:.0f} s: {expression}"
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse, after scrolling it into view."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.run(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key. The element in focus receives it."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, **_KEYS[key])
