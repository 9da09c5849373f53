"""Where results come from and what they cost: manifest, accounts, versions and archive."""
