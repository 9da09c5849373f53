"""The steps of the workflow, one module each: they read files, call functions and write files.

The parameters of a step are the options of its command. Files that the step's rule reads or makes are annotated as
:data:`Input` or :data:`Output`. The step's docstring explains its parameters, except these, which mean the same in every step:

data: the prepared dataset (.npz)
runs: every run of the grid (.csv)
config: the workflow's configuration, as JSON
results: folder of the results
dataset: name of the dataset, also part of the seeds of the random streams
method: the method's entry in the configuration, as JSON
k: requested number of clusters; of clusterlets, the number in each group
seeds: batch of seeds, as in 0-9
base_seed: first part of the seeds of the random streams
exceeded_budget: the budget to rerun the cell with, or empty if none of its fits ever exceeded one
"""

#: The steps. A module has the name of its step, and so has the function in it.
STEPS = (
    "fetch-dataset",
    "prepare-dataset",
    "prepare-user-table",
    "list-data",
    "measure-geometry",
    "measure-plain-cost",
    "extract-clusterlets",
    "sum-distances",
    "sample-partitions",
    "fit-method",
    "score-method",
    "collect-runs",
    "analyse",
    "plot",
    "account",
    "write-report",
    "write-leaderboard",
    "write-manifest",
)
#: Paths of the files that a rule reads and makes, under the same names.
Input = str
Output = str
