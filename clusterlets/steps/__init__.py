"""The steps of the workflow, one module each: they read files, call functions and write files.

A step's parameter is annotated as :data:`Input` or :data:`Output` if it names a file that its rule reads or makes.
"""

import clusterlets.installation  # noqa: F401

#: Files that a rule reads and makes; the rule uses the parameter's name for them.
Input = str
Output = str
