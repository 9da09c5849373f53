"""What a run shows: one line of progress, failures with their logs, and how it ended.

Snakemake finds this package by its name, and the default profile chooses it (``logger: cells``). It replaces the start and
end of jobs. Every other message is Snakemake's own, and so is everything of a dry run and of a run with
``--printshellcmds``, ``--verbose`` or ``--debug-dag``. Snakemake's log file has its full text in any case.
"""

import io
import os
import shutil
import sys
import threading
import time
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_cells.progress import Job, Progress, line, summary

_JOBS = "RUN_INFO RESOURCES_INFO JOB_INFO JOB_STARTED JOB_FINISHED JOB_ERROR PROGRESS SHELLCMD GROUP_INFO"
_REPLACED = {LogEvent[name] for name in _JOBS.split()}
_CHATTER = ("Using shell:", "Select jobs to execute", "Assuming unrestricted shared filesystem", "Elapsed time:")
_INTERRUPTED = "Terminating processes on user request"  # Ctrl-C reaches the jobs too: they did not fail
_CLEAR = "\r\x1b[2K"
_TICK = 1.0  # seconds between two updates of the line
_SILENCE = 300.0  # seconds between two lines where there is no terminal
_TAIL = 100  # lines of a failed job's log


class LogHandler(LogHandlerBase):
    """Receives Snakemake's records and writes lines to its output stream."""

    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter = True, True  # it needs the records that it does not show
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        quiet = set(settings.quiet or ())
        self._stream = sys.stdout if settings.stdout else sys.stderr
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="backslashreplace")  # for locales that lack the letters of a name
        self._snakemake = ColorizingTextHandler(settings.nocolor, self._stream)
        self._snakemake.setFormatter(DefaultFormatter(quiet, settings.show_failed_logs))
        self._filter = DefaultFilter(quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
        self._plain = settings.dryrun or settings.printshellcmds or settings.verbose or settings.debug_dag
        self._plain = self._plain or Quietness.ALL in quiet
        self._shows_progress = Quietness.PROGRESS not in quiet
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._expected: dict[str, dict[str, float]] = {}
        self._slots = 1
        self._progress = Progress({}, {}, 1, 0.0)
        self._last = -_SILENCE  # when a line was last written
        self._interrupted = False
        self._stop = threading.Event()

    def emit(self, record: LogRecord) -> None:
        """Show a record of Snakemake's, or count it."""
        try:
            event, message = getattr(record, "event", None), record.getMessage()
            self._expected = getattr(record, "seconds_per_job", self._expected)
            self._interrupted |= message.startswith(_INTERRUPTED)
            cut_short = self._interrupted and getattr(record, "exception", None) == "RuleException"
            if not self._plain and event in _REPLACED:
                self._count(event, record)
            elif (self._plain or not (message.startswith(_CHATTER) or cut_short)) and self._filter.filter(record):
                self._write("")
                self._snakemake.emit(record)
        except Exception:
            self.handleError(record)

    def _count(self, event: LogEvent, record: Any) -> None:
        if event == LogEvent.RESOURCES_INFO:
            self._slots = getattr(record, "cores", None) or getattr(record, "nodes", None) or self._slots
        elif event == LogEvent.RUN_INFO:
            planned = {rule: count for rule, count in record.stats.items() if rule != "total"}
            slots = min(self._slots, sum(planned.values()))  # a cluster may have no limit
            self._progress = Progress(planned, self._expected, slots, record.created)
            self._show_line(record.created)
            threading.Thread(target=self._tick, daemon=True).start()
        elif event == LogEvent.JOB_INFO and self._progress.planned:
            dataset = (record.wildcards or {}).get("dataset", "")
            job = Job(record.rule_name, record.rule_msg or record.rule_name, tuple(record.log or ()), record.created, dataset)
            self._progress.start(record.jobid, job)
            self._write("")  # a job without a log may write to this terminal
        elif event == LogEvent.JOB_FINISHED:
            self._progress.finish(record.job_id, record.created)
            self._show_line(record.created)
        elif event == LogEvent.JOB_ERROR and not self._interrupted and record.jobid in self._progress.running:
            job = self._progress.failed[record.jobid] = self._progress.running.pop(record.jobid)
            if not record.indent:  # Snakemake has just shown the jobs of a group
                facts = {"message": record.rule_msg, "environment": record.conda_env, **record.aux}
                lines = [f"FAILED: {job.purpose} ({job.rule})"]
                lines += [f"  {key}: {value}" for key, value in facts.items() if value]
                for log in record.log:
                    lines += _tail(log) if self.common_settings.show_failed_logs else [f"  log: {log}"]
                self._write(self._snakemake.decorate(record, "\n".join(lines)) + "\n")

    def _tick(self) -> None:
        while not self._stop.wait(_TICK):
            with self.lock:
                self._show_line(time.time())

    def _show_line(self, now: float) -> None:
        done, steps = self._progress.steps
        if self._stop.is_set() or not self._shows_progress or done == steps:
            return
        if self._live and all(job.logs for job in self._progress.running.values()):
            text, width = line(self._progress, now), shutil.get_terminal_size().columns - 1
            self._write(text if len(text) <= width else text[: width - 1] + "…")
        elif not self._live and now - self._last >= _SILENCE:
            self._last = now
            self._write(line(self._progress, now) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write((_CLEAR if self._live else "") + text)
        self._stream.flush()

    def close(self) -> None:
        """Show how the run ended."""
        with self.lock:
            if not self._stop.is_set():
                self._stop.set()
                if self._progress.planned:
                    self._write(summary(self._progress, time.time()) + "\n")
        super().close()


def _tail(log: str) -> list[str]:
    """The name of a log and its end, which is usually all of it."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return [f"  log: {log} (was not written)"]
    extent = f" (its last {_TAIL} of {len(lines):,} lines)" if len(lines) > _TAIL else "" if lines else " (is empty)"
    return [f"  log: {log}{extent}", *(f"  | {line}" for line in lines[-_TAIL:])]
