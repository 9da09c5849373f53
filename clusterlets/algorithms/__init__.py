"""The algorithms of the methods, as functions on arrays. Only the cache of machine code touches files.

The functions check the tables that they get, but not the parameters of a method: these have been checked before, against their
declarations in :mod:`clusterlets.methods`.
"""

import clusterlets.installation  # noqa: F401
