# What all matchers share: extract_clusterlets -> sum_distances, sample_partitions.


rule extract_clusterlets:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups"),
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
        "clusterlets extract-clusterlets --data {input:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q}"
        " --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q}"
        " --groups {output.groups:q} --labels {output.labels:q} > {log:q} 2>&1"


rule sum_distances:
    input:
        data=prepared("npz"),
        labels=of_block("labels"),
    output:
        of_block("distances"),
    log:
        log_of_block("sum_distances"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.distances", libraries=COMPILED),
    message:
        "Summed distances of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "clusterlets sum-distances --data {input.data:q} --labels {input.labels:q} --output {output:q} > {log:q} 2>&1"


rule sample_partitions:
    input:
        of_block("groups"),
    output:
        of_block("partitions"),
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
        "clusterlets sample-partitions --groups {input:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q}"
        " --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q} --sample-size {params.sample_size:q}"
        " --output {output:q} > {log:q} 2>&1"
