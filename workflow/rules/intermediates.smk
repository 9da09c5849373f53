# What the matchers share: extract_clusterlets -> sum_distances, and sample_partitions for the matcher C
# These jobs have no budget. The resource is here because the cluster profiles put them in one group with those of methods.smk,
# and Snakemake refuses a group in which a resource that is text differs.


rule extract_clusterlets:
    input:
        data=prepared_path("npz"),
    output:
        pieces=batch_path("pieces"),
        labels=batch_path("labels"),
    log:
        batch_log("extract_clusterlets"),
    conda:
        CLUSTER
    resources:
        budget=lambda wildcards: plan.budget,
    params:
        **parameters(step_code("benchmark.steps.extract_clusterlets", libraries=COMPILED)),
        base_seed=config["base_seed"],
    message:
        "Extract the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets.benchmark.steps extract-clusterlets "
        "--data={input.data:q} --dataset={wildcards.dataset:q} --k={wildcards.k:q} --seeds={wildcards.seeds:q} "
        "--base-seed={params.base_seed:q} --pieces={output.pieces:q} --labels={output.labels:q} "
        "> {log:q} 2>&1"


rule sum_distances:
    input:
        data=prepared_path("npz"),
        labels=batch_path("labels"),
    output:
        output=batch_path("distances"),
    log:
        batch_log("sum_distances"),
    conda:
        CLUSTER
    resources:
        budget=lambda wildcards: plan.budget,
    params:
        **parameters(step_code("benchmark.steps.sum_distances", libraries=COMPILED)),
        base_seed=config["base_seed"],
    message:
        "Sum the distances of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets.benchmark.steps sum-distances "
        "--data={input.data:q} --labels={input.labels:q} --dataset={wildcards.dataset:q} "
        "--base-seed={params.base_seed:q} --output={output.output:q} "
        "> {log:q} 2>&1"


rule sample_partitions:
    input:
        pieces=batch_path("pieces"),
    output:
        output=batch_path("partitions"),
    log:
        batch_log("sample_partitions"),
    conda:
        CLUSTER
    resources:
        budget=lambda wildcards: plan.budget,
    params:
        **parameters(step_code("benchmark.steps.sample_partitions")),
        base_seed=config["base_seed"],
        sample_size=config["sample_size"],
    message:
        "Sample partitions of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets.benchmark.steps sample-partitions "
        "--pieces={input.pieces:q} --dataset={wildcards.dataset:q} --k={wildcards.k:q} --seeds={wildcards.seeds:q} "
        "--base-seed={params.base_seed:q} --sample-size={params.sample_size:q} --output={output.output:q} "
        "> {log:q} 2>&1"
