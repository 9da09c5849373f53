"""Commands that need a clone: one module per command, whose ``main(arguments)`` returns the exit status."""
