"""The paper's numbers and claims, compared with ours."""

import clusterlets.errors  # noqa: F401  # refuses a mixed installation
