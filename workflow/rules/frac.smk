# cluster_frac, cluster_yardsticks -> sum_distances -> score_groups: clusterings that are scored as they are.

METHODS = {"frac": ("FRAC", "FRAC (fair),FRAC (nearest)"), "yardsticks": ("yardsticks", "k-means,random")}


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
        code=step_fingerprint("benchmark.steps.frac", libraries=COMPILED),
        base_seed=config["base_seed"],
        variant=config["frac"]["variant"],
        tau=config["frac"]["tau"],
        init=config["frac"]["init"],
        max_iter=config["frac"]["max_iter"],
        tol=config["frac"]["tol"],
    message:
        "FRAC on {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets cluster-frac --data {input} --dataset {wildcards.dataset} --k {wildcards.k}"
        " --seeds {wildcards.seeds} --base-seed {params.base_seed} --variant {params.variant} --tau {params.tau}"
        " --init {params.init} --max-iter {params.max_iter} --tol {params.tol}"
        " --groups {output.groups} --labels {output.labels} > {log} 2>&1"


rule cluster_yardsticks:
    input:
        prepared("npz"),
    output:
        groups=of_block("groups", "yardsticks"),
        labels=of_block("labels", "yardsticks"),
    log:
        log_of_block("cluster_yardsticks"),
    conda:
        CLUSTER
    params:
        code=step_fingerprint("benchmark.steps.yardsticks", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Plain k-means and a random partition of {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets cluster-yardsticks --data {input} --dataset {wildcards.dataset} --k {wildcards.k}"
        " --seeds {wildcards.seeds} --base-seed {params.base_seed}"
        " --groups {output.groups} --labels {output.labels} > {log} 2>&1"


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
            code=step_fingerprint("benchmark.steps.scoring"),
            methods=methods,
            deviation=setting("deviation"),
        message:
            "{wildcards.dataset}: score clusterings of k = {wildcards.k}"
        shell:
            "python -m clusterlets score-groups --groups {input.groups} --distances {input.distances}"
            " --geometry {input.geometry} --dataset {wildcards.dataset} --methods {params.methods:q} --k {wildcards.k}"
            " --seeds {wildcards.seeds} --deviation {params.deviation} --output {output} > {log} 2>&1"
