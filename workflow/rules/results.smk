# collect_runs -> make_tables, compare_methods, check_reported, check_claims, assess_sensitivity, recover_clusters
# -> plot_* -> account -> write_report -> write_manifest.

TABLES = [
    "table1_matchers",
    "table2_best_by_deviation",
    "table2_by_configuration_mean",
    "table3_best_by_cohesion",
    "table3_by_configuration_mean",
    "table4_frac_vs_clusterlets",
    "table5_correlations",
]
# The modules that draw, and the figures of each.
DRAWN_BY = {
    "critical_difference": ["figure1_critical_difference", "figure1_critical_difference_with_frac"],
    "cohesion_vs_deviation": ["cohesion_vs_deviation"],
    "heatmaps": ["heatmaps"],
    "omega_effect": ["omega_effect"],
    "composition": ["composition"],
    "projection": ["projection"],
    "reported_vs_reproduced": ["reported_vs_reproduced"],
    "sensitivity": ["sensitivity"],
}
# What a module draws besides the runs.
DRAWN_FROM = {
    "sensitivity": [f"{OUT}/sensitivity.csv"],
    "composition": [f"{OUT}/clusterings/composition.csv"],
    "projection": [f"{OUT}/clusterings/projection.csv"],
}
FIGURES = [figure for figures in DRAWN_BY.values() for figure in figures]
STATISTICS = [
    f"{OUT}/statistics/{name}"
    for name in ("statistics.csv", "statistics.md", "mean_ranks.csv", "nemenyi.csv", "wilcoxon.csv", "intervals.csv")
]
RESULTS = [
    f"{OUT}/datasets.csv",
    f"{OUT}/runs.csv",
    f"{OUT}/runs.csv.sha256",
    f"{OUT}/comparison.csv",
    f"{OUT}/comparison_counts.csv",
    f"{OUT}/claims.csv",
    f"{OUT}/claims.md",
    f"{OUT}/report.html",
    f"{OUT}/summary.txt",
    f"{OUT}/sensitivity.md",
    *[file for files in DRAWN_FROM.values() for file in files],
    *STATISTICS,
    *expand(f"{OUT}/tables/{{table}}.{{form}}", table=TABLES, form=["csv", "md", "tex"]),
    f"{OUT}/tables/all_tables.tex",
    *expand(f"{OUT}/figures/{{figure}}.{{form}}", figure=FIGURES, form=["pdf", "png"]),
]
# What the jobs cost and where they ran: not results, for they differ from run to run.
ACCOUNTS = [f"{OUT}/accounts/{name}" for name in ("steps.csv", "runtime.pdf", "runtime.png", "provenance.json")]
MANIFEST = f"{OUT}/manifest.json"


rule collect_runs:
    input:
        lambda wildcards: variants.paths(config, PLACES[wildcards.place]),
    output:
        runs=captioned("{place}/runs.csv", "runs", "Data"),
        checksum="{place}/runs.csv.sha256",
    log:
        "{place}/logs/collect_runs.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.collecting"),
        settings=lambda wildcards: as_json(SETTINGS[wildcards.place]),
        variant=lambda wildcards: ["--variant", PLACES[wildcards.place]] if PLACES[wildcards.place] else [],
    message:
        "Collect all runs in {wildcards.place}"
    shell:
        "clusterlets collect-runs --config {params.settings:q} {params.variant:q} --output {output.runs:q} > {log:q} 2>&1"


rule make_tables:
    input:
        f"{OUT}/runs.csv",
    output:
        [captioned(f"{OUT}/tables/{table}.{form}", table, "Tables") for table in TABLES for form in ("csv", "md", "tex")],
        captioned(f"{OUT}/tables/all_tables.tex", "all_tables", "Tables"),
    log:
        f"{OUT}/logs/make_tables.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.tables"),
        folder=subpath(output[0], parent=True),
    message:
        "Tables 1 to 5"
    shell:
        "clusterlets make-tables --runs {input:q} --output {params.folder:q} > {log:q} 2>&1"


rule compare_methods:
    input:
        f"{OUT}/runs.csv",
    output:
        [captioned(path, "statistics", "Tests") for path in STATISTICS],
    log:
        f"{OUT}/logs/compare_methods.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.statistics"),
        folder=subpath(output[0], parent=True),
    message:
        "Statistical tests and intervals"
    shell:
        "clusterlets compare-methods --runs {input:q} --output {params.folder:q} > {log:q} 2>&1"


rule check_reported:
    input:
        f"{OUT}/runs.csv",
    output:
        comparison=captioned(f"{OUT}/comparison.csv", "comparison", "Reported against reproduced"),
        counts=captioned(f"{OUT}/comparison_counts.csv", "comparison", "Reported against reproduced"),
    log:
        f"{OUT}/logs/check_reported.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.comparison"),
    message:
        "The paper's numbers beside ours"
    shell:
        "clusterlets check-reported --runs {input:q} --output {output.comparison:q} --counts {output.counts:q} > {log:q} 2>&1"


rule check_claims:
    input:
        f"{OUT}/runs.csv",
    output:
        claims=captioned(f"{OUT}/claims.csv", "claims", "Claims"),
        words=captioned(f"{OUT}/claims.md", "claims", "Claims"),
    log:
        f"{OUT}/logs/check_claims.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.claims"),
    message:
        "The paper's claims, by its numbers and by ours"
    shell:
        "clusterlets check-claims --runs {input:q} --output {output.claims:q} --words {output.words:q} > {log:q} 2>&1"


rule assess_sensitivity:
    input:
        runs=f"{OUT}/runs.csv",
        variants=[f"{place}/runs.csv" for place in PLACES if place != OUT],
    output:
        csv=captioned(f"{OUT}/sensitivity.csv", "sensitivity", "What each choice does"),
        text=captioned(f"{OUT}/sensitivity.md", "sensitivity", "What each choice does"),
    log:
        f"{OUT}/logs/assess_sensitivity.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.sensitivity"),
        settings=whole_configuration,
    message:
        "What each choice does"
    shell:
        "clusterlets assess-sensitivity --runs {input.runs:q} --config {params.settings:q}"
        " --output {output.csv:q} --text {output.text:q} > {log:q} 2>&1"


rule recover_clusters:
    input:
        kept_of_grid(),
        runs=f"{OUT}/runs.csv",
    output:
        composition=captioned(f"{OUT}/clusterings/composition.csv", "composition", "Figures"),
        projection=captioned(f"{OUT}/clusterings/projection.csv", "projection", "Figures"),
    log:
        f"{OUT}/logs/recover_clusters.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint(
            "steps.recovery",
            *(METHODS[name].__module__.removeprefix("clusterlets.") for name in sorted(MATCHERS)),
            libraries=["numpy", "pandas", "scikit-learn"],
        ),
        settings=whole_configuration,
        results=subpath(input.runs, parent=True),
    message:
        "The best clusterings, cluster by cluster"
    shell:
        "clusterlets recover-clusters --runs {input.runs:q} --config {params.settings:q} --results {params.results:q}"
        " --composition {output.composition:q} --projection {output.projection:q} > {log:q} 2>&1"


for module, figures in DRAWN_BY.items():

    rule:
        name:
            f"plot_{module}"
        input:
            runs=f"{OUT}/runs.csv",
            further=DRAWN_FROM.get(module, []),
        output:
            [captioned(f"{OUT}/figures/{figure}.{form}", figure, "Figures") for figure in figures for form in ("png", "pdf")],
        log:
            f"{OUT}/logs/plot_{module}.log",
        localrule: True
        conda:
            ANALYSIS
        params:
            code=analysis_fingerprint("steps.figures", f"report.figures.{module}"),
            folder=subpath(output[0], parent=True),
            module=module,
            further=lambda wildcards, input: ",".join(input.further),
        message:
            "Draw {params.module}"
        shell:
            "clusterlets plot --module {params.module:q} --runs {input.runs:q} --further={params.further:q}"
            " --output {params.folder:q} > {log:q} 2>&1"


rule account:
    input:
        before_the_report,
    output:
        [captioned(path, os.path.basename(path).split(".")[0], "Accounts") for path in ACCOUNTS],
    log:
        f"{OUT}/logs/account.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.accounts", libraries=LIBRARIES),
        settings=whole_configuration,
        fingerprints=fingerprints_of_rules,
        logs=",".join(f"{place}/logs" for place in PLACES),
        after="account,write_report,write_manifest",
        folder=subpath(output[0], parent=True),
    message:
        "Add up what the jobs cost"
    shell:
        "clusterlets account --config {params.settings:q} --logs {params.logs:q} --after {params.after:q}"
        ' --fingerprints {params.fingerprints:q} --lock "$LOCK" --output {params.folder:q} > {log:q} 2>&1'


rule write_report:
    input:
        ACCOUNTS,
        runs=f"{OUT}/runs.csv",
        datasets=f"{OUT}/datasets.csv",
        claims=f"{OUT}/claims.csv",
        sensitivity=f"{OUT}/sensitivity.csv",
        statistics=STATISTICS,
        figures=expand(f"{OUT}/figures/{{figure}}.png", figure=FIGURES),
    output:
        page=captioned(f"{OUT}/report.html", "report", "Report"),
        summary=captioned(f"{OUT}/summary.txt", "summary", "Report"),
    log:
        f"{OUT}/logs/write_report.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.report"),
        results=subpath(input.runs, parent=True),
        settings=whole_configuration,
    message:
        "Write the report"
    shell:
        "clusterlets write-report --runs {input.runs:q} --config {params.settings:q} --results {params.results:q}"
        " --output {output.page:q} --summary {output.summary:q} > {log:q} 2>&1"


rule write_manifest:
    input:
        before_the_report,
        rules.write_report.output,
    output:
        captioned(MANIFEST, "manifest", "Accounts"),
    log:
        f"{OUT}/logs/write_manifest.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.manifest", libraries=LIBRARIES),
        settings=whole_configuration,
        results=subpath(output[0], parent=True),
        # The cells follow from the settings: a command line has no room for thousands of names.
        files=lambda wildcards, input: ",".join(path.removeprefix(f"{OUT}/") for path in input),
    message:
        "Write down the hash of every result"
    shell:
        "clusterlets write-manifest --config {params.settings:q} --results {params.results:q} --files {params.files:q}"
        ' --lock "$LOCK" --output {output:q} > {log:q} 2>&1'
