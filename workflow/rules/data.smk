# fetch_dataset -> prepare_dataset -> measure_geometry: once a dataset.


def dataset_fingerprint(step):
    """Of a step, the dataset's own module, which is imported by name, and all that sources.yaml says of the dataset."""

    def of_wildcards(wildcards):
        known = describe(wildcards.dataset)
        code = step_fingerprint(f"benchmark.steps.{step}", f"datasets.{known['module']}", libraries=["numpy", "pandas"])
        return f"{code} {json.dumps(known, sort_keys=True)}"

    return of_wildcards


rule fetch_dataset:
    output:
        "data/raw/{dataset}/receipt.json",
    params:
        code=dataset_fingerprint("fetching"),
    log:
        f"{OUT}/logs/fetch_dataset/{{dataset}}.log",
    message:
        "Fetch {wildcards.dataset}"
    shell:
        "{STEP} fetch-dataset --dataset {wildcards.dataset} --raw-dir data/raw --receipt-path {output} > {log} 2>&1"


rule prepare_dataset:
    input:
        "data/raw/{dataset}/receipt.json",
    output:
        arrays="data/prepared/{dataset}.npz",
        summary="data/prepared/{dataset}.json",
    params:
        code=dataset_fingerprint("preparing"),
        scaling=config["scaling"],
    log:
        f"{OUT}/logs/prepare_dataset/{{dataset}}.log",
    message:
        "Prepare {wildcards.dataset}"
    shell:
        "{STEP} prepare-dataset --dataset {wildcards.dataset} --raw-dir data/raw --receipt-path {input}"
        " --scaling {params.scaling} --npz-path {output.arrays} --json-path {output.summary} > {log} 2>&1"


rule measure_geometry:
    input:
        "data/prepared/{dataset}.npz",
    output:
        f"{OUT}/geometry/{{dataset}}.json",
    params:
        code=step_fingerprint("benchmark.steps.geometry"),
    log:
        f"{OUT}/logs/measure_geometry/{{dataset}}.log",
    message:
        "Measure the largest distance of {wildcards.dataset}"
    shell:
        "{STEP} measure-geometry --data {input} --output {output} > {log} 2>&1"
