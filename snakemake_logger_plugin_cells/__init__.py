"""Show one line of progress during a run, each failed job with its log, and a summary at the end.

Snakemake finds this package by its name, and the default profile selects it (``logger: cells``). It replaces Snakemake's
messages about the start and end of jobs, but not in a dry run, or with ``--verbose``, ``--printshellcmds``, ``--debug-dag``
or ``--quiet progress``. Snakemake's log file is always complete.
"""

import io
import os
import shutil
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Events that this package shows in place of Snakemake, and beginnings of messages that it does not show.
_OUR_EVENTS = set("run_info resources_info job_info job_started job_finished job_error progress shellcmd group_info".split())
_NOISE = ("Using shell:", "Select jobs to execute", "Assuming unrestricted shared filesystem", "Elapsed time:")
_CLEAR_LINE = "\r\x1b[2K"
_TICK = 1.0  # seconds between two updates of the line of progress
_SECONDS_BETWEEN_LINES = 300.0  # seconds between two lines of progress in a file or pipe
_LOG_LINES = 100  # lines shown of a failed job's log, from its end

_DEFAULT_SECONDS = {"": 3.0}  # expected seconds of a job without an estimate, such as a table or a figure
_PRIOR_SECONDS = 10.0  # the expected pace weighs as much as this many seconds of measured pace


class LogHandler(LogHandlerBase):
    """Receives Snakemake's records and writes lines to Snakemake's output stream."""

    writes_to_stream, writes_to_file, needs_rulegraph = True, False, False
    has_filter, has_formatter = True, True  # otherwise Snakemake would drop records, including some that Progress needs

    def __post_init__(self) -> None:
        settings = self.common_settings
        quiet = set(settings.quiet or ())
        self._stream = sys.stdout if settings.stdout else sys.stderr
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="backslashreplace")  # for locales that cannot encode a name
        text_filter = DefaultFilter(quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
        formatter = DefaultFormatter(quiet, settings.show_failed_logs)
        self._text_handler = ColorizingTextHandler(settings.nocolor, self._stream, formatter, text_filter)
        self._verbatim = settings.dryrun or settings.printshellcmds or settings.verbose or settings.debug_dag
        self._verbatim = self._verbatim or bool(quiet & {Quietness.ALL, Quietness.PROGRESS})
        self._is_terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._progress = Progress()
        self._last_line_time = -_SECONDS_BETWEEN_LINES  # when a line of progress was last written
        self._interrupted = False
        self._stop = threading.Event()

    def emit(self, record: LogRecord) -> None:
        """Show one of Snakemake's records, or update the progress from it."""
        try:
            event, message = getattr(record, "event", None), record.getMessage()
            self._progress.expected = getattr(record, "seconds_per_job", self._progress.expected)
            # Ctrl-C also ends the running jobs, which then do not count as failed.
            self._interrupted |= message.startswith("Terminating processes on user request")
            is_interrupt = self._interrupted and getattr(record, "exception", None) == "RuleException"
            if not self._verbatim and event in _OUR_EVENTS:
                self._update_progress(event, record)
            elif (self._verbatim or not (message.startswith(_NOISE) or is_interrupt)) and self._text_handler.filter(record):
                self._write("")
                self._text_handler.emit(record)
        except Exception:
            self.handleError(record)

    def _update_progress(self, event: LogEvent, record: Any) -> None:
        progress = self._progress
        if event == LogEvent.RESOURCES_INFO:
            progress.slots = getattr(record, "cores", None) or getattr(record, "nodes", None) or 1
        elif event == LogEvent.RUN_INFO:
            progress.began = record.created
            progress.planned = Counter({rule: count for rule, count in record.stats.items() if rule != "total"})
            self._show_line(record.created)
            threading.Thread(target=self._tick, daemon=True).start()
        elif event == LogEvent.JOB_INFO and progress.planned:
            progress.start(record)
            self._write("")  # clears the line, because a job without a log may write to this terminal
        elif event == LogEvent.JOB_FINISHED:
            progress.n_done += progress.running.pop(record.job_id, None) is not None
            self._show_line(record.created)
        elif event == LogEvent.JOB_ERROR and not self._interrupted and record.jobid in progress.running:
            job = progress.failed[record.jobid] = progress.running.pop(record.jobid)
            if not record.indent:  # an indented record repeats the error of a group's job
                facts = {"message": record.rule_msg, "environment": record.conda_env, **record.aux}
                lines = [f"FAILED: {_job_name(job)}", *(f"  {key}: {value}" for key, value in facts.items() if value)]
                for log in record.log:
                    lines += _log_excerpt(log) if self.common_settings.show_failed_logs else [f"  log: {log}"]
                self._write(self._text_handler.decorate(record, "\n".join(lines)) + "\n")

    def _tick(self) -> None:
        while not self._stop.wait(_TICK):
            with self.lock:
                self._show_line(time.time())

    def _show_line(self, now: float) -> None:
        if self._stop.is_set() or self._progress.n_done == self._progress.planned.total():
            return
        if self._is_terminal:
            text, width = self._progress.status_line(now), shutil.get_terminal_size().columns - 1
            self._write(text if len(text) <= width else text[: width - 1] + "…")
        elif now - self._last_line_time >= _SECONDS_BETWEEN_LINES:
            self._last_line_time = now
            self._write(self._progress.status_line(now) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write((_CLEAR_LINE if self._is_terminal else "") + text)
        self._stream.flush()

    def close(self) -> None:
        """Show the summary."""
        with self.lock:
            if not self._stop.is_set() and self._progress.planned:
                self._write(self._progress.summary(time.time()) + "\n")
            self._stop.set()
        super().close()


class Progress:
    """The state of a run. Each job is represented by the record that Snakemake sent when it started."""

    def __init__(self):
        self.planned = Counter()  # number of jobs, by rule
        self.slots, self.began = 1, 0.0  # jobs at a time; the start, in seconds since the epoch
        self.expected = {}  # expected seconds of a job, by rule and then by dataset
        self.running, self.failed, self.n_done = {}, {}, 0  # jobs, by id; the number of finished jobs
        self._n_started, self._expected_of_started = Counter(), Counter()  # by rule: jobs, and their expected seconds

    def start(self, job: Any) -> None:
        """Record that a job has started, or has started again after a failure."""
        if not self.failed.pop(job.jobid, None):
            self._n_started[job.rule_name] += 1
            self._expected_of_started[job.rule_name] += self._expected_seconds(job)
        self.running[job.jobid] = job

    def seconds_left(self, now: float) -> float:
        """Expected seconds until every job is done, if none fails and the pace stays the same."""
        running = [(self._expected_seconds(job), now - job.created) for job in self.running.values()]
        left_of_running = sum(max(expected - elapsed, expected / 10) for expected, elapsed in running)  # at least a tenth
        seconds_done = sum(self._expected_of_started.values()) - left_of_running
        pace = (_PRIOR_SECONDS * min(self.slots, self.planned.total()) + seconds_done) / (_PRIOR_SECONDS + now - self.began)
        return (left_of_running + sum(map(self._expected_of_waiting, self.planned))) / pace

    def _expected_seconds(self, job: Any) -> float:
        expected = self.expected.get(job.rule_name) or _DEFAULT_SECONDS
        return expected.get((job.wildcards or {}).get("dataset", ""), sum(expected.values()) / len(expected))

    def _expected_of_waiting(self, rule: str) -> float:
        # Assume equally many jobs for each dataset. If the started jobs refute this, use their mean.
        expected = (self.expected.get(rule) or _DEFAULT_SECONDS).values()
        started, n_started = self._expected_of_started[rule], self._n_started[rule]
        n_waiting, estimate = self.planned[rule] - n_started, self.planned[rule] * sum(expected) / len(expected) - started
        is_possible = 0.99 * n_waiting * min(expected) <= estimate <= 1.01 * n_waiting * max(expected)
        return estimate if is_possible or not n_started else n_waiting * started / n_started

    def status_line(self, now: float) -> str:
        """One line that says how far the run is, and which job has been running longest."""
        n_jobs, failed = self.planned.total(), f" · {len(self.failed)} failed" if self.failed else ""
        qualifier = "at most" if self.failed else "about"  # jobs that need a failed job will not run
        left = _format_duration(10 * round(self.seconds_left(now) / 10))
        count = f"{100 * self.n_done // max(n_jobs, 1)} % · {self.n_done:,}/{n_jobs:,} steps{failed}"
        times = f"{_format_duration(now - self.began)} elapsed, {qualifier} {left} left"
        return " · ".join([count, times, *(job.rule_msg or job.rule_name for job in list(self.running.values())[:1])])

    def summary(self, now: float) -> str:
        """How the run ended, what failed, and how to continue."""
        n_jobs, failed = self.planned.total(), f", {len(self.failed)} failed" if self.failed else ""
        count = f"{self.n_done:,} of {n_jobs:,} steps{failed}, in {_format_duration(now - self.began)}"
        if self.n_done == n_jobs:
            return f"Done: {count}"
        lines = [f"  failed: {_job_name(job)}, log {', '.join(job.log or ['none'])}" for job in self.failed.values()]
        lines += [f"  cut short: {_job_name(job)}" for job in self.running.values()]
        lines.append("To continue, run the same command again: what is done is not repeated.")
        return "\n".join([f"Not complete: {count}", *lines])


def _job_name(job: Any) -> str:
    return f"{job.rule_msg or job.rule_name} ({job.rule_name})"


def _format_duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _log_excerpt(log: str) -> list[str]:
    """A log's name and its last lines."""
    if not os.path.isfile(log):
        return [f"  log: {log} (was not written)"]
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    note = f" (its last {_LOG_LINES} of {len(lines):,} lines)" if len(lines) > _LOG_LINES else "" if lines else " (is empty)"
    return [f"  log: {log}{note}", *(f"  | {line}" for line in lines[-_LOG_LINES:])]
