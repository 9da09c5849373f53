#!/bin/sh
# Prints the status of a job, given its id, for snakemake-executor-plugin-cluster-generic: success, failed or running.

case $(bjobs -noheader -o stat "$1" 2>&1) in
    DONE) echo success ;;
    # A job that LSF no longer knows ("is not found") runs again, which is always safe.
    EXIT | ZOMBI | *"is not found"*) echo failed ;;
    # The job waits or runs, or the server does not answer. Snakemake will ask again.
    *) echo running ;;
esac
