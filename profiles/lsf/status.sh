#!/bin/sh
# Prints the status of the job with the given id as snakemake-executor-plugin-cluster-generic expects it: success, failed or running.

case $(bjobs -noheader -o stat "$1" 2>&1) in
    DONE) echo success ;;
    # The scheduler no longer knows the job ("is not found"): it runs again, which is always safe.
    EXIT | ZOMBI | *"is not found"*) echo failed ;;
    # The job waits or runs, or the server does not answer: Snakemake will ask again.
    *) echo running ;;
esac
