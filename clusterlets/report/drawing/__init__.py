"""What the figures share: their style, names, and how they are saved."""
