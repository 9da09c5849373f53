"""The picture of ``clusterlets cluster --plot``: what each cluster is made of, and where the clusters lie."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from clusterlets.estimators.plots import LISTED, draw_composition, draw_projection
from clusterlets.report.figures.names import cut
from clusterlets.storage import write_bytes

_LONGEST = 18  # letters of a name in the legend, so that six have room beside each other


def draw(path: str, X: np.ndarray, labels: np.ndarray, composition: pd.DataFrame, colour_counts: np.ndarray) -> None:
    """Write the picture, whole or not at all, in the format that the end of its name says.

    Parameters
    ----------
    path : str
        Ends in .png, .pdf or .svg.
    X : float array (n, d)
        Instances, as they were clustered.
    labels : int array (n,)
        Cluster of each.
    composition : DataFrame (C, K)
        Instances of each colour in each cluster.
    colour_counts : int array (K,)
        Instances of each colour in the table.
    """
    height = float(np.clip(1.2 + 0.2 * len(composition), 4.8, 11))
    figure = Figure(figsize=(12.5, height), layout="constrained")
    bars, points = figure.subplots(1, 2, width_ratios=(1, 1.15))
    draw_composition(bars, composition.to_numpy(), composition.index, colour_counts / colour_counts.sum())
    draw_projection(points, X, labels)
    if composition.shape[1] <= LISTED:
        names = [cut(name, _LONGEST) for name in composition.columns]  # by hand, as matplotlib leaves out "_name"
        figure.legend(bars.containers, names, loc="outside upper left", ncols=min(len(names), 6), frameon=False)
    content = io.BytesIO()
    metadata = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}[Path(path).suffix]
    with rc_context({"svg.hashsalt": "clusterlets"}):  # names of parts, which would be random
        figure.savefig(content, format=Path(path).suffix[1:], dpi=150, metadata=metadata)
    write_bytes(path, content.getvalue())
