"""What a person sees of a run: a plan, one line that tells how far it is, failures with their logs, and how it ended.

Snakemake finds this package by its name; the default profile chooses it (``logger: cells``). It replaces the jobs' start
and end, nothing else: every other message is Snakemake's own, and so is all of a dry run and of a run with
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

from snakemake_logger_plugin_cells.progress import Job, Progress, line, plan, summary

_REPLACED = {
    LogEvent.RUN_INFO,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.JOB_ERROR,
    LogEvent.PROGRESS,
    LogEvent.SHELLCMD,
    LogEvent.GROUP_INFO,
}
_CHATTER = ("Using shell:", "Select jobs to execute", "Assuming unrestricted shared filesystem", "Elapsed time:")

_INTERRUPTED = "Terminating processes on user request"

_TICK = 1.0  # seconds between two looks at the clock
_APART = 30.0  # least seconds between two lines where there is no terminal
_SILENCE = 300.0  # most seconds between them
_TAIL = 100  # lines of a failed job's log


class LogHandler(LogHandlerBase):
    """Snakemake's records in, lines on its output stream out."""

    def __post_init__(self) -> None:
        settings = self.common_settings
        quiet = set(settings.quiet or ())
        self._stream = sys.stdout if settings.stdout else sys.stderr
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="backslashreplace")  # in a locale without the letters of a name
        self._snakemake = ColorizingTextHandler(settings.nocolor, self._stream)
        self._snakemake.setFormatter(DefaultFormatter(quiet, settings.show_failed_logs))
        self._wanted = DefaultFilter(quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
        self._plain = settings.dryrun or settings.printshellcmds or settings.verbose or settings.debug_dag
        self._plain = self._plain or Quietness.ALL in quiet
        self._told = Quietness.PROGRESS not in quiet
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = False
        self._expected: dict[str, dict[str, float]] = {}
        self._slots = 1
        self._progress = Progress({}, {}, 1, 0.0)
        self._last = (0.0, 0)
        self._errors: list[str] = []
        self._interrupted = False
        self._stop = threading.Event()

    def emit(self, record: LogRecord) -> None:
        """Take one record of Snakemake's."""
        try:
            self._expected = getattr(record, "seconds_per_job", self._expected)
            event = getattr(record, "event", None)
            self._interrupted |= record.getMessage().startswith(_INTERRUPTED)
            if self._plain:
                self._pass(record)
            elif event in _REPLACED:
                self._take(event, record)
            elif not record.getMessage().startswith(_CHATTER) and not self._is_of_a_job_cut_short(record):
                self._pass(record)
                if event == LogEvent.ERROR:
                    self._errors.append(record.getMessage())
        except Exception:
            self.handleError(record)

    def _pass(self, record: LogRecord) -> None:
        if self._wanted.filter(record):
            self._clear()
            self._snakemake.emit(record)

    def _is_of_a_job_cut_short(self, record: LogRecord) -> bool:
        return self._interrupted and getattr(record, "exception", None) == "RuleException"

    def _take(self, event: LogEvent, record: Any) -> None:
        if event == LogEvent.RESOURCES_INFO:
            self._slots = getattr(record, "cores", None) or getattr(record, "nodes", None) or self._slots
        elif event == LogEvent.RUN_INFO:
            self._begin(record)
        elif not self._progress.planned:
            return
        elif event == LogEvent.JOB_INFO:
            purpose, dataset = record.rule_msg or record.rule_name, (record.wildcards or {}).get("dataset", "")
            started = Job(record.rule_name, purpose, tuple(record.log or ()), record.created, dataset)
            self._progress.start(record.jobid, started)
            if not record.log:  # it may write to this very terminal
                self._clear()
        elif event == LogEvent.JOB_FINISHED:
            self._progress.finish(record.job_id, record.created)
            self._tell(record.created)
        elif event == LogEvent.JOB_ERROR and not self._interrupted:  # Ctrl-C reaches the jobs, too: they did not fail
            job = self._progress.fail(record.jobid)
            if not record.indent:  # of a group's jobs Snakemake has just shown all
                self._say(self._failure(job, record), record)

    def _begin(self, record: Any) -> None:
        planned = {kind: count for kind, count in record.stats.items() if kind != "total"}
        slots = min(self._slots, sum(planned.values()))  # a cluster may take any number
        self._progress = Progress(planned, self._expected, slots, record.created)
        self._last = (record.created, 0)
        if self._told:
            self._say(plan(self._progress))
            threading.Thread(target=self._tick, daemon=True).start()

    def _failure(self, job: Job | None, record: Any) -> str:
        purpose = f"{job.purpose} ({record.rule_name})" if job else record.rule_name
        lines = [f"FAILED: {purpose}"]
        said = any(record.shellcmd in error for error in self._errors) if record.shellcmd else True
        command = None if said else record.shellcmd  # run on this machine it stands in the exception just above
        facts = {"said": record.rule_msg, "environment": record.conda_env, **record.aux, "command": command}
        lines += [f"  {key}: {value}" for key, value in facts.items() if value]
        for log in record.log:
            lines += _tail(log) if self.common_settings.show_failed_logs else [f"  log: {log}"]
        return "\n".join(lines)

    def _tick(self) -> None:
        while not self._stop.wait(_TICK):
            self.acquire()
            try:
                self._tell(time.time())
            finally:
                self.release()

    def _tell(self, now: float) -> None:
        """Show where the run stands: on a terminal at every tick, elsewhere at every tenth and when it was silent for long."""
        done, steps = self._progress.steps
        if self._stop.is_set() or not self._told or done == steps:
            return
        if self._live:
            if all(job.logs for job in self._progress.running.values()):
                width = shutil.get_terminal_size().columns - 1
                text = line(self._progress, now)
                self._write("\r\x1b[2K" + (text if len(text) <= width else text[: width - 1] + "…"))
                self._drawn = True
            return
        then, tenths = self._last
        further = 10 * done // max(steps, 1) > tenths
        if now - then >= (_APART if further else _SILENCE):
            self._last = (now, 10 * done // max(steps, 1))
            self._say(line(self._progress, now))

    def _clear(self) -> None:
        if self._drawn:
            self._write("\r\x1b[2K")
            self._drawn = False

    def _say(self, text: str, record: LogRecord | None = None) -> None:
        self._clear()
        self._write((self._snakemake.decorate(record, text) if record else text) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def close(self) -> None:
        """Say how the run ended."""
        self.acquire()
        try:
            if not self._stop.is_set():
                self._stop.set()
                if self._progress.planned:
                    self._say(summary(self._progress, time.time()))
        finally:
            self.release()
        super().close()

    @property
    def writes_to_stream(self) -> bool:
        """Whether Snakemake leaves the terminal to this handler."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Whether it writes to a file."""
        return False

    @property
    def has_filter(self) -> bool:
        """Whether it chooses what to show itself; it also needs the records that it does not show."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Whether it words its lines itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """Whether Snakemake has to compute the graph of rules for it."""
        return False


def _tail(log: str) -> list[str]:
    """The end of a log, which for the steps here is all of it, under its name."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return [f"  log: {log} (was not written)"]
    left_out = f" (its last {_TAIL} of {len(lines):,} lines)" if len(lines) > _TAIL else "" if lines else " (is empty)"
    return [f"  log: {log}{left_out}", *(f"  | {line}" for line in lines[-_TAIL:])]
