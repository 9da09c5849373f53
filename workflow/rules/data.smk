# Datasets: fetch_dataset -> prepare_dataset. Users' tables: prepare_user_table. Both -> measure_geometry, measure_plain_cost,
# list_data.

DATA_LIST = f"{OUT}/datasets.md"


# Both rules match a user's table.
ruleorder: prepare_user_table > prepare_dataset


rule fetch_dataset:
    output:
        receipt_path="data/raw/{dataset}/receipt.json",
    log:
        f"{OUT}/logs/fetch_dataset/{{dataset}}.log",
    conda:
        FETCH
    params:
        **plan.fetch_code(),
    message:
        "Fetch {wildcards.dataset}"
    shell:
        "python -m clusterlets.benchmark.steps fetch-dataset "
        "--dataset={wildcards.dataset:q} --raw-dir=data/raw --receipt-path={output.receipt_path:q} "
        "> {log:q} 2>&1"


rule prepare_dataset:
    input:
        receipt_path=plan.receipt,
    output:
        npz_path=prepared_path("npz"),
        json_path=prepared_path("json"),
    log:
        "{tables_of}/logs/prepare_dataset/{dataset}.log",
    conda:
        FETCH
    params:
        **plan.prepare_code(),
        name=plan.table_setting("name"),
        sensitive=plan.table_setting("sensitive"),
        duplicates=plan.table_setting("duplicates"),
        scaling=plan.table_setting("scaling"),
    message:
        "Prepare {wildcards.dataset}"
    shell:
        "python -m clusterlets.benchmark.steps prepare-dataset "
        "--dataset={params.name:q} --raw-dir=data/raw --receipt-path={input.receipt_path:q} "
        "--sensitive={params.sensitive:q} --duplicates={params.duplicates:q} --scaling={params.scaling:q} "
        "--npz-path={output.npz_path:q} --json-path={output.json_path:q} "
        "> {log:q} 2>&1"


# The table is not an input, but its hash is a parameter. Snakemake compares inputs by time, so it would not notice that an
# older table has replaced a newer one. It would also read braces in the table's name as wildcards.
rule prepare_user_table:
    output:
        npz_path=prepared_path("npz"),
        json_path=prepared_path("json"),
    log:
        "{tables_of}/logs/prepare_user_table/{dataset}.log",
    wildcard_constraints:
        dataset=plan.user_tables_constraint(),
    conda:
        FETCH
    params:
        **parameters(step_code("benchmark.steps.prepare_user_table")),
        name=plan.table_setting("name"),
        table=plan.table_setting("path"),
        sha256=plan.user_table_hash,
        settings=plan.user_table_settings,
    message:
        "Read {wildcards.dataset} from {params.table}"
    shell:
        "python -m clusterlets.benchmark.steps prepare-user-table "
        "--name={params.name:q} --table={params.table:q} --sha256={params.sha256:q} --settings={params.settings:q} "
        "--npz-path={output.npz_path:q} --json-path={output.json_path:q} "
        "> {log:q} 2>&1"


rule measure_geometry:
    input:
        data=prepared_path("npz"),
    output:
        output=GEOMETRY,
    log:
        "{tables_of}/logs/measure_geometry/{dataset}.log",
    conda:
        CLUSTER
    params:
        **parameters(step_code("benchmark.steps.measure_geometry", libraries=COMPILED)),
        base_seed=config["base_seed"],
    message:
        "Measure the largest distance of {wildcards.dataset}"
    shell:
        "python -m clusterlets.benchmark.steps measure-geometry "
        "--data={input.data:q} --dataset={wildcards.dataset:q} --base-seed={params.base_seed:q} "
        "--output={output.output:q} "
        "> {log:q} 2>&1"


rule measure_plain_cost:
    input:
        data=prepared_path("npz"),
    output:
        output=PLAIN_COST,
    log:
        "{tables_of}/logs/measure_plain_cost/{dataset}/k{k}.log",
    conda:
        CLUSTER
    params:
        **parameters(step_code("benchmark.steps.measure_plain_cost", libraries=COMPILED)),
    message:
        "Run plain k-means on {wildcards.dataset}, k = {wildcards.k}"
    shell:
        "python -m clusterlets.benchmark.steps measure-plain-cost "
        "--data={input.data:q} --dataset={wildcards.dataset:q} --k={wildcards.k:q} --output={output.output:q} "
        "> {log:q} 2>&1"


rule list_data:
    input:
        [prepared_path("json", OUT, dataset) for dataset in config["datasets"]],
    output:
        text=reported(DATA_LIST, "Data"),
        csv=reported(f"{OUT}/datasets.csv", "Data"),
    log:
        f"{OUT}/logs/list_data.log",
    conda:
        FETCH
    params:
        **parameters(step_code("benchmark.steps.list_data")),
        datasets=",".join(config["datasets"]),
        prepared=subpath(input[0], parent=True),
    message:
        "List the prepared datasets"
    shell:
        "python -m clusterlets.benchmark.steps list-data "
        "--datasets={params.datasets:q} --prepared={params.prepared:q} --text={output.text:q} --csv={output.csv:q} "
        "> {log:q} 2>&1"
