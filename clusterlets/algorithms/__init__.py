"""The algorithms of the methods, as functions on arrays. Only the cache of machine code touches files.

Functions check tables. Parameters of a method are checked where they come in, by their declarations in
:mod:`clusterlets.methods`; here they are taken as they are.
"""

import clusterlets.installation  # noqa: F401
