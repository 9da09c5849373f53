#!/bin/sh
# Prints the status of the job with the given id as snakemake-executor-plugin-cluster-generic expects it: success, failed or running.

state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1)
case $state in
    # SLURM forgets a job some minutes after its end. Its accounting, if there is any, keeps the job.
    *"Invalid job id"* | "") state=$(sacct --allocations --noheader --parsable2 --format=State --jobs="$1" 2>/dev/null) || state= ;;
esac
case $state in
    COMPLETED) echo success ;;
    # The scheduler no longer knows the job (""): it runs again, which is always safe.
    BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT | "") echo failed ;;
    # The job waits or runs, or the controller does not answer: Snakemake will ask again.
    *) echo running ;;
esac
