"""The logger plugin counts steps, estimates the remaining time, and passes on errors and other messages that matter."""

import heapq
import io
import logging
import random
from collections import Counter
from statistics import mean

import pytest
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import TestLogHandlerBase

import snakemake_logger_plugin_cells as plugin
from snakemake_logger_plugin_cells import Progress


class TestInterface(TestLogHandlerBase):
    """Snakemake's own tests of a logger plugin."""

    __test__ = True

    def get_log_handler_cls(self):
        return plugin.LogHandler

    def get_log_handler_settings(self):
        return None


def record(event=None, message="", at=0.0, level=logging.INFO, **fields):
    """A record as Snakemake sends it."""
    log_record = logging.LogRecord("snakemake.logging", level, "workflow.py", 1, message, (), None)
    vars(log_record).update(fields, event=event, created=at)
    return log_record


def job_info(number, rule, at, message=None, log=("some.log",), dataset=""):
    fields = {"jobid": number, "rule_name": rule, "rule_msg": message, "log": list(log), "wildcards": {"dataset": dataset}}
    other_fields = {"local": False, "is_checkpoint": False, "input": [], "output": [], "benchmark": None, "reason": "Missing"}
    return record(LogEvent.JOB_INFO, at=at, **fields, **other_fields, priority=0, threads=1, resources={})


def job_error(number, rule, log, message=None, group=False):
    fields = {"jobid": number, "rule_name": rule, "rule_msg": message, "log": [str(log)], "aux": {}, "conda_env": None}
    return record(LogEvent.JOB_ERROR, level=logging.ERROR, **fields, indent=group, shellcmd="python -P -m clusterlets x")


def job_finished(number, at):
    return record(LogEvent.JOB_FINISHED, at=at, job_id=number)


FIRST_RECORDS = [
    record(None, seconds_per_job={"score_method": {"iris": 1.0}, "fit_method": {"iris": 10.0}, "write_report": {"": 4.0}}),
    record(LogEvent.RESOURCES_INFO, "Provided cores: 2", cores=2),
    record(LogEvent.RUN_INFO, "Job stats", stats={"score_method": 4, "fit_method": 2, "write_report": 1, "total": 7}),
]


class Screen(io.StringIO):
    """The stream that a handler writes to. It may pose as a terminal."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def handler(monkeypatch):
    """A function that makes a handler and its screen. All handlers are closed after the test, which ends their threads."""
    handlers = []

    def make(terminal=False, **settings):
        screen = Screen(terminal)
        monkeypatch.setattr("sys.stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(plugin, "_TICK", 3600.0)
        handlers.append(plugin.LogHandler(OutputSettings(show_failed_logs=True, nocolor=True, **settings), None))
        return handlers[-1], screen

    yield make
    for log_handler in handlers:
        log_handler.close()


def feed(handler, records):
    for log_record in records:
        handler.handle(log_record)


def test_the_line_shows_steps_time_and_the_longest_running_job(handler):
    logger, screen = handler(terminal=True)
    feed(logger, FIRST_RECORDS)
    assert screen.getvalue().strip("\r\x1b[2K\n") == "0 % · 0/7 steps · 0:00:00 gone, about 0:00:10 left"
    feed(logger, [job_info(1, "score_method", 0.0), job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20")])
    feed(logger, [job_finished(1, 40.0)])
    last = screen.getvalue().split("\r\x1b[2K")[-1]
    assert last.startswith("14 % · 1/7 steps · 0:00:40 gone, about ") and last.endswith(" left · FRAC on adult, k = 20")


def test_without_a_terminal_a_line_is_written_every_five_minutes(handler):
    logger, screen = handler()
    feed(logger, [*FIRST_RECORDS[:2], record(LogEvent.RUN_INFO, stats={"score_method": 1000, "total": 1000})])
    for number in range(1000):
        feed(logger, [job_info(number, "score_method", number), job_finished(number, number + 1.0)])
    lines = screen.getvalue().splitlines()
    assert [line.split(" · ")[1] for line in lines] == [
        "0/1,000 steps",
        "300/1,000 steps",
        "600/1,000 steps",
        "900/1,000 steps",
    ]
    logger.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1,000 of 1,000 steps, in ")


def test_a_terminal_has_one_line_that_fits_and_is_cleared_before_a_job_that_prints(handler, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    logger, screen = handler(terminal=True)
    feed(logger, FIRST_RECORDS)
    screen.truncate(0)
    feed(logger, [job_info(1, "score_method", 0.0), job_info(2, "fit_method", 0.0, "FRAC " * 30), job_finished(1, 1.0)])
    last = screen.getvalue().split("\r\x1b[2K")[-1]
    assert len(last) == 49 and last.endswith("…") and "\n" not in last
    feed(logger, [job_info(3, "data", 2.0, log=())])
    assert screen.getvalue().endswith("\r\x1b[2K")
    feed(logger, [job_finished(3, 4.0)])
    assert screen.getvalue().split("\r\x1b[2K")[-1].startswith("28 % · 2/7 steps")


def test_a_failure_shows_the_end_of_its_log(handler, tmp_path):
    log = tmp_path / "frac.log"
    log.write_text("".join(f"line {number}\n" for number in range(300)))
    logger, screen = handler()
    feed(logger, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20", [str(log)])])
    feed(logger, [job_error(2, "fit_method", log, message="Job was OUT_OF_MEMORY")])
    text = screen.getvalue()
    assert "FAILED: FRAC on adult, k = 20 (fit_method)" in text and "message: Job was OUT_OF_MEMORY" in text
    assert f"log: {log} (its last 100 of 300 lines)" in text and "| line 299" in text and "| line 200" in text
    assert "| line 199" not in text
    logger.close()
    end = screen.getvalue()[len(text) :]
    assert end.startswith("Not complete: 0 of 7 steps, 1 failed, in ")
    assert f"failed: FRAC on adult, k = 20 (fit_method), log {log}" in end
    assert "the same command again" in end


def test_a_failed_group_is_shown_once_and_all_its_jobs_are_counted(handler, tmp_path):
    logger, screen = handler()
    feed(logger, [*FIRST_RECORDS, *(job_info(number, "score_method", 0.0) for number in (1, 2))])
    group_error = record(LogEvent.GROUP_ERROR, "Error", level=logging.ERROR, aux_logs=["slurm.log"], job_error_info=[])
    feed(logger, [group_error, *(job_error(number, "score_method", tmp_path / "log", group=True) for number in (1, 2))])
    assert "slurm.log" in screen.getvalue() and "FAILED" not in screen.getvalue()
    logger.close()
    assert "Not complete: 0 of 7 steps, 2 failed" in screen.getvalue()


def test_jobs_ended_by_ctrl_c_do_not_count_as_failed(handler, tmp_path):
    logger, screen = handler()
    feed(logger, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult")])
    feed(logger, [record(None, "Terminating processes on user request, this might take some time.")])
    feed(logger, [record(LogEvent.ERROR, "CalledProcessError ...", exception="RuleException", level=logging.ERROR)])
    feed(logger, [job_error(2, "fit_method", tmp_path / "frac.log")])
    logger.close()
    text = screen.getvalue()
    assert "FAILED" not in text and "CalledProcessError" not in text
    assert "Not complete: 0 of 7 steps, in " in text and "cut short: FRAC on adult (fit_method)" in text


@pytest.mark.parametrize("setting", ["dryrun", "printshellcmds", "verbose", "debug_dag"])
def test_with_a_detailed_output_setting_snakemakes_own_text_is_shown(handler, setting):
    logger, screen = handler(**{setting: True})
    feed(logger, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20")])
    feed(logger, [record(None, "This was a dry-run")])
    logger.close()
    text = screen.getvalue()
    assert "Job stats" in text and "Job 2: FRAC on adult, k = 20\nReason: Missing" in text and "This was a dry-run" in text
    assert "steps" not in text


def test_errors_warnings_and_notices_are_passed_on_but_not_the_name_of_the_shell(handler):
    logger, screen = handler()
    feed(logger, [record(None, "Nothing to be done"), record(None, "look out", level=logging.WARNING)])
    feed(logger, [record(LogEvent.ERROR, "LockException: ...", level=logging.ERROR), record(None, "Using shell: bash")])
    logger.close()
    assert screen.getvalue() == "Nothing to be done\nlook out\nLockException: ...\n"


@pytest.mark.parametrize(("quiet", "shown"), [(Quietness.ALL, []), (Quietness.PROGRESS, ["Job 1: G-B on iris"])])
def test_quiet_suppresses_the_progress_and_quiet_all_the_jobs_too(handler, quiet, shown):
    logger, screen = handler(quiet={quiet})
    feed(logger, [*FIRST_RECORDS, job_info(1, "score_method", 0.0, "G-B on iris"), job_finished(1, 1.0)])
    logger.close()
    assert bool(screen.getvalue()) == bool(shown)
    assert [text for text in screen.getvalue().splitlines() if "steps" in text or "G-B" in text] == shown


def progress_of(planned, expected, slots=1):
    progress = Progress()
    progress.planned, progress.expected, progress.slots = Counter(planned), expected, slots
    return progress


def simulate(jobs, expected, slots):
    """Run jobs (rule, dataset, seconds) in order on slots; yields the estimated and true time left at each start and end."""
    progress = progress_of((rule for rule, *_ in jobs), expected, slots)
    slot_ends, events = [0.0] * slots, []
    for number, (rule, dataset, seconds) in enumerate(jobs):
        start = heapq.heappop(slot_ends)
        heapq.heappush(slot_ends, start + seconds)
        events += [(start, 1, number, job_info(number, rule, start, dataset=dataset)), (start + seconds, 0, number, None)]
    for moment, is_start, number, job in sorted(events, key=lambda event: event[:3]):
        progress.start(job) if is_start else progress.running.pop(number)
        yield progress.seconds_left(moment), max(slot_ends) - moment


def test_running_large_datasets_first_does_not_inflate_the_estimate():
    expected = {"adult": 20.0, "bank": 16.0, "pima": 0.2, "iris": 0.1}
    jobs = [("a", dataset, seconds * 1.1) for dataset, seconds in expected.items() for _ in range(10)]
    for estimate, truth in list(simulate(jobs, {"a": expected}, slots=2))[2:]:
        assert abs(estimate - truth) < 0.15 * truth + 2.5, (estimate, truth)
    for dataset, seconds in (("adult", 20.0), ("pima", 0.2)):  # the pace of a single dataset is soon known
        for estimate, truth in list(simulate([("a", dataset, seconds)] * 12, {"a": expected}, slots=1))[15:]:
            assert abs(estimate - truth) < 0.2 * truth + 1, (estimate, truth)


@pytest.mark.parametrize(
    "pace, elapsed, tolerance", [(1, 0.0, 0.05), (1, 0.5, 0.15), (3, 0.25, 0.35), (3, 0.5, 0.25), (1 / 3, 0.5, 0.25)]
)
def test_the_estimate_finds_the_pace_of_the_machine(pace, elapsed, tolerance):
    rng = random.Random(1)
    jobs = [("score_method", "", rng.uniform(0.2, 0.4)) for _ in range(400)]
    jobs += [("fit_method", "", rng.uniform(2, 30)) for _ in range(50)]
    expected = {
        name: {"": mean(seconds for rule, _, seconds in jobs if rule == name) / pace} for name in ("score_method", "fit_method")
    }
    rng.shuffle(jobs)
    moments = list(simulate(jobs, expected, slots=2))
    estimate, truth = next((estimate, truth) for estimate, truth in moments if truth <= (1 - elapsed) * moments[0][1])
    assert abs(estimate - truth) < tolerance * truth


def test_a_rule_that_has_not_run_yet_is_estimated_at_the_pace_of_the_others():
    progress = progress_of({"a": 100, "b": 1}, {"a": {"": 1.0}, "b": {"": 1.0}})
    for number in range(100):
        progress.start(job_info(number, "a", 3.0 * number))
        progress.running.pop(number)
    assert 2.5 < progress.seconds_left(300.0) < 3.0
    assert "at most" not in progress.line(300.0)
    progress.start(job_info(100, "b", 300.0))
    progress.failed[100] = progress.running.pop(100)
    assert "1 failed" in progress.line(301.0) and "at most" in progress.line(301.0)


def test_a_failed_job_that_succeeds_when_started_again_does_not_count_as_failed(handler, tmp_path):
    logger, screen = handler()
    run_info = record(LogEvent.RUN_INFO, stats={"fit_method": 1, "total": 1})
    feed(logger, [run_info, job_info(1, "fit_method", 0.0), job_error(1, "fit_method", tmp_path / "none.log")])
    assert "none.log (was not written)" in screen.getvalue()
    feed(logger, [job_info(1, "fit_method", 5.0), job_finished(1, 6.0)])
    logger.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1 of 1 steps, in ")


def test_a_run_of_hours_shows_its_hours():
    progress = progress_of({"a": 100}, {"a": {"": 300.0}}, slots=2)
    assert progress.line(0.0) == "0 % · 0/100 steps · 0:00:00 gone, about 4:10:00 left"
