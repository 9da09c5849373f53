"""The small datasets in scikit-learn's package: breast cancer (diagnostic), wine, iris and digits.

They are UCI datasets 17, 109, 53 and 80. Each class is a group. Names and order of features are scikit-learn's.
"""

import csv
import gzip
from pathlib import Path

import numpy as np

from clusterlets.tables.table import BadData, Table

_NUCLEUS_FEATURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
_FEATURES = {
    "breast_cancer.csv": (
        *(f"mean {feature}" for feature in _NUCLEUS_FEATURES),
        *(f"{feature} error" for feature in _NUCLEUS_FEATURES),
        *(f"worst {feature}" for feature in _NUCLEUS_FEATURES),
    ),
    "wine_data.csv": tuple(
        (
            "alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols proanthocyanins "
            "color_intensity hue od280/od315_of_diluted_wines proline"
        ).split()
    ),
    "iris.csv": ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"),
    "digits.csv.gz": tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
}


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except the last, which holds the class codes.

    The first line is ``n,d,class names``. Only the file of digits, which is compressed, has no such line.
    """
    ((name, path),) = paths.items()
    is_digits = path.suffix == ".gz"
    try:
        with gzip.open(path, "rt") if is_digits else open(path, encoding="utf-8") as file:
            classes = [str(digit) for digit in range(10)] if is_digits else next(csv.reader(file))[2:]
            values = np.loadtxt(file, delimiter=",", ndmin=2)
    except (ValueError, OSError, EOFError, StopIteration) as error:
        raise BadData(f"{name} cannot be read ({error}).") from None
    if values.shape[1] != len(_FEATURES[name]) + 1:
        raise BadData(f"{name}: {values.shape[1]} columns where {len(_FEATURES[name]) + 1} are expected.")
    groups = values[:, -1].astype(np.int64)
    if not np.isin(values[:, -1], range(len(classes))).all():
        raise BadData(f"{name}: the last column must hold the codes 0..{len(classes) - 1} of the classes.")
    return Table(values[:, :-1], groups, _FEATURES[name], tuple(zip(classes)))
