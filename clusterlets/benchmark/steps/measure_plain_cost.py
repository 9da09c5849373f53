"""The step that runs plain k-means from many starts. Prices are ratios to the least cost."""

from clusterlets.algorithms import plain_costs
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.benchmark.steps import Input, Output
from clusterlets.storage import save_json


def measure_plain_cost(data: Input, dataset: str, k: int, output: Output) -> None:
    """Write the least cost of plain k-means on a prepared dataset.

    output: the cost, and the number of starts (JSON)
    """
    costs = plain_costs.plain_costs(Prepared.load(data).X, k)
    save_json(output, {"dataset": dataset, "k": k, "starts": len(costs), "cost": float(costs.min())})
