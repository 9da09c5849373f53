"""What people look at: the verdict in sentences, the page, and the figures."""

import clusterlets.installation  # noqa: F401
