# What Snakemake 9.27.1 does not do for this grid by itself. Each was measured without the workaround; leave it out once that
# measurement is good. No upstream report of any of the three is known to us.

import atexit
import signal

from clusterlets.grid.preflight import nearly_full
from clusterlets.grid.stale_locks import remove_locks


def end_on_sigterm_as_on_ctrl_c():
    """Snakemake's handler takes a lock that the interrupted code may hold. Of 20 runs of short jobs, 3 hung without this, and
    left their locks; none with it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def prepare_scheduler():
    """To be called when the run starts, after Snakemake's scheduler has set itself up."""
    end_on_sigterm_as_on_ctrl_c()
    # Under a limit on starts (by default 100 a second, and no option turns it off) each look for jobs orders another a second
    # later, so looks add up: 25 s of CPU for 1,000 jobs of 0.1 s, and 10 to 13 s without a limit, which local jobs do not need.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


if workflow.is_main_process:
    end_on_sigterm_as_on_ctrl_c()
    # A run that is killed (kill -9, a power cut) leaves locks that name no owner, and the next run is refused.
    ALIVE = remove_locks(Path(".snakemake"))
    # Not in onerror, which a full disk prevents: Snakemake itself ends before it gets there.
    atexit.register(lambda: print(*nearly_full({".", OUT}), sep="", end="", file=sys.stderr))
