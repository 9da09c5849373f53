"""The paper's numbers and claims, compared with ours."""

import clusterlets.installation  # noqa: F401
