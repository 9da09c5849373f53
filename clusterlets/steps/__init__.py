"""The steps of the workflow, one module each: they read files, call functions and write files.

A step's parameters are the options of its command. A parameter that names a file which the step's rule reads or makes is
annotated as :data:`Input` or :data:`Output`. The step's docstring explains its parameters, except the following, which mean
the same in every step:

data: the prepared dataset (.npz)
runs: every run of the grid (.csv)
config: the workflow's configuration, as JSON
results: folder of the results
dataset: name of the dataset, also part of the seeds of the random streams
method: the method's entry in the configuration, as JSON
k: requested number of clusters; of clusterlets, the number in each group
seeds: block of seeds, as in 0-9
base_seed: first part of the seeds of the random streams
exceeded_limits: the limits again, if an earlier run of the cell exceeded different limits
"""

import clusterlets.installation  # noqa: F401

#: Files that a rule reads and makes; the rule uses the parameter's name for them.
Input = str
Output = str
