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
        code=step_fingerprint("benchmark.steps.extraction", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets extract-clusterlets --data {input} --dataset {wildcards.dataset} --k {wildcards.k}"
        " --seeds {wildcards.seeds} --base-seed {params.base_seed}"
        " --groups {output.groups} --labels {output.labels} > {log} 2>&1"


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
        code=step_fingerprint("benchmark.steps.distances", libraries=COMPILED),
        # Only clusterlets are joined into larger clusters; the others need no sums between groups.
        within=lambda wildcards: "" if wildcards.source == "clusterlets" else "--within",
    message:
        "Summed distances of {wildcards.dataset} ({wildcards.source}), k = {wildcards.k}"
    shell:
        "python -m clusterlets sum-distances --data {input.data} --labels {input.labels} {params.within}"
        " --output {output} > {log} 2>&1"


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
        code=step_fingerprint("benchmark.steps.partitions"),
        base_seed=config["base_seed"],
        sample_size=config["sample_size"],
    message:
        "Partitions of the clusterlets of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets sample-partitions --groups {input} --dataset {wildcards.dataset} --k {wildcards.k}"
        " --seeds {wildcards.seeds} --base-seed {params.base_seed} --sample-size {params.sample_size}"
        " --output {output} > {log} 2>&1"


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
        "python -m clusterlets match-pinball --groups {input.groups} --distances {input.distances} --geometry {input.geometry}"
        " --dataset {wildcards.dataset} --matcher {wildcards.matcher} --k {wildcards.k} --hops {wildcards.hops}"
        " --seeds {wildcards.seeds} --base-seed {params.base_seed} --scope {params.scope}"
        " --deviation {params.deviation} --output {output} > {log} 2>&1"


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
        code=step_fingerprint("benchmark.steps.centroid"),
        equation=setting("equation"),
        deviation=setting("deviation"),
    message:
        "{wildcards.dataset}: C, k = {wildcards.k}, omega = {wildcards.omega}"
    shell:
        "python -m clusterlets match-centroid --groups {input.groups} --distances {input.distances} --geometry {input.geometry}"
        " --partitions {input.partitions} --dataset {wildcards.dataset} --k {wildcards.k} --omega {wildcards.omega}"
        " --seeds {wildcards.seeds} --equation {params.equation} --deviation {params.deviation}"
        " --output {output} > {log} 2>&1"
