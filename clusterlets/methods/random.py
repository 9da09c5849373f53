"""A random partition into parts of equal size."""

import numpy as np

from clusterlets.algorithms.instances import checked_instances
from clusterlets.methods import Method


class Random(Method):
    """Random parts of equal size."""

    name = "random"
    role = "baseline"
    guarantee = "fair on average, and no more cohesive than the table"
    cost = "negligible"
    stream = 5

    def fit(self, X, groups, n_clusters, random_state):
        checked_instances(X, groups, self.name, n_clusters)
        return random_state.permutation(np.arange(len(X)) % n_clusters)
