"""Lower bounds on what a fair clustering can cost, and how far a clustering is above them."""
