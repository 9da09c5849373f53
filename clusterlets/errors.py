"""The one exception that is meant for people."""


class ClusterletsError(Exception):
    """Something a person can mend: the message says what was wrong, where, and what to do next.

    The command line prints the message without a traceback and exits with status 1.
    """
