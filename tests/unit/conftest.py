"""A fixture that runs commands in the process of the test."""

import pytest

from clusterlets import __main__ as command_line


@pytest.fixture
def run(capsys):
    """Run a command; returns its status, output and errors."""

    def run_command(*arguments):
        try:
            status = command_line.main(list(arguments))
        except SystemExit as end:  # argparse
            status = end.code
        return status, *capsys.readouterr()

    return run_command
