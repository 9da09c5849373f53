# collect_runs -> analyse, recover_clusters -> plot_* -> account -> write_report, write_leaderboard -> write_manifest.

TABLES = [
    "table1_matchers",
    "table2_best_by_deviation",
    "table2_by_configuration_mean",
    "table2_with_controls",
    "table3_best_by_cohesion",
    "table3_by_configuration_mean",
    "table3_with_controls",
    "table4_frac_vs_clusterlets",
    "table5_correlations",
]
# The tables that hold the rankings, in the order in which they are read.
RANKINGS = ["statistics", "blocks", "mean_ranks", "nemenyi"]
# The modules that draw, and the figures of each.
DRAWN_BY = {
    "critical_difference": [
        "figure1_critical_difference",
        "critical_difference_with_controls",
        "critical_difference_all_methods",
    ],
    "cohesion_vs_deviation": ["cohesion_vs_deviation"],
    "heatmaps": ["heatmaps"],
    "omega_effect": ["omega_effect"],
    "composition": ["composition"],
    "projection": ["projection"],
    "reported_vs_reproduced": ["reported_vs_reproduced"],
    "sensitivity": ["sensitivity"],
    "price_against_unfairness": ["price_against_unfairness"],
    "performance_profiles": ["performance_profiles"],
    "cost_at_limit": ["cost_at_limit"],
}
# What a module draws besides the runs.
DRAWN_FROM = {
    "critical_difference": [f"{OUT}/statistics/{name}.csv" for name in RANKINGS],
    "reported_vs_reproduced": [f"{OUT}/comparison.csv"],
    "sensitivity": [f"{OUT}/sensitivity.csv"],
    "composition": [f"{OUT}/clusterings/composition.csv"],
    "projection": [f"{OUT}/clusterings/projection.csv"],
    "price_against_unfairness": [f"{OUT}/leaderboard_points.csv"],
    "performance_profiles": [f"{OUT}/leaderboard.csv"],
    "cost_at_limit": [f"{OUT}/leaderboard.csv"],
}
FIGURES = [figure for figures in DRAWN_BY.values() for figure in figures]
STATISTICS = [
    f"{OUT}/statistics/{name}"
    for name in (*(f"{name}.csv" for name in (*RANKINGS, "wilcoxon", "intervals", "bayes", "held_out")), "statistics.md")
]
COMPARISONS = ["comparison", "comparison_counts"]
METHODS_TABLE = f"{OUT}/methods.csv"
LEADERBOARDS = [f"{OUT}/leaderboard{name}.csv" for name in ("", "_overall", "_points")]
RESULTS = [
    *expand(f"{OUT}/{{name}}", name=["datasets.csv", "runs.csv", "runs.csv.sha256", "report.html", "summary.txt"]),
    *expand(f"{OUT}/leaderboard.{{form}}", form=["html", "md"]),
    METHODS_TABLE,
    *LEADERBOARDS,
    *expand(f"{OUT}/{{name}}.csv", name=COMPARISONS),
    *expand(f"{OUT}/{{name}}.{{form}}", name=["claims", "sensitivity", "at_given_fairness"], form=["csv", "md"]),
    *expand(f"{OUT}/clusterings/{{name}}.csv", name=["composition", "projection"]),
    *STATISTICS,
    *expand(f"{OUT}/tables/{{table}}.{{form}}", table=TABLES, form=["csv", "md", "tex"]),
    f"{OUT}/tables/all_tables.tex",
    *expand(f"{OUT}/figures/{{figure}}.{{form}}", figure=FIGURES, form=["pdf", "png"]),
]
# What the jobs cost and where they ran: not results, for they differ from run to run.
ACCOUNTS = [
    *expand(f"{OUT}/accounts/{{name}}.csv", name=["steps", "fits", "leaderboard_costs"]),
    *expand(f"{OUT}/accounts/{{name}}.{{form}}", name=["runtime", "seconds_against_rows"], form=["pdf", "png"]),
    f"{OUT}/accounts/provenance.json",
]
MANIFEST = f"{OUT}/manifest.json"


rule collect_runs:
    input:
        plan.run_files,
    output:
        output=captioned("{place}/runs.csv", "runs", "Data"),
        checksum="{place}/runs.csv.sha256",
    log:
        "{place}/logs/collect_runs.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.collecting"),
        config=plan.folder_settings,
        variant=plan.variant_of,
    message:
        "Collect all runs in {wildcards.place}"
    shell:
        shell_line("collect-runs", "variant")


rule analyse:
    input:
        runs=f"{OUT}/runs.csv",
        variants=[f"{place}/runs.csv" for place in plan.variant_folders if place != OUT],
        geometry=expand(GEOMETRY, base=OUT, dataset=config["datasets"]),
    output:
        [captioned(f"{OUT}/tables/{table}.{form}", table, "Tables") for table in TABLES for form in ("csv", "md", "tex")],
        captioned(f"{OUT}/tables/all_tables.tex", "all_tables", "Tables"),
        [captioned(path, "statistics", "Tests") for path in STATISTICS],
        captioned(METHODS_TABLE, "methods", "Tests"),
        [captioned(path, "leaderboard", "Leaderboard") for path in LEADERBOARDS],
        [captioned(f"{OUT}/{name}.csv", "comparison", "Reported against reproduced") for name in COMPARISONS],
        [captioned(f"{OUT}/at_given_fairness.{form}", "at_given_fairness", "Tests") for form in ("csv", "md")],
        [captioned(f"{OUT}/claims.{form}", "claims", "Claims") for form in ("csv", "md")],
        [captioned(f"{OUT}/sensitivity.{form}", "sensitivity", "Sensitivity analysis") for form in ("csv", "md")],
    log:
        f"{OUT}/logs/analyse.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.analysis"),
        config=whole_configuration,
        output=subpath(input.runs, parent=True),
    message:
        "Tables, tests, and the paper's numbers and claims beside ours"
    shell:
        shell_line("analyse")


rule recover_clusters:
    input:
        plan.recovery_inputs(),
        runs=f"{OUT}/runs.csv",
    output:
        composition=captioned(f"{OUT}/clusterings/composition.csv", "composition", "Figures"),
        projection=captioned(f"{OUT}/clusterings/projection.csv", "projection", "Figures"),
    log:
        f"{OUT}/logs/recover_clusters.log",
    conda:
        ANALYSIS
    params:
        code=plan.recovery_fingerprint(),
        config=whole_configuration,
        results=subpath(input.runs, parent=True),
    message:
        "The best clusterings, cluster by cluster"
    shell:
        shell_line("recover-clusters")


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
            output=subpath(output[0], parent=True),
            module=module,
            further=lambda wildcards, input: ",".join(input.further),
        message:
            "Draw {params.module}"
        shell:
            shell_line("plot", "further")


rule account:
    input:
        report_inputs,
        datasets=f"{OUT}/datasets.csv",
    output:
        [captioned(path, os.path.basename(path).split(".")[0], "Accounts") for path in ACCOUNTS],
    log:
        f"{OUT}/logs/account.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.accounts", libraries=LIBRARIES),
        config=whole_configuration,
        fingerprints=rule_fingerprints,
        logs=",".join(f"{place}/logs" for place in plan.variant_folders),
        after="account,write_report,write_leaderboard,write_manifest",
        output=subpath(output[0], parent=True),
    message:
        "Add up what the jobs cost"
    shell:
        shell_line("account", lock='"$LOCK"')


rule write_report:
    input:
        ACCOUNTS,
        runs=f"{OUT}/runs.csv",
        datasets=f"{OUT}/datasets.csv",
        analysed=rules.analyse.output,
        figures=expand(f"{OUT}/figures/{{figure}}.png", figure=FIGURES),
    output:
        output=captioned(f"{OUT}/report.html", "report", "Report"),
        summary=captioned(f"{OUT}/summary.txt", "summary", "Report"),
    log:
        f"{OUT}/logs/write_report.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.report"),
        results=subpath(input.runs, parent=True),
        config=whole_configuration,
    message:
        "Write the report"
    shell:
        shell_line("write-report")


rule write_leaderboard:
    input:
        ACCOUNTS,
        expand(f"{OUT}/figures/{{figure}}.png", figure=["price_against_unfairness", "performance_profiles", "cost_at_limit"]),
        board=f"{OUT}/leaderboard.csv",
        overall=f"{OUT}/leaderboard_overall.csv",
        points=f"{OUT}/leaderboard_points.csv",
    output:
        output=captioned(f"{OUT}/leaderboard.html", "leaderboard", "Leaderboard"),
        summary=captioned(f"{OUT}/leaderboard.md", "leaderboard", "Leaderboard"),
    log:
        f"{OUT}/logs/write_leaderboard.log",
    conda:
        ANALYSIS
    params:
        code=analysis_fingerprint("steps.leaderboard"),
        config=whole_configuration,
        configfile=configfile_of_run(),
        results=subpath(input.board, parent=True),
    message:
        "Write the leaderboard"
    shell:
        shell_line("write-leaderboard")


rule write_manifest:
    input:
        report_inputs,
        rules.write_report.output,
        rules.write_leaderboard.output,
    output:
        output=captioned(MANIFEST, "manifest", "Accounts"),
    log:
        f"{OUT}/logs/write_manifest.log",
    conda:
        ANALYSIS
    params:
        code=step_fingerprint("steps.manifest", libraries=LIBRARIES),
        config=whole_configuration,
        results=subpath(output[0], parent=True),
        # The cells follow from the settings: a command line has no room for thousands of names.
        files=lambda wildcards, input: ",".join(path.removeprefix(f"{OUT}/") for path in input),
    message:
        "Write down the hash of every result"
    shell:
        shell_line("write-manifest", lock='"$LOCK"')
