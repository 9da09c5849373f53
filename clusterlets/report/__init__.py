"""What people read: the verdict in sentences, the pages, and the figures."""

import clusterlets.installation  # noqa: F401

#: The limit on the largest deviation at which sentences, pages and figures compare all methods; one of the leaderboard's.
SHOWN_LIMIT = 0.05
