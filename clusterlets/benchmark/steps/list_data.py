"""The step that writes the table of the prepared datasets."""

from pathlib import Path

from clusterlets.benchmark.grid import datasets_list
from clusterlets.benchmark.steps import Output
from clusterlets.storage import load_json, write_text


def list_data(datasets: str, prepared: str, text: Output, csv: Output) -> None:
    """Write a table of the configured datasets: what they are and where they come from.

    datasets: ids of the datasets, separated by commas
    prepared: folder of the prepared datasets
    text: the table, cut to fit a terminal, and the warnings (Markdown)
    csv: the whole table, without the warnings
    """
    descriptions = {name: load_json(Path(prepared) / f"{name}.json") for name in datasets.split(",")}
    write_text(text, datasets_list.listing(descriptions))
    rows = (datasets_list.row(name, description) for name, description in descriptions.items())
    write_text(csv, datasets_list.to_csv(rows))
