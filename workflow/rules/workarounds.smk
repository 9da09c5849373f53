# Workarounds for what Snakemake 9.27.1 does not do for this grid. Each comment says what happened without the workaround, so
# that we can remove it once Snakemake is fixed. We know of no upstream report of these problems.

import signal
from pathlib import Path

import psutil  # a dependency of Snakemake

from clusterlets.benchmark.grid.preflight import remove_locks
from clusterlets.supervision.processes import begin_run

# If SIGKILL ends Snakemake, its jobs go on (for up to 80 minutes).
begin_run()


def end_run(signum, frame):
    # If only Snakemake gets a signal, it waits for its jobs (30 s and more with a sleeping fit).
    shell.prefix("exit 130; ")  # for jobs that have not started yet
    for step in psutil.Process().children():
        step.send_signal(signal.SIGINT)
    raise KeyboardInterrupt


def prepare_scheduler():
    """Call this when the run starts, after Snakemake has set up its scheduler."""
    # Snakemake's handler of SIGTERM takes a lock that the interrupted code may hold. With that handler, 3 of 20 runs of short
    # jobs hung, and left their locks.
    signal.signal(signal.SIGTERM, end_run)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # background jobs of a script ignore SIGINT
        signal.signal(signal.SIGINT, end_run)
    # Snakemake limits the starts of jobs to 100 a second, and no option turns this off. With a limit, each search for ready
    # jobs schedules another one a second later, and these add up: a run of 1,000 jobs of 0.1 s took 25 s of CPU, and 10 to
    # 13 s without the limit. Local jobs do not need it.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


if workflow.is_main_process:
    # A killed run (kill -9, a power cut) leaves locks that name no owner, and the next run is refused until they are removed.
    # The returned file must stay open: the kernel lock on it shows that this run is alive.
    KERNEL_LOCK = remove_locks(Path(".snakemake"))
