# fetch_dataset -> prepare_dataset, or prepare_user_table -> measure_geometry: once a table; list_data sums them up.

USER_TABLES = [dataset for dataset, settings in config["tables"].items() if "path" in settings]
DATA_LIST = f"{OUT}/datasets.md"
GEOMETRY = "{base}/geometry/{dataset}.json"


ruleorder: prepare_user_table > prepare_dataset


rule fetch_dataset:
    output:
        receipt_path="data/raw/{dataset}/receipt.json",
    log:
        f"{OUT}/logs/fetch_dataset/{{dataset}}.log",
    conda:
        FETCH
    params:
        code=dataset_fingerprint("fetching", lambda wildcards: wildcards.dataset, libraries=[]),
    message:
        "Fetch {wildcards.dataset}"
    shell:
        shell_line("fetch-dataset", raw_dir="data/raw")


rule prepare_dataset:
    input:
        receipt_path=lambda wildcards: f"data/raw/{table_settings(wildcards)['name']}/receipt.json",
    output:
        npz_path=prepared("npz"),
        json_path=prepared("json"),
    log:
        "{base}/logs/prepare_dataset/{dataset}.log",
    conda:
        FETCH
    params:
        code=dataset_fingerprint("preparing", lambda wildcards: table_settings(wildcards)["name"], ["numpy", "pandas"]),
        name=lambda wildcards: table_settings(wildcards)["name"],
        sensitive=lambda wildcards: "+".join(table_settings(wildcards)["sensitive"]),
        duplicates=lambda wildcards: table_settings(wildcards)["duplicates"],
        scaling=lambda wildcards: table_settings(wildcards)["scaling"],
    message:
        "Prepare {wildcards.dataset}"
    shell:
        shell_line("prepare-dataset", "sensitive", "duplicates", dataset="{params.name:q}", raw_dir="data/raw")


# Its content decides whether the table is read again, and so is a parameter and no input: of an input Snakemake compares times, and
# would not see an older file in the place of a newer one; and it takes braces in a name for wildcards.
rule prepare_user_table:
    output:
        npz_path=prepared("npz"),
        json_path=prepared("json"),
    log:
        "{base}/logs/prepare_user_table/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(map(re.escape, USER_TABLES)) or "(?!)",
    conda:
        FETCH
    params:
        code=step_fingerprint("steps.user_table"),
        name=lambda wildcards: table_settings(wildcards)["name"],
        table=lambda wildcards: table_settings(wildcards)["path"],
        sha256=lambda wildcards: content_of_user_table(table_settings(wildcards)["path"]),
        settings=lambda wildcards: json.dumps(
            {key: table_settings(wildcards)[key] for key in ("sensitive", "features", "separator", "scaling")}
        ),
    message:
        "Read {wildcards.dataset} from {params.table}"
    shell:
        shell_line("prepare-user-table", "sha256")


rule measure_geometry:
    input:
        data=prepared("npz"),
    output:
        output=GEOMETRY,
    log:
        "{base}/logs/measure_geometry/{dataset}.log",
    conda:
        CLUSTER
    params:
        code=step_fingerprint("steps.geometry", libraries=COMPILED),
        base_seed=config["base_seed"],
    message:
        "Measure the largest distance of {wildcards.dataset}"
    shell:
        shell_line("measure-geometry")


rule list_data:
    input:
        expand(prepared("json"), base=OUT, dataset=config["datasets"]),
    output:
        text=captioned(DATA_LIST),
        csv=captioned(f"{OUT}/datasets.csv"),
    log:
        f"{OUT}/logs/list_data.log",
    conda:
        FETCH
    params:
        code=step_fingerprint("steps.datasets_table"),
        datasets=",".join(config["datasets"]),
        prepared=subpath(input[0], parent=True),
    message:
        "List the prepared datasets"
    shell:
        shell_line("list-data")
