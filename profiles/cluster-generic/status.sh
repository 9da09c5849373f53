#!/bin/sh
# Prints the status of a job, given its id, for snakemake-executor-plugin-cluster-generic: success, failed or running.

state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1)
case $state in
    # Some minutes after the end of a job, only SLURM's accounting, if it is enabled, knows the job.
    *"Invalid job id"* | "")
        state=$(sacct --allocations --noheader --parsable2 --format=State --jobs="$1" 2>/dev/null) || state=
        ;;
esac
case $state in
    COMPLETED) echo success ;;
    # A job that SLURM no longer knows ("") runs again, which is always safe.
    BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT | "") echo failed ;;
    # The job waits or runs, or the controller does not answer. Snakemake will ask again.
    *) echo running ;;
esac
