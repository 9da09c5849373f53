"""Lower bounds on the cost of every fair clustering, and how far the cost of a given clustering is above such a bound."""

import clusterlets.installation  # noqa: F401
