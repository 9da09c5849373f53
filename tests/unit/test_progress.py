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
    """A log record as Snakemake sends it, ``at`` seconds after the start."""
    log_record = logging.LogRecord("snakemake.logging", level, "workflow.py", 1, message, (), None)
    vars(log_record).update(fields, event=event, created=at)
    return log_record


def job_info(job, rule, at, message=None, logs=("some.log",), dataset=""):
    fields = {"jobid": job, "rule_name": rule, "rule_msg": message, "log": list(logs), "wildcards": {"dataset": dataset}}
    fields |= {"local": False, "is_checkpoint": False, "input": [], "output": [], "benchmark": None, "reason": "Missing"}
    fields |= {"priority": 0, "threads": 1, "resources": {}}
    return record(LogEvent.JOB_INFO, at=at, **fields)


def job_error(job, rule, log, message=None, in_group=False):
    fields = {"jobid": job, "rule_name": rule, "rule_msg": message, "log": [str(log)], "aux": {}, "conda_env": None}
    return record(LogEvent.JOB_ERROR, level=logging.ERROR, **fields, indent=in_group, shellcmd="python -P -m clusterlets x")


def job_finished(job, at):
    return record(LogEvent.JOB_FINISHED, at=at, job_id=job)


FIRST_RECORDS = [
    record(None, seconds_per_job={"score_method": {"iris": 1.0}, "fit_method": {"iris": 10.0}, "write_report": {"": 4.0}}),
    record(LogEvent.RESOURCES_INFO, "Provided cores: 2", cores=2),
    record(LogEvent.RUN_INFO, "Job stats", stats={"score_method": 4, "fit_method": 2, "write_report": 1, "total": 7}),
]


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def make_handler(monkeypatch):
    """A function that makes a handler and its screen. All handlers are closed after the test, which ends their threads."""
    handlers = []

    def make(terminal=False, **settings):
        screen = Screen(terminal)
        monkeypatch.setattr("sys.stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(plugin, "_TICK", 3600.0)  # no redraw by the timer during a test
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
    assert screen.getvalue().replace(CLEAR_LINE, "").strip("\n") == "0 % · 0/7 steps · 0:00:00 elapsed, about 0:00:10 left"
    feed(handler, [job_info(1, "score_method", 0.0), job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20")])
    feed(handler, [job_finished(1, 40.0)])
    line = screen.getvalue().split(CLEAR_LINE)[-1]
    assert line.startswith("14 % · 1/7 steps · 0:00:40 elapsed, about ")
    assert line.endswith(" left · FRAC on adult, k = 20")


def test_without_a_terminal_a_line_is_written_every_five_minutes(make_handler):
    handler, screen = make_handler()
    feed(handler, [*FIRST_RECORDS[:2], record(LogEvent.RUN_INFO, stats={"score_method": 1000, "total": 1000})])
    for job in range(1000):
        feed(handler, [job_info(job, "score_method", job), job_finished(job, job + 1.0)])
    steps = [line.split(" · ")[1] for line in screen.getvalue().splitlines()]
    assert steps == ["0/1,000 steps", "300/1,000 steps", "600/1,000 steps", "900/1,000 steps"]
    handler.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1,000 of 1,000 steps, in ")


def test_the_line_is_cut_to_the_width_of_the_terminal(make_handler, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    handler, screen = make_handler(terminal=True)
    feed(handler, FIRST_RECORDS)
    feed(handler, [job_info(1, "score_method", 0.0), job_info(2, "fit_method", 0.0, "FRAC " * 30), job_finished(1, 1.0)])
    line = screen.getvalue().split(CLEAR_LINE)[-1]
    assert len(line) == 49  # the last column stays free
    assert line.endswith("…")
    assert "\n" not in line


def test_the_line_is_cleared_while_a_job_prints(make_handler):
    """A job without a log file prints to the terminal."""
    handler, screen = make_handler(terminal=True)
    feed(handler, [*FIRST_RECORDS, job_info(3, "data", 2.0, logs=())])
    assert screen.getvalue().endswith(CLEAR_LINE)
    feed(handler, [job_finished(3, 4.0)])
    assert screen.getvalue().split(CLEAR_LINE)[-1].startswith("14 % · 1/7 steps")


def test_a_failure_shows_the_end_of_its_log(make_handler, tmp_path):
    log = tmp_path / "frac.log"
    log.write_text("".join(f"line {number}\n" for number in range(300)))
    handler, screen = make_handler()
    feed(handler, [*FIRST_RECORDS, job_info(2, "fit_method", 0.0, "FRAC on adult, k = 20", [str(log)])])
    feed(handler, [job_error(2, "fit_method", log, message="Job was OUT_OF_MEMORY")])
    text = screen.getvalue()
    assert "FAILED: FRAC on adult, k = 20 (fit_method)" in text
    assert "message: Job was OUT_OF_MEMORY" in text
    assert f"log: {log} (its last 100 of 300 lines)" in text
    assert "| line 199" not in text
    assert "| line 200" in text
    assert "| line 299" in text
    handler.close()
    end = screen.getvalue()[len(text) :]
    assert end.startswith("Not complete: 0 of 7 steps, 1 failed, in ")
    assert f"failed: FRAC on adult, k = 20 (fit_method), log {log}" in end
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
    assert "cut short: FRAC on adult (fit_method)" in text


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


def test_quiet_all_shows_nothing(make_handler):
    assert output_with_quiet(make_handler, Quietness.ALL) == ""


def progress_of(planned, expected, slots=1):
    """Progress before the first job, with the planned number of jobs by rule, and the expected seconds by rule and dataset."""
    progress = Progress()
    progress.planned, progress.expected, progress.slots = Counter(planned), expected, slots
    return progress


def simulate(jobs, expected, slots):
    """Run jobs (rule, dataset, seconds) in order on slots; yields the estimated and true time left at each start and end."""
    progress = progress_of((rule for rule, *_ in jobs), expected, slots)
    slot_ends, events = [0.0] * slots, []
    for job, (rule, dataset, seconds) in enumerate(jobs):
        start = heapq.heappop(slot_ends)
        end = start + seconds
        heapq.heappush(slot_ends, end)
        events += [(start, "start", job, job_info(job, rule, start, dataset=dataset)), (end, "end", job, None)]
    # At equal times, ends come before starts, as "end" sorts before "start".
    for moment, kind, job, info in sorted(events, key=lambda event: event[:3]):
        if kind == "start":
            progress.start(info)
        else:
            del progress.running[job]
        yield progress.seconds_left(moment), max(slot_ends) - moment


EXPECTED_SECONDS = {"adult": 20.0, "bank": 16.0, "pima": 0.2, "iris": 0.1}


def test_running_large_datasets_first_does_not_inflate_the_estimate():
    jobs = [("a", dataset, seconds * 1.1) for dataset, seconds in EXPECTED_SECONDS.items() for _ in range(10)]
    for estimate, truth in list(simulate(jobs, {"a": EXPECTED_SECONDS}, slots=2))[2:]:  # once both slots are busy
        assert abs(estimate - truth) < 0.15 * truth + 2.5, (estimate, truth)


@pytest.mark.parametrize("dataset", ["adult", "pima"])
def test_the_estimate_converges_quickly_if_all_jobs_use_one_dataset(dataset):
    jobs = [("a", dataset, EXPECTED_SECONDS[dataset])] * 12
    # Skip the first 15 of 24 events, while the estimate adapts.
    for estimate, truth in list(simulate(jobs, {"a": EXPECTED_SECONDS}, slots=1))[15:]:
        assert abs(estimate - truth) < 0.2 * truth + 1, (estimate, truth)


@pytest.mark.parametrize(
    "slowdown, elapsed, tolerance", [(1, 0.0, 0.05), (1, 0.5, 0.15), (3, 0.25, 0.35), (3, 0.5, 0.25), (1 / 3, 0.5, 0.25)]
)
def test_the_estimate_finds_the_pace_of_the_machine(slowdown, elapsed, tolerance):
    """Jobs take ``slowdown`` times the expected seconds. The estimate is checked after the fraction ``elapsed`` of the run."""
    rng = random.Random(1)
    seconds_by_rule = {
        "score_method": [rng.uniform(0.2, 0.4) for _ in range(400)],
        "fit_method": [rng.uniform(2, 30) for _ in range(50)],
    }
    expected = {rule: {"": mean(seconds) / slowdown} for rule, seconds in seconds_by_rule.items()}
    jobs = [(rule, "", seconds) for rule, all_seconds in seconds_by_rule.items() for seconds in all_seconds]
    rng.shuffle(jobs)
    estimates = list(simulate(jobs, expected, slots=2))
    total = estimates[0][1]
    estimate, truth = next((estimate, truth) for estimate, truth in estimates if truth <= (1 - elapsed) * total)
    assert abs(estimate - truth) < tolerance * truth


def test_a_rule_that_has_not_run_yet_is_estimated_at_the_pace_of_the_others():
    progress = progress_of({"a": 100, "b": 1}, {"a": {"": 1.0}, "b": {"": 1.0}})
    for job in range(100):
        progress.start(job_info(job, "a", 3.0 * job))
        del progress.running[job]
    assert 2.5 < progress.seconds_left(300.0) < 3.0
    # The time is an upper bound only after a failure, because jobs that need a failed job will not run.
    assert "at most" not in progress.status_line(300.0)
    progress.start(job_info(100, "b", 300.0))
    progress.failed[100] = progress.running.pop(100)
    assert "1 failed" in progress.status_line(301.0)
    assert "at most" in progress.status_line(301.0)


def test_a_failed_job_that_succeeds_when_started_again_does_not_count_as_failed(make_handler, tmp_path):
    handler, screen = make_handler()
    run_info = record(LogEvent.RUN_INFO, stats={"fit_method": 1, "total": 1})
    feed(handler, [run_info, job_info(1, "fit_method", 0.0), job_error(1, "fit_method", tmp_path / "none.log")])
    assert "none.log (was not written)" in screen.getvalue()
    feed(handler, [job_info(1, "fit_method", 5.0), job_finished(1, 6.0)])
    handler.close()
    assert screen.getvalue().splitlines()[-1].startswith("Done: 1 of 1 steps, in ")


def test_remaining_hours_are_shown():
    progress = progress_of({"a": 100}, {"a": {"": 300.0}}, slots=2)
    assert progress.status_line(0.0) == "0 % · 0/100 steps · 0:00:00 elapsed, about 4:10:00 left"
