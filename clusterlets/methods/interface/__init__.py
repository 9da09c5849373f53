"""What a method is, how methods are found and run, and how their parameters are checked."""

import clusterlets.installation  # noqa: F401
