"""Show one line of progress during a run, each failed job with its log, and a summary at the end.

Snakemake finds this package by its name, and the default profile selects it (``logger: cells``). Snakemake's own messages are
shown instead in a dry run, or with ``--verbose``, ``--printshellcmds``, ``--debug-dag`` or ``--quiet progress``.
"""

import os
import shutil
import sys
import time
from collections import Counter
from datetime import timedelta
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, show_logs
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Events that this package shows in place of Snakemake, and beginnings of messages that it does not show.
_OUR_EVENTS = set("run_info resources_info job_info job_started job_finished job_error progress shellcmd group_info".split())
_NOISE = ("Using shell:", "Select jobs to execute", "Assuming unrestricted shared filesystem", "Elapsed time:")
_PERCENT_BETWEEN_LINES = 5  # between two lines of progress in a file or pipe


class LogHandler(LogHandlerBase):
    """Receives all of Snakemake's records, as it has a filter of its own, and writes lines to Snakemake's output stream."""

    writes_to_stream, writes_to_file, needs_rulegraph, has_filter, has_formatter = True, False, False, True, True

    def __post_init__(self) -> None:
        settings, quiet = self.common_settings, set(self.common_settings.quiet or ())
        self._stream = sys.stdout if settings.stdout else sys.stderr
        details = (settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
        formatter = DefaultFormatter(quiet, settings.show_failed_logs)
        self._text_handler = ColorizingTextHandler(settings.nocolor, self._stream, formatter, DefaultFilter(quiet, *details))
        self._verbatim = any(details) or bool(quiet & {Quietness.ALL, Quietness.PROGRESS})
        self._is_terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._n_jobs, self._n_done, self._is_interrupted = 0, 0, False
        self._began, self._next_percent = 0.0, 0  # seconds since the epoch; percent at which a file gets the next line
        self._running, self._failed = dict[int, Any](), dict[int, Any]()  # the records with which jobs started, by job id
        self._unfinished, self._finished, self._seconds = (Counter[Any]() for _ in range(3))  # by kind: (rule, method)

    def emit(self, record) -> None:
        """Show one of Snakemake's records, or update the progress from it."""
        try:
            event, message = getattr(record, "event", None), record.getMessage()
            self._unfinished.update(getattr(record, "planned_jobs", ()))
            # Ctrl-C also ends the running jobs, which then do not count as failed.
            self._is_interrupted |= message.startswith("Terminating processes on user request")
            is_noise = message.startswith(_NOISE) or (
                self._is_interrupted and getattr(record, "exception", "") == "RuleException"
            )
            if not self._verbatim and event in _OUR_EVENTS:
                self._update(event, record)
            elif (self._verbatim or not is_noise) and self._text_handler.filter(record):
                self._write("")
                self._text_handler.emit(record)
        except Exception:
            self.handleError(record)

    def _update(self, event: LogEvent, record) -> None:
        if event == LogEvent.RUN_INFO:
            self._n_jobs, self._began = record.stats["total"], record.created
        elif event == LogEvent.JOB_INFO:
            self._failed.pop(record.jobid, None)  # it starts again
            self._running[record.jobid] = record
        elif event == LogEvent.JOB_FINISHED and record.job_id in self._running:
            job = self._running.pop(record.job_id)
            kind = job.rule_name, dict(job.wildcards or {}).get("method", "")
            self._n_done += 1
            self._unfinished[kind] -= 1
            self._finished[kind] += 1
            self._seconds[kind] += record.created - job.created
        elif event == LogEvent.JOB_ERROR and record.jobid in self._running and not self._is_interrupted:
            job = self._failed[record.jobid] = self._running.pop(record.jobid)
            if not record.indent:  # an indented record repeats the error of a group's job
                facts = {"message": record.rule_msg, "environment": record.conda_env, **record.aux}
                lines = [f"FAILED: {job.rule_msg or job.rule_name}"]
                lines += [f"  {key}: {value}" for key, value in facts.items() if value]
                lines += show_logs(record.log) if self.common_settings.show_failed_logs else []
                self._write(self._text_handler.decorate(record, "\n".join(lines)) + "\n")
        if self._n_done < self._n_jobs:
            self._show_line(record.created)

    def _show_line(self, now: float) -> None:
        percent = 100 * self._n_done // self._n_jobs
        if self._is_terminal or percent >= self._next_percent:
            self._next_percent = percent - percent % _PERCENT_BETWEEN_LINES + _PERCENT_BETWEEN_LINES
            elapsed = now - self._began
            left = round(seconds_left(self._unfinished, self._finished, self._seconds, elapsed))
            times = f"{timedelta(seconds=round(elapsed))} elapsed" + (f", about {timedelta(seconds=left)} left" if left else "")
            jobs = [job.rule_msg or job.rule_name for job in self._running.values()]
            line = " · ".join([f"{percent} %", self._count(), times, *jobs[:1]])
            self._write(line[: shutil.get_terminal_size().columns - 1] if self._is_terminal else line + "\n")

    def _count(self) -> str:
        return f"{self._n_done:,} of {self._n_jobs:,} steps" + (f", {len(self._failed)} failed" if self._failed else "")

    def _write(self, text: str) -> None:
        print(("\r\x1b[2K" if self._is_terminal else "") + text, end="", file=self._stream, flush=True)  # clears the line

    def close(self) -> None:
        """Show the summary: how the run ended, what failed, and how to continue."""
        if self._n_jobs:
            is_done, elapsed = self._n_done == self._n_jobs, timedelta(seconds=round(time.time() - self._began))
            lines = [f"{'Done' if is_done else 'Not complete'}: {self._count()}, in {elapsed}"]
            for end, jobs in (("failed", self._failed), ("cut short", self._running)):
                lines += [f"  {end}: {job.rule_msg or job.rule_name}, log {', '.join(job.log)}" for job in jobs.values()]
            lines += [] if is_done else ["To continue, run the same command again: what is done is not repeated."]
            self._write("\n".join(lines) + "\n")
            self._n_jobs = 0
        super().close()


def seconds_left(unfinished: Counter, finished: Counter, seconds: Counter, elapsed: float) -> float:
    """Seconds until every job is done, at the pace of the ``elapsed`` seconds; 0 while most jobs' kinds are not measured."""
    if 2 * sum(unfinished[kind] for kind in finished) <= unfinished.total():
        return 0.0
    mean = seconds.total() / finished.total()  # for the other kinds
    left = sum(n * (seconds[kind] / finished[kind] if kind in finished else mean) for kind, n in unfinished.items())
    return elapsed * left / seconds.total()
