"""The algorithms of the methods, as functions on arrays. Only the cache of machine code touches files.

The functions check the tables that they get. The parameters of a method have already been checked against their declarations in
:mod:`clusterlets.methods`.
"""

import clusterlets.installation  # noqa: F401
