"""The configured runs: their configuration, cells, files, fingerprints, fits, scores and costs."""
