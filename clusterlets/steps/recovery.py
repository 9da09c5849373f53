"""The step that describes the clusters of selected runs: their composition, and the positions of their rows in a plot."""

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from clusterlets.analysis import clusterings, selection
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.recovery import Clusters, IntermediateFiles, Run
from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.steps import Input, Output


def recover_clusters(runs: Input, config: str, results: str, composition: Output, projection: Output) -> None:
    """Write the composition of each dataset's best clusterings. For one dataset, write every matcher's clusters row by row.

    composition: one line for each cluster and group (.csv)
    projection: one line for each row and cluster (.csv)
    """
    all_runs, settings = read_runs(runs), json.loads(config)
    best_runs, matcher_runs = selection.best_runs(all_runs), clusterings.comparable_runs(all_runs)

    @functools.lru_cache(maxsize=1)  # one table at a time: the runs of a dataset follow each other
    def load_table(dataset: str) -> Prepared:
        return Prepared.load(str(Path(results) / f"prepared/{dataset}.npz"))

    frames = [
        clusterings.composition(row, clusters, load_table(row["dataset"]).group_names)
        for row, clusters in _recover(best_runs, settings, results)
    ]
    write_csv(composition, join(frames, clusterings.COMPOSITION))
    if len(matcher_runs):
        matcher_runs = matcher_runs[matcher_runs["dataset"] == clusterings.clearest_dataset(matcher_runs, load_table)]
    frames = [
        clusterings.projection(row, clusters, load_table(row["dataset"]))
        for row, clusters in _recover(matcher_runs, settings, results)
    ]
    write_csv(projection, join(frames, clusterings.PROJECTION))


def _recover(runs: pd.DataFrame, config: Mapping, results: str) -> Iterator[tuple[Mapping, Clusters]]:
    """Yield the row and the clusters of each run. Raises ClusterletsError if the row has the scores of other clusters."""
    files = IntermediateFiles(config, results)
    for row in runs.to_dict("records"):
        run = Run.from_row(row, config)
        clusters = files.clusters(run)
        clusters.check_against_row(row, config["deviation"], files.cell_file(run))
        yield row, clusters


def join(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Concatenate the frames. If there are none, the result has the given columns and no rows."""
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
