# extract_clusterlets -> sum_distances, sample_partitions -> match_pinball, match_centroid.


rule extract_clusterlets:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups", "clusterlets"),
        labels=of_block("labels", "clusterlets"),
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
        labels=of_block("labels", "{source}"),
    output:
        of_block("distances", "{source}"),
    log:
        log_of_block("sum_distances/{source}"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.distances", libraries=COMPILED),
        # Only clusterlets are joined into larger clusters; the others need no sums between groups.
        within=lambda wildcards: [] if wildcards.source == "clusterlets" else ["--within"],
    message:
        "Summed distances of {wildcards.dataset} ({wildcards.source}), k = {wildcards.k}"
    shell:
        "clusterlets sum-distances --data {input.data:q} --labels {input.labels:q} {params.within:q}"
        " --output {output:q} > {log:q} 2>&1"


rule sample_partitions:
    input:
        of_block("groups", "clusterlets"),
    output:
        of_block("partitions", "clusterlets"),
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


rule match_pinball:
    input:
        groups=for_cell(of_block("groups", "clusterlets")),
        distances=for_cell(of_block("distances", "clusterlets")),
        geometry=for_cell(GEOMETRY),
    output:
        "{place}/runs/{dataset}/{matcher}/k{k}_hops{hops}/seeds{seeds}.csv",
    log:
        "{place}/logs/match_pinball/{dataset}/{matcher}/k{k}_hops{hops}/seeds{seeds}.log",
    conda:
        CLUSTER
    params:
        code=lambda wildcards: MATCHING_CODE[wildcards.matcher],
        base_seed=config["base_seed"],
        scope=lambda wildcards: SETTINGS[wildcards.place][
            "greedy_scope" if wildcards.matcher.startswith("G") else "pinball_scope"
        ],
        deviation=setting("deviation"),
    message:
        "{wildcards.dataset}: {wildcards.matcher}, k = {wildcards.k}, {wildcards.hops} hops"
    shell:
        "clusterlets match-pinball --groups {input.groups:q} --distances {input.distances:q} --geometry {input.geometry:q}"
        " --dataset {wildcards.dataset:q} --matcher {wildcards.matcher:q} --k {wildcards.k:q} --hops {wildcards.hops:q}"
        " --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q} --scope {params.scope:q}"
        " --deviation {params.deviation:q} --output {output:q} > {log:q} 2>&1"


rule match_centroid:
    input:
        groups=for_cell(of_block("groups", "clusterlets")),
        distances=for_cell(of_block("distances", "clusterlets")),
        geometry=for_cell(GEOMETRY),
        partitions=for_cell(of_block("partitions", "clusterlets")),
    output:
        "{place}/runs/{dataset}/C/k{k}_omega{omega}/seeds{seeds}.csv",
    log:
        "{place}/logs/match_centroid/{dataset}/k{k}_omega{omega}/seeds{seeds}.log",
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.centroid"),
        equation=setting("equation"),
        deviation=setting("deviation"),
    message:
        "{wildcards.dataset}: C, k = {wildcards.k}, omega = {wildcards.omega}"
    shell:
        "clusterlets match-centroid --groups {input.groups:q} --distances {input.distances:q} --geometry {input.geometry:q}"
        " --partitions {input.partitions:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q} --omega {wildcards.omega:q}"
        " --seeds {wildcards.seeds:q} --equation {params.equation:q} --deviation {params.deviation:q}"
        " --output {output:q} > {log:q} 2>&1"
