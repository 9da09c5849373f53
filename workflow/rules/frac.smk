# cluster_frac, cluster_baselines -> sum_distances -> score_groups: clusterings that are scored as they are.

METHODS = {"frac": ("FRAC", "FRAC (fair),FRAC (nearest)"), "baselines": ("baselines", "k-means,random")}


rule cluster_frac:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups", "frac"),
        labels=of_block("labels", "frac"),
    log:
        log_of_block("cluster_frac"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.frac", libraries=COMPILED),
        base_seed=config["base_seed"],
        variant=config["frac"]["variant"],
        tau=config["frac"]["tau"],
        init=config["frac"]["init"],
        max_iter=config["frac"]["max_iter"],
        tol=config["frac"]["tol"],
    message:
        "FRAC on {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "clusterlets cluster-frac --data {input:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q}"
        " --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q} --variant {params.variant:q} --tau {params.tau:q}"
        " --init {params.init:q} --max-iter {params.max_iter:q} --tol {params.tol:q}"
        " --groups {output.groups:q} --labels {output.labels:q} > {log:q} 2>&1"


rule cluster_baselines:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups", "baselines"),
        labels=of_block("labels", "baselines"),
    log:
        log_of_block("cluster_baselines"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.baselines", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Plain k-means and a random partition of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "clusterlets cluster-baselines --data {input:q} --dataset {wildcards.dataset:q} --k {wildcards.k:q}"
        " --seeds {wildcards.seeds:q} --base-seed {params.base_seed:q}"
        " --groups {output.groups:q} --labels {output.labels:q} > {log:q} 2>&1"


for source, (folder, methods) in METHODS.items():

    rule:
        name:
            f"score_{source}"
        input:
            groups=for_cell(of_block("groups", source)),
            distances=for_cell(of_block("distances", source)),
            geometry=for_cell(GEOMETRY),
        output:
            f"{{place}}/runs/{{dataset}}/{folder}/k{{k}}/seeds{{seeds}}.csv",
        log:
            log_of_block(f"score_{source}", "place"),
        conda:
            CLUSTER
        params:
            code=step_fingerprint("steps.scoring"),
            methods=methods,
            deviation=setting("deviation"),
        message:
            "{wildcards.dataset}: score clusterings of k = {wildcards.k}"
        shell:
            "clusterlets score-groups --groups {input.groups:q} --distances {input.distances:q}"
            " --geometry {input.geometry:q} --dataset {wildcards.dataset:q} --methods {params.methods:q} --k {wildcards.k:q}"
            " --seeds {wildcards.seeds:q} --deviation {params.deviation:q} --output {output:q} > {log:q} 2>&1"
