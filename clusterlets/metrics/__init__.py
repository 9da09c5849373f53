"""Scores of a clustering, computed from arrays. Every score is one entry of ``clusterlets.metrics.all_scores.SCORES``.

The function of an entry takes the input that the score needs: :class:`clusterlets.metrics.pieces.Pieces`,
:class:`clusterlets.metrics.instances.Instances` or the costs in :mod:`clusterlets.metrics.prices`.

This file imports no scores, because every fit imports it together with ``instances``: a change of another score must not rerun
the fits.
"""

import clusterlets.installation  # noqa: F401
