"""A headless Chromium that tests drive: real mouse, real keyboard, and a record of every request and error.

Commands of the DevTools protocol go through a pair of pipes (``--remote-debugging-pipe``): JSON texts that end in a zero
byte. So it needs nothing but Debian's package ``chromium``: no driver of a matching version, no port, no socket.
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

REQUIRED = "CLUSTERLETS_REQUIRE_BROWSER"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and writes answers to 4, so the pipes are moved there.
_START = (
    "import fcntl, os, sys; r, w = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]); "
    "os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_PATIENCE = 60.0  # seconds for one answer; some machines are slow
_KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    " ": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}


def find_program(required: bool) -> str:
    """The path of Chromium. Without it the test is skipped, or fails if a browser is required."""
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
        commands, to_browser = os.pipe()
        from_browser, answers = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(commands), str(answers), program, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._to, self._from = to_browser, from_browser
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
        os.close(self._to)
        os.close(self._from)

    def send(self, method: str, session: str = "", **parameters) -> dict:
        """The answer to one command; events that arrive before it are kept."""
        self._command_id += 1
        command = {"id": self._command_id, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        message = json.dumps(command).encode() + b"\0"
        while message:
            message = message[os.write(self._to, message) :]
        deadline = time.monotonic() + _PATIENCE
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._command_id:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _next(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium gave no answer within {_PATIENCE:.0f} s")
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise EOFError("Chromium has ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int = 1400, height: int = 900, script: bool = True) -> "Page":
        """A file in a new tab, loaded and laid out, seen by a reader with or without scripts."""
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
    """A tab."""

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
        """The parameters of the events of these methods in this tab so far."""
        self.run("0")  # all earlier events have arrived once this is answered
        in_this_tab = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event["params"] for event in in_this_tab if event["method"] in methods]

    def errors(self) -> list[str]:
        """Errors and warnings of the console, of scripts and of the browser, such as refused content."""
        console = [
            str(event["args"])
            for event in self.events("Runtime.consoleAPICalled")
            if event["type"] in ("error", "warning", "assert")
        ]
        thrown = [str(event["exceptionDetails"]) for event in self.events("Runtime.exceptionThrown")]
        logged = [event["entry"]["text"] for event in self.events("Log.entryAdded") if event["entry"]["level"] != "verbose"]
        return console + thrown + logged

    def requests(self) -> list[str]:
        """Every address that the page asked for, without data embedded in the page."""
        urls = [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith("data:")]

    def run(self, expression: str):
        """The value of an expression in the page; promises are waited for."""
        response = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in response, response["exceptionDetails"]
        return response["result"].get("value")

    def wait_for(self, expression: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not self.run(expression):
            assert time.monotonic() < deadline, f"not true within {_PATIENCE:.0f} s: {expression}"
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse, after scrolling it into view."""
        quoted = json.dumps(selector)
        self.run(f"document.querySelector({quoted}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector({quoted}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key, which goes to the element in focus."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, **_KEYS[key])
