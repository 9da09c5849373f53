"""What people read: the verdict in sentences, the pages, and the figures."""

import clusterlets.installation  # noqa: F401

#: The one of the leaderboard's limits on the largest deviation at which sentences and figures compare methods.
SHOWN_LIMIT = 0.05
