"""What people look at: the verdict in sentences, the page, and the figures."""

import clusterlets.errors  # noqa: F401  # refuses a mixed installation
