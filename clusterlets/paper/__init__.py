"""The paper's numbers and claims, compared with our results."""

import clusterlets.installation  # noqa: F401
