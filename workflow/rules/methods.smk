# fit_method, of methods that cluster instances -> score_method, which also joins clusterlets for the matchers.


rule fit_method:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups", "{method}"),
        labels=of_block("labels", "{method}"),
    log:
        "{base}/logs/fit_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log",
    conda:
        CLUSTER
    params:
        code=method_fingerprint("steps.fitting"),
        method=entry_of,
        parameters=parameters_of,
        base_seed=config["base_seed"],
        limits=json.dumps(config["limits"]),
    message:
        "{wildcards.dataset}: {wildcards.method}, k = {wildcards.k}{wildcards.parameters}"
    shell:
        "clusterlets fit-method --data {input:q} --method {params.method:q} --dataset {wildcards.dataset:q}"
        " --k {wildcards.k:q} --parameters {params.parameters:q} --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q}"
        " --limits {params.limits:q} --groups {output.groups:q} --labels {output.labels:q} > {log:q} 2>&1"


def inputs_of_score(wildcards):
    """The clusters that a method found; for a matcher, what it joins."""
    if wildcards.method not in MATCHERS:
        return {"groups": for_cell(of_block("groups", "{method}"))(wildcards)}
    kinds = ["groups", "distances", *(["partitions"] if "partitions" in METHODS[wildcards.method].needs else [])]
    return {kind: for_cell(of_block(kind))(wildcards) for kind in kinds}


rule score_method:
    input:
        unpack(inputs_of_score),
        geometry=for_cell(GEOMETRY),
    output:
        "{place}/runs/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.csv",
    log:
        "{place}/logs/score_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log",
    conda:
        CLUSTER
    params:
        code=method_fingerprint("steps.scoring"),
        method=entry_of,
        parameters=parameters_of,
        settings=settings_of_method,
        base_seed=config["base_seed"],
        limits=json.dumps(config["limits"]),
        deviation=setting("deviation"),
        further=lambda wildcards, input: [
            f"--{kind}={input[kind]}" for kind in ("distances", "partitions") if kind in input.keys()
        ],
    message:
        "{wildcards.dataset}: score {wildcards.method}, k = {wildcards.k}{wildcards.parameters}"
    shell:
        "clusterlets score-method --method {params.method:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q}"
        " --parameters {params.parameters:q} --settings {params.settings:q} --seeds {wildcards.seeds:q}"
        " --base-seed {params.base_seed:q} --limits {params.limits:q} --groups {input.groups:q} --geometry {input.geometry:q}"
        " {params.further:q} --deviation {params.deviation:q} --output {output:q} > {log:q} 2>&1"
