#!/bin/sh
# What became of the job with the given id, in one word, as snakemake-executor-plugin-cluster-generic asks for it.

said=$(qstat -x -f "$1" 2>&1)
state=$(echo "$said" | sed -n 's/^ *job_state = //p')
status=$(echo "$said" | sed -n 's/^ *Exit_status = //p')
case $state:$status:$said in
    F:0:*) echo success ;;
    # Nobody knows it any more: it is done again, for that is never wrong.
    F:* | ::*"Unknown Job Id"*) echo failed ;;
    # Snakemake prints it and stops. Without history a job that has ended is like one that never was.
    ::*history*) echo "PBS keeps no history of its jobs. Ask for job_history_enable=True, or take another profile." ;;
    # Waiting or running, or a server that does not answer: it will be asked again.
    *) echo running ;;
esac
