"""What the runs say, whoever asks: which of them enter, rankings and tests, and the clusterings to be shown."""
