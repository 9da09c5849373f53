"""How clusterlets are joined into clusters. :mod:`clusterlets.methods` knows the matchers by name."""
