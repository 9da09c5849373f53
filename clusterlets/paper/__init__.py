"""What the paper printed and said, beside what came out here."""
