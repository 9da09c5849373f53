"""The steps of the workflow, a module each: they read files, call functions and write files."""
