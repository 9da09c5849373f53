"""What the figures share: colors, sizes, panels, legends, shortened names, and the writing of files."""
