"""The steps of the workflow, a module each: they read files, call functions and write files.

A parameter of a step is annotated as :data:`Input` or :data:`Output` where it names a file that its rule reads or makes.
"""

#: Files that a rule reads and makes; in the rule they go by the parameter's name.
Input = str
Output = str
