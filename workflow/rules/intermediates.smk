# What the matchers share: extract_clusterlets -> sum_distances, and sample_partitions for the matcher C


rule extract_clusterlets:
    input:
        data=prepared_path("npz"),
    output:
        pieces=block_path("pieces"),
        labels=block_path("labels"),
    log:
        block_log("extract_clusterlets"),
    cache: CACHE
    conda:
        CLUSTER
    params:
        **parameters(step_code("steps.extraction", libraries=COMPILED)),
        base_seed=config["base_seed"],
        file=path_in_results,
    message:
        "Extract the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("extract-clusterlets")


rule sum_distances:
    input:
        data=prepared_path("npz"),
        labels=block_path("labels"),
    output:
        output=block_path("distances"),
    log:
        block_log("sum_distances"),
    cache: CACHE
    conda:
        CLUSTER
    params:
        **parameters(step_code("steps.distances", libraries=COMPILED)),
        base_seed=config["base_seed"],
        file=path_in_results,
    message:
        "Sum the distances of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("sum-distances")


rule sample_partitions:
    input:
        pieces=block_path("pieces"),
    output:
        output=block_path("partitions"),
    log:
        block_log("sample_partitions"),
    cache: CACHE
    conda:
        CLUSTER
    params:
        **parameters(step_code("steps.partitions")),
        base_seed=config["base_seed"],
        sample_size=config["sample_size"],
        file=path_in_results,
    message:
        "Sample partitions of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        shell_line("sample-partitions")
