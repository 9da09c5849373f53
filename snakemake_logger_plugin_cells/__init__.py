"""What a run shows: one line of progress, failures with their logs, and how it ended.

Snakemake finds this package by its name, and the default profile chooses it (``logger: cells``). It replaces the start and
end of jobs. Every other message is Snakemake's own, and so is everything of a dry run and of a run with ``--verbose``,
``--printshellcmds``, ``--debug-dag`` or ``--quiet progress``. Snakemake's log file has its full text in any case.
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

_REPLACED = set("run_info resources_info job_info job_started job_finished job_error progress shellcmd group_info".split())
_CHATTER = ("Using shell:", "Select jobs to execute", "Assuming unrestricted shared filesystem", "Elapsed time:")
_CLEAR = "\r\x1b[2K"
_TICK = 1.0  # seconds between two updates of the line
_SILENCE = 300.0  # seconds between two lines where there is no terminal
_TAIL = 100  # lines of a failed job's log

_UNKNOWN = {"": 3.0}  # seconds expected of a job without an estimate: about those of a table or a figure
_START = 10.0  # seconds after which the measured pace counts as much as the expected one


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
        text_filter = DefaultFilter(quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
        formatter = DefaultFormatter(quiet, settings.show_failed_logs)
        self._snakemake = ColorizingTextHandler(settings.nocolor, self._stream, formatter, text_filter)
        self._plain = settings.dryrun or settings.printshellcmds or settings.verbose or settings.debug_dag
        self._plain = self._plain or bool(quiet & {Quietness.ALL, Quietness.PROGRESS})
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._progress = Progress()
        self._last = -_SILENCE  # when a line was last written
        self._interrupted = False
        self._stop = threading.Event()

    def emit(self, record: LogRecord) -> None:
        """Show a record of Snakemake's, or count it."""
        try:
            event, message = getattr(record, "event", None), record.getMessage()
            self._progress.expected = getattr(record, "seconds_per_job", self._progress.expected)
            # Ctrl-C reaches the jobs too: they did not fail.
            self._interrupted |= message.startswith("Terminating processes on user request")
            cut_short = self._interrupted and getattr(record, "exception", None) == "RuleException"
            if not self._plain and event in _REPLACED:
                self._count(event, record)
            elif (self._plain or not (message.startswith(_CHATTER) or cut_short)) and self._snakemake.filter(record):
                self._write("")
                self._snakemake.emit(record)
        except Exception:
            self.handleError(record)

    def _count(self, event: LogEvent, record: Any) -> None:
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
            self._write("")  # a job without a log may write to this terminal
        elif event == LogEvent.JOB_FINISHED:
            progress.n_done += progress.running.pop(record.job_id, None) is not None
            self._show_line(record.created)
        elif event == LogEvent.JOB_ERROR and not self._interrupted and record.jobid in progress.running:
            job = progress.failed[record.jobid] = progress.running.pop(record.jobid)
            if not record.indent:  # Snakemake has just shown the jobs of a group
                facts = {"message": record.rule_msg, "environment": record.conda_env, **record.aux}
                lines = [f"FAILED: {_name(job)}", *(f"  {key}: {value}" for key, value in facts.items() if value)]
                for log in record.log:
                    lines += _tail(log) if self.common_settings.show_failed_logs else [f"  log: {log}"]
                self._write(self._snakemake.decorate(record, "\n".join(lines)) + "\n")

    def _tick(self) -> None:
        while not self._stop.wait(_TICK):
            with self.lock:
                self._show_line(time.time())

    def _show_line(self, now: float) -> None:
        if self._stop.is_set() or self._progress.n_done == self._progress.planned.total():
            return
        if self._live:
            text, width = self._progress.line(now), shutil.get_terminal_size().columns - 1
            self._write(text if len(text) <= width else text[: width - 1] + "…")
        elif now - self._last >= _SILENCE:
            self._last = now
            self._write(self._progress.line(now) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write((_CLEAR if self._live else "") + text)
        self._stream.flush()

    def close(self) -> None:
        """Show how the run ended."""
        with self.lock:
            if not self._stop.is_set():
                self._stop.set()
                if self._progress.planned:
                    self._write(self._progress.summary(time.time()) + "\n")
        super().close()


class Progress:
    """The state of a run. A job is Snakemake's record of its start."""

    def __init__(self):
        self.planned, self.slots, self.began = Counter(), 1, 0.0  # jobs by rule, and how many may run at once
        self.expected = {}  # seconds of a job, by rule and dataset
        self.running, self.failed, self.n_done = {}, {}, 0
        self._n_started, self._seconds_started = Counter(), Counter()  # by rule: jobs, and the seconds expected of them

    def start(self, job: Any) -> None:
        """A job has started, or started again after a failure."""
        if not self.failed.pop(job.jobid, None):
            self._n_started[job.rule_name] += 1
            self._seconds_started[job.rule_name] += self._seconds(job)
        self.running[job.jobid] = job

    def seconds_left(self, now: float) -> float:
        """Seconds until everything is done, if nothing fails and the rest goes at the pace so far."""
        running = [(self._seconds(job), now - job.created) for job in self.running.values()]
        under_way = sum(max(expected - elapsed, expected / 10) for expected, elapsed in running)
        done = sum(self._seconds_started.values()) - under_way
        pace = (_START * min(self.slots, self.planned.total()) + done) / (_START + now - self.began)
        return (under_way + sum(map(self._seconds_waiting, self.planned))) / pace

    def _seconds(self, job: Any) -> float:
        expected = self.expected.get(job.rule_name) or _UNKNOWN
        return expected.get((job.wildcards or {}).get("dataset", ""), sum(expected.values()) / len(expected))

    def _seconds_waiting(self, rule: str) -> float:
        """What is left of all datasets' jobs; if that cannot be (not every dataset runs), the mean of the started jobs."""
        expected = (self.expected.get(rule) or _UNKNOWN).values()
        started, n_started = self._seconds_started[rule], self._n_started[rule]
        count, rest = self.planned[rule] - n_started, self.planned[rule] * sum(expected) / len(expected) - started
        is_possible = 0.99 * count * min(expected) <= rest <= 1.01 * count * max(expected)
        return rest if is_possible or not n_started else count * started / n_started

    def line(self, now: float) -> str:
        """Where the run stands, and which job has run longest."""
        steps, failed = self.planned.total(), f" · {len(self.failed)} failed" if self.failed else ""
        about = "at most" if self.failed else "about"  # what needs a failed step will not run
        left = _clock(10 * round(self.seconds_left(now) / 10))
        count = f"{100 * self.n_done // max(steps, 1)} % · {self.n_done:,}/{steps:,} steps{failed}"
        times = f"{_clock(now - self.began)} gone, {about} {left} left"
        return " · ".join([count, times, *(job.rule_msg or job.rule_name for job in list(self.running.values())[:1])])

    def summary(self, now: float) -> str:
        """How the run ended, what failed, and how to continue."""
        steps, failed = self.planned.total(), f", {len(self.failed)} failed" if self.failed else ""
        count = f"{self.n_done:,} of {steps:,} steps{failed}, in {_clock(now - self.began)}"
        if self.n_done == steps:
            return f"Done: {count}"
        lines = [f"  failed: {_name(job)}, log {', '.join(job.log or ['none'])}" for job in self.failed.values()]
        lines += [f"  cut short: {_name(job)}" for job in self.running.values()]
        remedy = "To continue, run the same command again: what is done is not repeated."
        return "\n".join([f"Not complete: {count}", *lines, remedy])


def _name(job: Any) -> str:
    return f"{job.rule_msg or job.rule_name} ({job.rule_name})"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _tail(log: str) -> list[str]:
    """The name of a log and its end, which is usually all of it."""
    if not os.path.isfile(log):
        return [f"  log: {log} (was not written)"]
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    extent = f" (its last {_TAIL} of {len(lines):,} lines)" if len(lines) > _TAIL else "" if lines else " (is empty)"
    return [f"  log: {log}{extent}", *(f"  | {line}" for line in lines[-_TAIL:])]
