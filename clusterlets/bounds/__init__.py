"""Lower bounds on what a fair clustering can cost, and how far a clustering is above them."""

import clusterlets.installation  # noqa: F401
