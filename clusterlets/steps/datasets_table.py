"""The step that writes the table of the prepared datasets."""

from pathlib import Path

from clusterlets.grid import datasets_table
from clusterlets.steps import Output
from clusterlets.storage import load_json, write_text


def list_data(datasets: str, prepared: str, text: Output, csv: Output) -> None:
    """List what every configured dataset is and where it came from, in one table.

    datasets: their ids, separated by commas
    prepared: folder of the prepared datasets
    text: table for reading, with the warnings below it (Markdown)
    csv: the same in full, without the warnings
    """
    descriptions = {name: load_json(Path(prepared) / f"{name}.json") for name in datasets.split(",")}
    write_text(text, datasets_table.listing(descriptions))
    rows = (datasets_table.row(name, description) for name, description in descriptions.items())
    write_text(csv, datasets_table.to_csv(rows))
