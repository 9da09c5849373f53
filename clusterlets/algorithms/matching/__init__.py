"""The matchers, which join clusterlets into clusters. :mod:`clusterlets.methods` lists them by name."""
