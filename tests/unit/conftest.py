"""A fixture that runs commands in the process of the test."""

import pytest

from clusterlets import __main__ as command_line


@pytest.fixture
def run(capsys):
    """A function that runs a command and returns its status, output and errors."""

    def run_command(*arguments):
        try:
            status = command_line.main(list(arguments))
        except SystemExit as exit_request:  # raised by argparse
            status = exit_request.code
        return status, *capsys.readouterr()

    return run_command
