#!/bin/sh
# Prints the status of a job, given its id, for snakemake-executor-plugin-cluster-generic: success, failed or running.

answer=$(qstat -x -f "$1" 2>&1)
state=$(echo "$answer" | sed -n 's/^ *job_state = //p')
status=$(echo "$answer" | sed -n 's/^ *Exit_status = //p')
case $state:$status:$answer in
    F:0:*) echo success ;;
    # A job that PBS no longer knows runs again, which is always safe.
    F:* | ::*"Unknown Job Id"*) echo failed ;;
    # Without history, an ended job looks like one that never existed. Snakemake prints this message and stops.
    ::*history*) echo "PBS keeps no history of its jobs. Ask for job_history_enable=True, or use another profile." ;;
    # The job waits or runs, or the server does not answer. Snakemake will ask again.
    *) echo running ;;
esac
