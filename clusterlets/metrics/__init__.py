"""Scores of a clustering, from arrays: every score is one entry of a table, ``clusterlets.metrics.table.SCORES``.

The entries' functions take what they are computed from: :class:`clusterlets.metrics.pieces.Pieces`,
:class:`clusterlets.metrics.instances.Instances` or the costs in :mod:`clusterlets.metrics.prices`.

This file imports no scores, because every fit depends on those of instances, and must not depend on the others too.
"""

import clusterlets.installation  # noqa: F401
