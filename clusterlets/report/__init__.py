"""What people look at: the verdict in sentences, the page, and the figures."""

import clusterlets.installation  # noqa: F401

#: The limit on the largest deviation, one of the leaderboard's, under which sentences, pages and figures compare all methods.
SHOWN_LIMIT = 0.05
