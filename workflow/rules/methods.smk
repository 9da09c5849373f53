# fit_method (all methods but the matchers) -> score_method (all methods; it also runs the matchers)


rule fit_method:
    input:
        data=prepared_path("npz"),
    output:
        pieces=fit_path("pieces"),
        labels=fit_path("labels"),
    log:
        FIT_LOG,
    conda:
        CLUSTER
    resources:
        # Not a parameter: a changed budget reruns only the cells that exceeded the old one.
        budget=lambda wildcards: plan.budget,
    params:
        **plan.method_code("benchmark.steps.fit_method"),
        method=plan.method_entry,
        parameters=plan.fit_parameters,
        starts=plan.starts,
        base_seed=config["base_seed"],
        exceeded_budget=plan.exceeded_budget(fit_path("pieces")),
    message:
        "{wildcards.dataset}: {wildcards.method} k{wildcards.k}{wildcards.parameters}"
    shell:
        "python -m clusterlets.benchmark.steps fit-method "
        "--data={input.data:q} --method={params.method:q} --dataset={wildcards.dataset:q} --k={wildcards.k:q} "
        "--seeds={wildcards.seeds:q} --parameters={params.parameters:q} --starts={params.starts:q} "
        "--base-seed={params.base_seed:q} --exceeded-budget={params.exceeded_budget:q} "
        "--budget={resources.budget:q} --pieces={output.pieces:q} --labels={output.labels:q} "
        "> {log:q} 2>&1"


rule score_method:
    input:
        unpack(plan.score_inputs),
    output:
        output=CELL,
    log:
        CELL_LOG,
    conda:
        CLUSTER
    resources:
        budget=lambda wildcards: plan.budget,
    params:
        **plan.method_code("benchmark.steps.score_method"),
        tables_of=plan.tables_of,
        method=plan.method_entry,
        parameters=plan.cell_parameters,
        settings=plan.shared_settings,
        base_seed=config["base_seed"],
        exceeded_budget=plan.exceeded_budget(CELL),
        deviation=plan.deviation,
    message:
        "{wildcards.dataset}: score {wildcards.method} k{wildcards.k}"
    shell:
        "python -m clusterlets.benchmark.steps score-method "
        "--method={params.method:q} --dataset={wildcards.dataset:q} --k={wildcards.k:q} "
        "--seeds={wildcards.seeds:q} --parameters={params.parameters:q} --settings={params.settings:q} "
        "--deviation={params.deviation:q} --tables-of={params.tables_of:q} --base-seed={params.base_seed:q} "
        "--exceeded-budget={params.exceeded_budget:q} --budget={resources.budget:q} --output={output.output:q} "
        "> {log:q} 2>&1"
