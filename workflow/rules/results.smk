# collect_runs -> analyse -> write_leaderboard, plot_* -> account -> write_report -> write_manifest.

# The names in clusterlets.benchmark.analysis.statistics.TABLES. Importing that module here would load SciPy.
RANKING_TABLES = ["statistics", "blocks", "mean_ranks", "nemenyi"]
STATISTICS = [
    *expand(f"{OUT}/statistics/{{name}}.csv", name=[*RANKING_TABLES, "wilcoxon"]),
    f"{OUT}/statistics/statistics.md",
]
# What judges the paper is made only for grids with any of its datasets.
PAPER = plan.has_paper_data
COMPARISONS = ["comparison", "shares", "readings"] if PAPER else []
CLAIMS = ["claims.csv", "claims.md"] if PAPER else []
SENSITIVITY = ["sensitivity.csv", "sensitivity.md"] if PAPER else []
METHODS_TABLE = f"{OUT}/methods.csv"
LEADERBOARDS = [f"{OUT}/leaderboard{name}.csv" for name in ("", "_overall", "_pairs", "_points")]
ANALYSED = [
    *STATISTICS,
    METHODS_TABLE,
    *LEADERBOARDS,
    *(f"{OUT}/{name}.csv" for name in COMPARISONS),
    *(f"{OUT}/{name}" for name in [*CLAIMS, *SENSITIVITY]),
]
# The figures of each file in clusterlets/benchmark/report/figures, if all that they are drawn from is made.
DRAWN = {
    name: declarations
    for name, declarations in figures.by_module().items()
    if {f"{OUT}/{path}" for figure in declarations for path in figure.reads} <= {f"{OUT}/runs.csv", *ANALYSED}
}
FIGURES = [f"{OUT}/{file}" for declarations in DRAWN.values() for figure in declarations for file in figure.files("pdf", "png")]
# All results except the pages, which also need the accounts.
RESULTS_EXCEPT_PAGES = [
    *expand(f"{OUT}/{{name}}", name=["datasets.csv", "runs.csv", "runs.csv.sha256"]),
    *ANALYSED,
    *expand(f"{OUT}/tables/{{table}}.{{suffix}}", table=NAMES_OF_TABLES, suffix=["csv", "md", "tex"]),
    f"{OUT}/tables/all_tables.tex",
    *FIGURES,
    DATA_LIST,
]
PAGES = [f"{OUT}/{name}" for name in ("report.html", "summary.txt", "leaderboard.md")]
# What the jobs cost and where they ran. These are not results, because they differ from run to run.
ACCOUNTS = [
    *expand(f"{OUT}/accounts/{{name}}.csv", name=["steps", "fits", "leaderboard_costs"]),
    f"{OUT}/accounts/provenance.json",
]
MANIFEST = f"{OUT}/manifest.json"


rule collect_runs:
    input:
        plan.run_files,
        plan.plain_costs,
    output:
        output=reported("{cells_of}/runs.csv", "Data"),
        checksum="{cells_of}/runs.csv.sha256",
    log:
        "{cells_of}/logs/collect_runs.log",
    conda:
        ANALYSIS
    params:
        **parameters(step_code("benchmark.steps.collect_runs")),
        config=plan.folder_settings,
        variant=plan.variant_of,
    message:
        "Collect all runs in {wildcards.cells_of}"
    shell:
        "python -m clusterlets.benchmark.steps collect-runs "
        "--config={params.config:q} --variant={params.variant:q} --output={output.output:q} "
        "> {log:q} 2>&1"


rule analyse:
    input:
        runs=f"{OUT}/runs.csv",
        variants=[f"{folder}/runs.csv" for folder in plan.variant_folders if folder != OUT],
        geometry=expand(GEOMETRY, tables_of=OUT, dataset=config["datasets"]),
    output:
        [reported(f"{OUT}/tables/{table}.{suffix}", "Tables") for table in NAMES_OF_TABLES for suffix in ("csv", "md", "tex")],
        reported(f"{OUT}/tables/all_tables.tex", "Tables"),
        [reported(path, "Tests") for path in STATISTICS],
        reported(METHODS_TABLE, "Tests"),
        [reported(path, "Leaderboard") for path in LEADERBOARDS],
        [reported(f"{OUT}/{name}.csv", "Reported against reproduced") for name in COMPARISONS],
        [reported(f"{OUT}/{name}", "Claims") for name in CLAIMS],
        [reported(f"{OUT}/{name}", "Sensitivity analysis") for name in SENSITIVITY],
    log:
        f"{OUT}/logs/analyse.log",
    conda:
        ANALYSIS
    params:
        **parameters(analysis_code("benchmark.steps.analyse")),
        config=grid_settings,
        output=subpath(input.runs, parent=True),
    message:
        "Make tables and tests, and compare the paper's numbers and claims with ours"
    shell:
        "python -m clusterlets.benchmark.steps analyse "
        "--runs={input.runs:q} --config={params.config:q} --output={params.output:q} "
        "> {log:q} 2>&1"


for module, declarations in DRAWN.items():

    rule:
        name:
            f"plot_{module}"
        input:
            [f"{OUT}/{path}" for path in dict.fromkeys(path for figure in declarations for path in figure.reads)],
        output:
            [reported(f"{OUT}/{file}", "Figures") for figure in declarations for file in figure.files("png", "pdf")],
        log:
            f"{OUT}/logs/plot_{module}.log",
        localrule: True
        conda:
            ANALYSIS
        params:
            **parameters(analysis_code("benchmark.steps.plot", f"benchmark.report.figures.{module}")),
            results=subpath(output[0], ancestor=2),
            module=module,
        message:
            "Draw {params.module}"
        shell:
            "python -m clusterlets.benchmark.steps plot "
            "--module={params.module:q} --results={params.results:q} "
            "> {log:q} 2>&1"


rule account:
    input:
        RESULTS_EXCEPT_PAGES,
    output:
        [reported(path, "Accounts") for path in ACCOUNTS],
    log:
        f"{OUT}/logs/account.log",
    conda:
        ANALYSIS
    resources:
        # Not a parameter, because other options after --config must not make the accounts again.
        config_options=lambda wildcards: json.dumps(list(workflow.config_settings.config_args or [])),
    params:
        **parameters(step_code("benchmark.steps.account", "benchmark.provenance.accounts", libraries=LIBRARIES)),
        config=grid_settings,
        configfiles=lambda wildcards: json.dumps(CONFIGFILES),
        logs=",".join(f"{folder}/logs" for folder in plan.variant_folders),
        # The logs of these rules are not complete yet.
        ignored_rules=",".join(["account", "write_report", "write_leaderboard", "write_manifest"]),
        output=subpath(output[0], parent=True),
    message:
        "Add up what the jobs cost"
    shell:
        "python -m clusterlets.benchmark.steps account "
        "--config={params.config:q} --configfiles={params.configfiles:q} "
        "--config-options={resources.config_options:q} --logs={params.logs:q} "
        "--ignored-rules={params.ignored_rules:q} --output={params.output:q} "
        "> {log:q} 2>&1"


rule write_report:
    input:
        ACCOUNTS,
        runs=f"{OUT}/runs.csv",
        datasets=f"{OUT}/datasets.csv",
        analysed=rules.analyse.output,
        figures=[path for path in FIGURES if path.endswith(".png")],
    output:
        output=reported(f"{OUT}/report.html", "Report"),
        summary=reported(f"{OUT}/summary.txt", "Report"),
    log:
        f"{OUT}/logs/write_report.log",
    conda:
        ANALYSIS
    params:
        **parameters(analysis_code("benchmark.steps.write_report")),
        results=subpath(input.runs, parent=True),
        config=grid_settings,
    message:
        "Write the report"
    shell:
        "python -m clusterlets.benchmark.steps write-report "
        "--config={params.config:q} --results={params.results:q} --output={output.output:q} "
        "--summary={output.summary:q} "
        "> {log:q} 2>&1"


rule write_leaderboard:
    input:
        board=f"{OUT}/leaderboard.csv",
        overall=f"{OUT}/leaderboard_overall.csv",
        pairs=f"{OUT}/leaderboard_pairs.csv",
    output:
        output=reported(f"{OUT}/leaderboard.md", "Leaderboard"),
    log:
        f"{OUT}/logs/write_leaderboard.log",
    conda:
        ANALYSIS
    params:
        **parameters(analysis_code("benchmark.steps.write_leaderboard")),
        config=grid_settings,
        # The leaderboard shows a command with one --configfile.
        configfile=lambda wildcards: CONFIGFILES[-1] if CONFIGFILES else "",
    message:
        "Write the leaderboard"
    shell:
        "python -m clusterlets.benchmark.steps write-leaderboard "
        "--board={input.board:q} --overall={input.overall:q} --pairs={input.pairs:q} --config={params.config:q} "
        "--configfile={params.configfile:q} --output={output.output:q} "
        "> {log:q} 2>&1"


rule write_manifest:
    input:
        RESULTS_EXCEPT_PAGES,
        PAGES,
    output:
        output=reported(MANIFEST, "Accounts"),
    log:
        f"{OUT}/logs/write_manifest.log",
    conda:
        ANALYSIS
    params:
        **parameters(step_code("benchmark.steps.write_manifest", "benchmark.provenance.libraries", libraries=LIBRARIES)),
        config=grid_settings,
        user_files=lambda wildcards: plan.user_files(),
        results=subpath(output[0], parent=True),
        # Cells are left out, because a command line has no room for thousands of names. The step derives their
        # paths from the settings.
        files=lambda wildcards, input: ",".join(path.removeprefix(f"{OUT}/") for path in input),
    message:
        "Record the hash of every result"
    shell:
        "python -m clusterlets.benchmark.steps write-manifest "
        "--config={params.config:q} --results={params.results:q} --files={params.files:q} "
        "--user-files={params.user_files:q} --output={output.output:q} "
        "> {log:q} 2>&1"
