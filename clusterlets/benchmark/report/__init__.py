"""What people read: answers in sentences, the pages, and the figures."""

#: The limit on the deviation at which sentences and figures compare methods. It is one of the leaderboard's limits.
SHOWN_LIMIT = 0.05
