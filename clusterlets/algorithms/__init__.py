"""The algorithms of the methods, as functions on arrays. Only the cache of machine code touches files."""

import clusterlets.installation  # noqa: F401
