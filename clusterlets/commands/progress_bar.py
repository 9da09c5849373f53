"""A progress line for a terminal; nothing is written to a file or a pipe."""

from typing import TextIO

_WIDTH = 24  # of the bar, in characters
_LONGEST = 40  # characters of the next step's description


class ProgressBar:
    """Redraws the line at each call, and clears it at the end."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._shows = stream.isatty()

    def __enter__(self) -> "ProgressBar":
        return self

    def __call__(self, done: int, total: int, words: str) -> None:
        """Show how many parts of the total are done, and what comes next."""
        filled = _WIDTH * done // max(total, 1)
        self._write(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} {words[:_LONGEST]}")

    def __exit__(self, *_: object) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        if self._shows:
            self._stream.write(f"\r\x1b[K{line}")
            self._stream.flush()
