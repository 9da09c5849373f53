"""How far a run is and how long it will still take: counts and arithmetic, without a clock, a screen or Snakemake."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

# The kind of step that makes a cell, a file of the grid.
_CELL = "score_method"

_UNKNOWN = 3.0  # seconds of a job of a kind that nobody has measured: about those of a table or a figure
_TRUST = 5  # jobs of a kind that have to end before they weigh as much as what was expected of it
_START = 10.0  # seconds of work that have to be done before this machine's pace weighs as much as the expected one
_SETTLED = 20.0  # seconds after which the jobs that really ran at once are worth counting


@dataclass(frozen=True)
class Job:
    """One job: its rule, what it does in words, its logs, when it started (seconds, of any clock), and its dataset."""

    kind: str
    purpose: str
    logs: tuple[str, ...]
    started: float
    dataset: str = ""


@dataclass
class Progress:
    """The state of a run.

    ``planned``: jobs of each kind; ``expected``: seconds of a job of a kind on each dataset, as far as somebody knows;
    ``slots``: jobs that may run at once; ``began``: seconds, of the same clock as all that follows.
    """

    planned: Mapping[str, int]
    expected: Mapping[str, Mapping[str, float]]
    slots: int
    began: float
    running: dict[int, Job] = field(default_factory=dict)
    failed: dict[int, Job] = field(default_factory=dict)
    done: Counter = field(default_factory=Counter)
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    # What was expected of the jobs that are done.
    due: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def start(self, number: int, job: Job) -> None:
        """A job has started, perhaps again."""
        self.failed.pop(number, None)
        self.running[number] = job

    def finish(self, number: int, now: float) -> None:
        """A job has ended well."""
        job = self.running.pop(number, None)
        if job:
            self.done[job.kind] += 1
            self.spent[job.kind] += now - job.started
            self.due[job.kind] += self._expected_of(job)

    def fail(self, number: int) -> Job | None:
        """A job has failed."""
        job = self.running.pop(number, None)
        if job:
            self.failed[number] = job
        return job

    @property
    def steps(self) -> tuple[int, int]:
        """Steps done, and planned."""
        return self.done.total(), sum(self.planned.values())

    @property
    def cells(self) -> tuple[int, int]:
        """Cells done, and planned."""
        return _cells(self.done), _cells(self.planned)

    @property
    def not_started(self) -> dict[str, int]:
        """Jobs of each kind that have not been started."""
        started = self.done + Counter(job.kind for job in [*self.running.values(), *self.failed.values()])
        return {kind: count - started[kind] for kind, count in self.planned.items() if count > started[kind]}

    def seconds_left(self, now: float) -> float:
        """Seconds until all is done, if nothing fails. A job that is over its time is taken to need a quarter of it more."""
        work = sum(self._expected_rest(kind, count) * self._slowness(kind) for kind, count in self.not_started.items())
        for job in self.running.values():
            ran = now - job.started
            work += max(self._expected_of(job) * self._slowness(job.kind) - ran, ran / 4)
        return work / self._at_once(now)

    def _expected(self, kind: str) -> float:
        """Of a job on any dataset."""
        known = self.expected.get(kind)
        return sum(known.values()) / len(known) if known else _UNKNOWN

    def _expected_of(self, job: Job) -> float:
        return self.expected.get(job.kind, {}).get(job.dataset, self._expected(job.kind))

    def _expected_rest(self, kind: str, count: int) -> float:
        """Of the jobs that have not started. Large datasets come first, so those that have say little of the others."""
        mean, known = self._expected(kind), self.expected.get(kind, {"": _UNKNOWN}).values()
        under_way = [self._expected_of(job) for job in [*self.running.values(), *self.failed.values()] if job.kind == kind]
        started = self.due[kind] + sum(under_way)
        rest = self.planned[kind] * mean - started
        if not 0.99 * count * min(known) <= rest <= 1.01 * count * max(known):  # so not every dataset is being computed
            rest = count * started / (self.done[kind] + len(under_way))
        return rest

    def _slowness(self, kind: str) -> float:
        """How much longer a kind takes than expected: as all kinds do, and as more of its own jobs end as they did."""
        trust = _TRUST * self._expected(kind)
        return (trust * self._pace() + self.spent[kind]) / (trust + self.due[kind])

    def _pace(self) -> float:
        """How much longer jobs take than expected, over all kinds: a slow or busy machine shows before a kind was seen."""
        return (_START + sum(self.spent.values())) / (_START + sum(self.due.values()))

    def _at_once(self, now: float) -> float:
        """Jobs that run at once: all slots at first, then the mean so far, which has Snakemake's own time in it."""
        gone = now - self.began
        if gone < _SETTLED:
            return self.slots
        busy = sum(self.spent.values()) + sum(now - job.started for job in self.running.values())
        return min(max(busy / gone, 1), self.slots)

    def longest(self) -> Job | None:
        """Of the running jobs the one that started first."""
        return min(self.running.values(), key=lambda job: job.started, default=None)


def plan(progress: Progress) -> str:
    """What a run is going to do, in a few lines."""
    steps, cells = progress.steps[1], progress.cells[1]
    kinds = sorted(progress.planned.items(), key=lambda item: -item[1])
    about = f"{_steps(steps)} to do{_of_the_grid(cells)}"
    time = in_words(progress.seconds_left(progress.began))
    return "\n".join([f"{about}: about {time}, {progress.slots} at a time", *_wrapped(kinds)])


def line(progress: Progress, now: float) -> str:
    """Where a run stands, in one line: so short that on a terminal of 80 columns one can still read what is being done."""
    (steps, all_steps), (cells, all_cells) = progress.steps, progress.cells
    counted = f"{cells:,}/{all_cells:,} cells" if all_cells else f"{steps:,}/{all_steps:,} steps"
    parts = [f"{100 * steps // max(all_steps, 1)} %", counted]
    if progress.failed:
        parts.append(f"{len(progress.failed)} failed")
    about = "at most" if progress.failed else "about"  # what needs a failed step is not going to run
    parts.append(f"{clock(now - progress.began)} gone, {about} {clock(_rounded(progress.seconds_left(now)))} left")
    longest = progress.longest()
    return " · ".join([*parts, *([longest.purpose] if longest else [])])


def summary(progress: Progress, now: float) -> str:
    """How a run ended: one line if well, else what failed, what was not run, and how to go on."""
    (steps, all_steps), cells, time = progress.steps, progress.cells[0], clock(now - progress.began)
    if steps == all_steps:
        return f"Done: {_steps(steps)}{_of_the_grid(cells)}, in {time}"
    failed = f", {len(progress.failed)} failed" if progress.failed else ""
    lines = [f"Not complete: {steps:,} of {_steps(all_steps)} done{failed}, in {time}"]
    lines += [f"  failed: {job.purpose} ({job.kind}){_where(job)}" for job in progress.failed.values()]
    lines += [f"  cut short: {job.purpose} ({job.kind})" for job in progress.running.values()]
    waiting = sorted(progress.not_started.items(), key=lambda item: -item[1])
    if waiting:
        because = ", as it needs what failed" if progress.failed and not progress.running else ""
        lines += [f"  not run{because}:", *_wrapped(waiting)]
    mend = "mend what failed and give" if progress.failed else "give"
    return "\n".join([*lines, f"To go on, {mend} the same command again: what is done stays done."])


def clock(seconds: float) -> str:
    """``0:07``, ``3:10`` or ``1:03:10``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def in_words(seconds: float) -> str:
    """A time that is known to a factor of two."""
    if seconds < 45:
        return f"{max(10, 10 * round(seconds / 10))} seconds"
    if seconds < 90:
        return "a minute"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


def _rounded(seconds: float) -> float:
    """An estimate, no finer than it deserves."""
    unit = 10 if seconds < 600 else 60
    return unit * round(seconds / unit)


def _cells(counts: Mapping[str, int]) -> int:
    return counts.get(_CELL, 0)


def _steps(count: int) -> str:
    return f"{count:,} step" + ("s" if count != 1 else "")


def _of_the_grid(cells: int) -> str:
    return f", {cells:,} of them {'cells' if cells != 1 else 'a cell'} of the grid" if cells else ""


def _where(job: Job) -> str:
    return f", log {', '.join(job.logs)}" if job.logs else ""


def _wrapped(kinds: list[tuple[str, int]], width: int = 110) -> list[str]:
    """``score_method 80 · sum_distances 15`` in lines."""
    lines = [""]
    for kind, count in kinds:
        item = f"{kind} {count:,}"
        if lines[-1] and len(lines[-1]) + len(item) + 3 > width:
            lines.append("")
        lines[-1] += f" · {item}" if lines[-1] else item
    return [f"    {line}" for line in lines]
