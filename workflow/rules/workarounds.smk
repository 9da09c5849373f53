# What Snakemake 9.27.1 lacks for this grid.

import signal

import psutil  # a dependency of Snakemake

from clusterlets.supervision.processes import begin_run

# If SIGKILL ends Snakemake, its jobs would go on, for up to 80 minutes.
begin_run()


def end_run(signum, frame):
    """End the steps, for which Snakemake would wait: 30 s and more with a sleeping fit."""
    shell.prefix("exit 130; ")  # for jobs that have not started yet
    for step in psutil.Process().children():
        step.send_signal(signal.SIGINT)
    raise KeyboardInterrupt


def prepare_scheduler():
    """Call this when the run starts, after Snakemake has set up its scheduler."""
    signal.signal(signal.SIGTERM, end_run)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # background jobs of a script ignore SIGINT
        signal.signal(signal.SIGINT, end_run)
    # With a limit on the starts of jobs, which no option turns off, each search for ready jobs schedules another one a second
    # later: a run of 1,000 jobs of 0.1 s took 25 s of CPU, and 10 to 13 s without the limit. Local jobs do not need it.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
