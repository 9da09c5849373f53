"""The paper's numbers and claims, compared with our results."""
