#!/bin/sh
# What became of the job with the given id, in one word, as snakemake-executor-plugin-cluster-generic asks for it.

case $(bjobs -noheader -o stat "$1" 2>&1) in
    DONE) echo success ;;
    # Nobody knows it any more ("is not found"): it is done again, for that is never wrong.
    EXIT | ZOMBI | *"is not found"*) echo failed ;;
    # Waiting or running, or a server that does not answer: it will be asked again.
    *) echo running ;;
esac
