"""The processes that a test starts, and all that those start: which ones run, and that none is left. On Linux."""

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path

_PATIENCE = 120  # seconds for an event to happen: many times what it takes on a busy machine


class Family:
    """All processes that were started with :attr:`environment`, whatever their parents are by now."""

    def __init__(self):
        self._mark = uuid.uuid4().hex
        self.environment = {"CLUSTERLETS_TEST_FAMILY": self._mark}

    def running(self) -> dict[int, str]:
        """The command line of each process that is neither a test's nor a zombie, by its number."""
        commands = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                if self._mark.encode() in (folder / "environ").read_bytes():
                    commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return commands

    def wait_until_gone(self) -> None:
        """Wait until no process is left."""
        until(lambda: not self.running(), lambda: f"still running: {self.running()}")


@contextlib.contextmanager
def family():
    """A family whose processes are killed at the end of the test."""
    members = Family()
    try:
        yield members
    finally:
        for process in members.running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def until(has_happened, explain=lambda: "it has not happened") -> None:
    """Wait for an event."""
    deadline = time.monotonic() + _PATIENCE
    while not has_happened():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.02)
