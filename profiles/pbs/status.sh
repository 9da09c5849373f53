#!/bin/sh
# Prints the status of the job with the given id as snakemake-executor-plugin-cluster-generic expects it: success, failed or running.

answer=$(qstat -x -f "$1" 2>&1)
state=$(echo "$answer" | sed -n 's/^ *job_state = //p')
status=$(echo "$answer" | sed -n 's/^ *Exit_status = //p')
case $state:$status:$answer in
    F:0:*) echo success ;;
    # The scheduler no longer knows the job: it runs again, which is always safe.
    F:* | ::*"Unknown Job Id"*) echo failed ;;
    # Snakemake prints this message and stops. Without history a job that has ended cannot be told from one that never existed.
    ::*history*) echo "PBS keeps no history of its jobs. Ask for job_history_enable=True, or take another profile." ;;
    # The job waits or runs, or the server does not answer: Snakemake will ask again.
    *) echo running ;;
esac
