"""The statuses of a fit and of a run."""

OK = "ok"
INFEASIBLE = "infeasible"
NO_VALID_PARTITION = "no_valid_partition"
UNSUPPORTED = "unsupported"
TIMEOUT = "timeout"
OUT_OF_MEMORY = "out_of_memory"
NOT_CONVERGED = "not_converged"
FAILED = "failed"
#: Statuses of a fit that exceeded its budget.
BUDGET_EXCEEDED = (TIMEOUT, OUT_OF_MEMORY)
#: Statuses of a run whose method was never called.
NEVER_FITTED = (INFEASIBLE, UNSUPPORTED)
