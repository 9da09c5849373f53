"""How far a run is and how long it will still take: counts and arithmetic, without a clock, a screen or Snakemake."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_UNKNOWN = {"": 3.0}  # seconds expected of a job without an estimate: about those of a table or a figure
_START = 10.0  # seconds of work after which this machine's pace counts as much as the expected one


class Job(NamedTuple):
    """A job: its rule, its purpose in words, its logs, when it started (in seconds) and its dataset."""

    rule: str
    purpose: str
    logs: tuple[str, ...]
    started: float
    dataset: str = ""


@dataclass
class Progress:
    """The state of a run: jobs planned by rule, seconds expected by rule and dataset, jobs that may run at once."""

    planned: Mapping[str, int]
    expected: Mapping[str, Mapping[str, float]]
    slots: int
    began: float
    running: dict[int, Job] = field(default_factory=dict)
    failed: dict[int, Job] = field(default_factory=dict)
    done: Counter = field(default_factory=Counter)
    # Seconds expected of the jobs that are done, by rule.
    due: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    spent: float = 0.0  # seconds that they took

    def start(self, number: int, job: Job) -> None:
        """A job has started, or started again after a failure."""
        self.failed.pop(number, None)
        self.running[number] = job

    def finish(self, number: int, now: float) -> None:
        """A job has ended without an error."""
        if job := self.running.pop(number, None):
            self.done[job.rule] += 1
            self.due[job.rule] += self._seconds(job)
            self.spent += now - job.started

    @property
    def steps(self) -> tuple[int, int]:
        """Steps that are done, and all."""
        return self.done.total(), sum(self.planned.values())

    def seconds_left(self, now: float) -> float:
        """Seconds until everything is done, if nothing fails."""
        pace = (_START + self.spent) / (_START + sum(self.due.values()))  # how much longer jobs take here than expected
        work = pace * sum(map(self._seconds_waiting, self.planned))
        elapsed = [(job, now - job.started) for job in self.running.values()]
        work += sum(max(pace * self._seconds(job) - seconds, seconds / 4) for job, seconds in elapsed)
        busy = (self.spent + sum(seconds for _, seconds in elapsed)) / max(now - self.began, 1)  # Snakemake takes time too
        return work / (min(max(busy, 1), self.slots) if now - self.began > 2 * _START else self.slots)

    def _seconds(self, job: Job) -> float:
        expected = self.expected.get(job.rule) or _UNKNOWN
        return expected.get(job.dataset, sum(expected.values()) / len(expected))

    def _seconds_waiting(self, rule: str) -> float:
        """What is left of all datasets' jobs; if that cannot be (not every dataset runs), the mean of the started jobs."""
        expected = (self.expected.get(rule) or _UNKNOWN).values()
        under_way = [self._seconds(job) for job in [*self.running.values(), *self.failed.values()] if job.rule == rule]
        started, n_started = self.due[rule] + sum(under_way), self.done[rule] + len(under_way)
        count, rest = self.planned[rule] - n_started, self.planned[rule] * sum(expected) / len(expected) - started
        is_possible = 0.99 * count * min(expected) <= rest <= 1.01 * count * max(expected)
        return rest if is_possible or not n_started else count * started / n_started


def line(progress: Progress, now: float) -> str:
    """Where a run stands, and which job has run longest."""
    done, steps = progress.steps
    failed = [f"{len(progress.failed)} failed"] if progress.failed else []
    about = "at most" if progress.failed else "about"  # what needs a failed step will not run
    left = clock(10 * round(progress.seconds_left(now) / 10))
    oldest = sorted(progress.running.values(), key=lambda job: job.started)[:1]
    parts = [f"{100 * done // max(steps, 1)} %", f"{done:,}/{steps:,} steps", *failed]
    parts += [f"{clock(now - progress.began)} gone, {about} {left} left", *(job.purpose for job in oldest)]
    return " · ".join(parts)


def summary(progress: Progress, now: float) -> str:
    """How a run ended, what failed, and how to continue."""
    (done, steps), failed = progress.steps, progress.failed.values()
    count = f"{done:,} of {steps:,} steps{f', {len(failed)} failed' if failed else ''}, in {clock(now - progress.began)}"
    if done == steps:
        return f"Done: {count}"
    lines = [f"  failed: {job.purpose} ({job.rule}), log {', '.join(job.logs) or 'none'}" for job in failed]
    lines += [f"  cut short: {job.purpose} ({job.rule})" for job in progress.running.values()]
    remedy = "To continue, run the same command again: what is done is not repeated."
    return "\n".join([f"Not complete: {count}", *lines, remedy])


def clock(seconds: float) -> str:
    """``0:07``, ``3:10`` or ``1:03:10``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"
