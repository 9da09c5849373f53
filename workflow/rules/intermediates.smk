# What all matchers share: extract_clusterlets -> sum_distances, sample_partitions.


rule extract_clusterlets:
    input:
        data=prepared("npz"),
    output:
        pieces=of_block("pieces"),
        labels=of_block("labels"),
    log:
        log_of_block("extract_clusterlets"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.extraction", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("extract-clusterlets")


rule sum_distances:
    input:
        data=prepared("npz"),
        labels=of_block("labels"),
    output:
        output=of_block("distances"),
    log:
        log_of_block("sum_distances"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.distances", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Summed distances of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("sum-distances")


rule sample_partitions:
    input:
        pieces=of_block("pieces"),
    output:
        output=of_block("partitions"),
    log:
        log_of_block("sample_partitions"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.partitions"),
        base_seed=config["base_seed"],
        sample_size=config["sample_size"],
    message:
        "Partitions of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("sample-partitions")
