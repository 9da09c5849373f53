"""Progress: a line that is redrawn on a terminal; in a file or a pipe, a new line now and then."""

import time
from typing import TextIO

_WIDTH = 24  # of the bar, in characters
_MAX_DESCRIPTION = 80  # characters
_PAUSE = 10.0  # seconds between two lines without a terminal


class ProgressBar:
    """Redraws the line at each call, and clears it at the end; without a terminal it writes a line every ten seconds."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._last = time.monotonic()

    def __enter__(self) -> "ProgressBar":
        return self

    def __call__(self, done: int, total: int, description: str) -> None:
        """Show how many parts of the total are done, and what comes next."""
        if self._is_terminal:
            filled = _WIDTH * done // max(total, 1)
            self._redraw(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} {description[:_MAX_DESCRIPTION]}")
        elif time.monotonic() >= self._last + _PAUSE:
            self._last = time.monotonic()
            print(f"{done} of {total} done; next: {description}", file=self._stream, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._redraw("")

    def _redraw(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
