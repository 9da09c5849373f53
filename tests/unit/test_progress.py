"""The logger plugin counts steps, estimates the remaining time, and passes on errors and other messages that matter."""

import heapq
import io
import logging
import random
from collections import Counter

import pytest
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import TestLogHandlerBase

import snakemake_logger_plugin_cells as plugin


class TestInterface(TestLogHandlerBase):
    """Snakemake's own tests of a logger plugin."""

    __test__ = True

    def get_log_handler_cls(self):
        return plugin.LogHandler

    def get_log_handler_settings(self):
        return None


METHODS = {"score_method": "G-B", "fit_method": "FRAC"}  # the method of each rule's jobs


def record(event=None, message="", at=0.0, level=logging.INFO, **fields):
    """A log record as Snakemake sends it, ``at`` seconds after the start."""
    log_record = logging.LogRecord("snakemake.logging", level, "workflow.py", 1, message, (), None)
    vars(log_record).update(fields, event=event, created=at)
    return log_record


def job_info(job, rule, at, message=None, logs=("some.log",)):
    fields = {"jobid": job, "rule_name": rule, "rule_msg": message, "log": list(logs)}
    fields |= {"wildcards": {"method": METHODS[rule]} if rule in METHODS else None}
    fields |= {"local": False, "is_checkpoint": False, "input": [], "output": [], "benchmark": None, "reason": "Missing"}
    fields |= {"priority": 0, "threads": 1, "resources": {}}
    return record(LogEvent.JOB_INFO, at=at, **fields)


def job_error(job, rule, log, message=None, in_group=False):
    fields = {"jobid": job, "rule_name": rule, "rule_msg": message, "log": [str(log)], "aux": {}, "conda_env": None}
    return record(LogEvent.JOB_ERROR, level=logging.ERROR, **fields, indent=in_group, shellcmd="python -P -m clusterlets x")


def job_finished(job, at):
    return record(LogEvent.JOB_FINISHED, at=at, job_id=job)


FIRST_RECORDS = [
    record(LogEvent.RESOURCES_INFO, "Provided cores: 2", cores=2),
    record(LogEvent.RUN_INFO, "Job stats", stats={"score_method": 4, "fit_method": 2, "write_report": 1, "total": 7}),
    record(None, planned_jobs=[*METHODS.items()] * 2 + [("score_method", "G-B")] * 2 + [("write_report", "")]),
]


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def make_handler(monkeypatch):
    """A function that makes a handler and its screen. All handlers are closed after the test."""
    handlers = []

    def make(terminal=False, **settings):
        screen = Screen(terminal)
        monkeypatch.setattr("sys.stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        handlers.append(plugin.LogHandler(OutputSettings(show_failed_logs=True, nocolor=True, **settings), None))
        return handlers[-1], screen

    yield make
    for handler in handlers:
        handler.close()


def feed(handler, records):
    for log_record in records:
        handler.handle(log_record)


CLEAR_LINE = "\r\x1b[2K"


def test_the_line_shows_steps_time_and_the_longest_running_job(make_handler):
    handler, screen = make_handler(terminal=True)
    feed(handler, FIRST_RECORDS)
    assert screen.getvalue().split(CLEAR_LINE)[1] == "0 % · 0 of 7 steps · 0:00:00 elapsed"
    feed(handler, [job_info(1, "score_method", 0.0), job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20")])
    feed(handler, [job_finished(1, 40.0)])
    # Three of the other six steps are like the first one, so the time left is not known yet.
    assert screen.getvalue().split(CLEAR_LINE)[-1] == "14 % · 1 of 7 steps · 0:00:40 elapsed · FRAC on adult, k = 20"
    feed(handler, [job_info(3, "score_method", 40.0), job_finished(2, 60.0)])
    # In 60 s, jobs of 40 and 60 s: three more of 40 s, one of 60 s and one of 50 s take .6 times as long.
    line = screen.getvalue().split(CLEAR_LINE)[-1]
    assert line == "28 % · 2 of 7 steps · 0:01:00 elapsed, about 0:02:18 left · score_method"


def test_without_a_terminal_a_line_is_written_at_each_five_percent(make_handler):
    handler, screen = make_handler()
    feed(handler, [FIRST_RECORDS[0], record(LogEvent.RUN_INFO, stats={"score_method": 1000, "total": 1000})])
    for job in range(1000):
        feed(handler, [job_info(job, "score_method", job), job_finished(job, job + 1.0)])
    steps = [line.split(" · ")[1] for line in screen.getvalue().splitlines()]
    assert steps == [f"{n_done} of 1,000 steps" for n_done in range(0, 1000, 50)]
    handler.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1,000 of 1,000 steps, in ")


def test_a_failure_shows_its_log(make_handler, tmp_path):
    log = tmp_path / "frac.log"
    log.write_text("".join(f"line {number}\n" for number in range(3)))
    handler, screen = make_handler()
    feed(handler, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20", [str(log)])])
    feed(handler, [job_error(2, "fit_method", log, message="Job was OUT_OF_MEMORY")])
    text = screen.getvalue()
    assert "FAILED: FRAC on adult, k = 20\n  message: Job was OUT_OF_MEMORY\n" in text
    assert f"Logfile {log}:" in text and "\nline 0\nline 1\nline 2\n" in text
    handler.close()
    end = screen.getvalue()[len(text) :]
    assert end.startswith("Not complete: 0 of 7 steps, 1 failed, in ")
    assert f"failed: FRAC on adult, k = 20, log {log}" in end
    assert "the same command again" in end


def test_a_failed_group_is_shown_once_and_all_its_jobs_are_counted(make_handler, tmp_path):
    handler, screen = make_handler()
    feed(handler, [*FIRST_RECORDS, job_info(1, "score_method", 0.0), job_info(2, "score_method", 0.0)])
    feed(handler, [record(LogEvent.GROUP_ERROR, "Error", level=logging.ERROR, aux_logs=["slurm.log"], job_error_info=[])])
    feed(handler, [job_error(job, "score_method", tmp_path / "log", in_group=True) for job in (1, 2)])
    assert "slurm.log" in screen.getvalue()
    assert "FAILED" not in screen.getvalue()
    handler.close()
    assert "Not complete: 0 of 7 steps, 2 failed" in screen.getvalue()


def test_jobs_ended_by_ctrl_c_do_not_count_as_failed(make_handler, tmp_path):
    handler, screen = make_handler()
    feed(handler, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult")])
    feed(handler, [record(None, "Terminating processes on user request, this might take some time.")])
    feed(handler, [record(LogEvent.ERROR, "CalledProcessError ...", exception="RuleException", level=logging.ERROR)])
    feed(handler, [job_error(2, "fit_method", tmp_path / "frac.log")])
    handler.close()
    text = screen.getvalue()
    assert "FAILED" not in text
    assert "CalledProcessError" not in text
    assert "Not complete: 0 of 7 steps, in " in text
    assert "cut short: FRAC on adult, log some.log" in text


@pytest.mark.parametrize("setting", ["dryrun", "printshellcmds", "verbose", "debug_dag"])
def test_with_a_detailed_output_setting_snakemakes_own_text_is_shown(make_handler, setting):
    handler, screen = make_handler(**{setting: True})
    feed(handler, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20")])
    feed(handler, [record(None, "This was a dry-run")])
    handler.close()
    for text in ("Job stats", "Job 2: FRAC on adult, k = 20\nReason: Missing", "This was a dry-run"):
        assert text in screen.getvalue()
    assert "steps" not in screen.getvalue()


def test_errors_warnings_and_notices_are_passed_on_but_not_the_name_of_the_shell(make_handler):
    handler, screen = make_handler()
    feed(handler, [record(None, "Nothing to be done"), record(None, "look out", level=logging.WARNING)])
    feed(handler, [record(LogEvent.ERROR, "LockException: ...", level=logging.ERROR), record(None, "Using shell: bash")])
    handler.close()
    assert screen.getvalue() == "Nothing to be done\nlook out\nLockException: ...\n"


def output_with_quiet(make_handler, quiet):
    handler, screen = make_handler(quiet={quiet})
    feed(handler, [*FIRST_RECORDS, job_info(1, "score_method", 0.0, "G-B on iris"), job_finished(1, 1.0)])
    handler.close()
    return screen.getvalue()


def test_quiet_progress_shows_the_jobs_without_the_progress(make_handler):
    output = output_with_quiet(make_handler, Quietness.PROGRESS)
    assert "Job 1: G-B on iris\n" in output
    assert "steps" not in output


def simulate(jobs, slots):
    """Run jobs (kind, seconds) in order on slots; yields the expected and true time left at the end of each job."""
    unfinished, finished, seconds = Counter(kind for kind, _ in jobs), Counter(), Counter()
    slot_ends, ends = [0.0] * slots, []
    for kind, duration in jobs:
        end = heapq.heappop(slot_ends) + duration
        heapq.heappush(slot_ends, end)
        ends.append((end, kind, duration))
    for end, kind, duration in sorted(ends):
        unfinished[kind] -= 1
        finished[kind] += 1
        seconds[kind] += duration
        yield plugin.seconds_left(unfinished, finished, seconds, end), max(slot_ends) - end


@pytest.mark.parametrize("slots", [1, 2, 8])
def test_the_time_left_is_known_after_a_fifth_of_a_run_of_fast_and_slow_kinds(slots):
    rng = random.Random(slots)
    means = {("score_method", "FRAC"): 0.3, ("fit_method", "vfc"): 20.0, ("fit_method", "random"): 1.0}
    jobs = [(kind, rng.uniform(0.5, 1.5) * mean) for kind, mean in means.items() for _ in range(150)]
    rng.shuffle(jobs)
    outcomes = list(simulate(jobs, slots))
    total = outcomes[0][1]
    for expected, truth in outcomes[len(outcomes) // 5 :]:
        # At the end, some slots have nothing to do.
        assert abs(expected - truth) < 0.15 * truth + 0.02 * total + 30 * (slots > 1)


def test_no_time_is_shown_while_the_kind_of_most_jobs_has_not_been_measured():
    fast, slow = ("score_method", "FRAC"), ("fit_method", "vfc")
    outcomes = [expected for expected, _ in simulate([*[(fast, 1.0)] * 4, *[(slow, 7.0)] * 3], slots=1)]
    assert outcomes[0] == 0.0 == outcomes[-1]
    assert outcomes[3] == 0.0 < outcomes[4] == pytest.approx(14.0)
    # A kind that was not measured is expected to take the mean of the others.
    outcomes = [expected for expected, _ in simulate([*[(fast, 2.0)] * 4, (slow, 7.0)], slots=1)]
    assert outcomes[:2] == [8.0, 6.0]


def test_a_failed_job_that_succeeds_when_started_again_does_not_count_as_failed(make_handler, tmp_path):
    handler, screen = make_handler()
    run_info = record(LogEvent.RUN_INFO, stats={"fit_method": 1, "total": 1})
    feed(handler, [run_info, job_info(1, "fit_method", 0.0), job_error(1, "fit_method", tmp_path / "none.log")])
    assert "none.log not found" in screen.getvalue()
    feed(handler, [job_info(1, "fit_method", 5.0), job_finished(1, 6.0)])
    handler.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1 of 1 steps, in ")
