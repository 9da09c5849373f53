"""What figures share: colors, sizes, panels, legends, names that fit, and their files."""
