"""Find the processes that a test starts, directly or not, and wait until they have ended. Linux only."""

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path

_TIMEOUT = 120  # seconds to wait for an event, far more than a busy machine needs


class Family:
    """All processes that were started with the variables in ``environment``, even if their parents have ended."""

    def __init__(self):
        self._mark = uuid.uuid4().hex
        self.environment = {"CLUSTERLETS_TEST_FAMILY": self._mark}

    def running(self) -> dict[int, str]:
        """The command line of each running process of the family, by process id. Zombies are left out."""
        commands = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # the process has just ended
                if self._mark.encode() in (folder / "environ").read_bytes():
                    commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return commands

    def wait_until_gone(self) -> None:
        wait_until(lambda: not self.running(), lambda: f"still running: {self.running()}")


@contextlib.contextmanager
def family():
    """A family whose processes are killed at the end of the test."""
    members = Family()
    try:
        yield members
    finally:
        for pid in members.running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_until(has_happened, explain=lambda: "it has not happened") -> None:
    """Wait for an event. Fail with the text of ``explain`` if it does not happen in time."""
    deadline = time.monotonic() + _TIMEOUT
    while not has_happened():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.02)
