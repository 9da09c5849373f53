# fit_method, of methods that cluster instances -> score_method, which also joins clusterlets for the matchers.


rule fit_method:
    input:
        data=prepared("npz"),
    output:
        pieces=of_block("pieces", "{method}"),
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
        to_meet=limits_to_meet(of_block("pieces", "{method}")),
    message:
        "{wildcards.dataset}: {wildcards.method} k{wildcards.k}{wildcards.parameters}"
    shell:
        shell_line("fit-method", "to_meet", limits='"$LIMITS"')


rule score_method:
    input:
        unpack(inputs_of_score),
        geometry=for_cell(GEOMETRY),
    output:
        output="{place}/runs/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.csv",
    log:
        "{place}/logs/score_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log",
    conda:
        CLUSTER
    params:
        data=of_matcher("data"),
        labels=of_matcher("labels"),
        distances=of_matcher("distances"),
        partitions=of_matcher("partitions"),
        code=method_fingerprint("steps.scoring"),
        method=entry_of,
        parameters=parameters_of,
        settings=settings_of_method,
        base_seed=config["base_seed"],
        to_meet=limits_to_meet("{place}/runs/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.csv"),
        deviation=setting("deviation"),
    message:
        "{wildcards.dataset}: score {wildcards.method} k{wildcards.k}{wildcards.parameters}"
    shell:
        shell_line(
            "score-method",
            "to_meet",
            limits='"$LIMITS"',
            data="{params.data:q}",
            labels="{params.labels:q}",
            distances="{params.distances:q}",
            partitions="{params.partitions:q}",
        )
