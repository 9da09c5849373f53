# This workflow reproduces "Fair Clustering with Clusterlets", from raw data to the last table. README.md says how to run it.

from snakemake.utils import min_version

min_version("9.0")

# The folder of this file. workflow.basedir would be the folder of a Snakefile that imports this one as a module.
CHECKOUT = workflow.current_basedir.get_path_or_uri(secret_free=True)


configfile: f"{CHECKOUT}/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/intermediates.smk"
include: "workflow/rules/methods.smk"
include: "workflow/rules/results.smk"


# On a cluster, these rules and those of the figures run on the machine that runs Snakemake: they need the network or take seconds.
localrules:
    fetch_dataset,
    prepare_dataset,
    prepare_user_table,
    measure_geometry,
    measure_plain_cost,
    list_data,
    collect_runs,
    analyse,
    account,
    write_report,
    write_leaderboard,
    write_manifest,


rule all:
    default_target: True
    input:
        RESULTS_EXCEPT_PAGES,
        PAGES,
        ACCOUNTS,
        MANIFEST,


# This rule has no output, so it prints its table whenever it is requested. Its log does not end in ".log", because the accounts
# count the jobs of all logs that do.
rule data:
    input:
        [prepared_path("npz", OUT, dataset) for dataset in config["datasets"]],
        listing=DATA_LIST,
    log:
        f"{OUT}/logs/data.txt",
    localrule: True
    conda:
        "envs/fetch.yaml"
    shell:
        "tee {log:q} < {input.listing:q}"
