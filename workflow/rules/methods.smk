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
        shell_line("fit-method", "exceeded_budget", "starts", budget='"$BUDGET"')


rule score_method:
    input:
        unpack(plan.score_inputs),
    output:
        output=CELL,
    log:
        CELL_LOG,
    conda:
        CLUSTER
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
        shell_line("score-method", "exceeded_budget", budget='"$BUDGET"')
