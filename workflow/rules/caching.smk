# Snakemake's cache between workflows (--cache, SNAKEMAKE_OUTPUT_CACHE; see docs/running.md). Snakemake would store every result
# of a rule with the directive "cache". This file restricts it to results that depend on nothing but the job's parameters.

import os
from pathlib import Path

from snakemake.exceptions import CacheMissException

from clusterlets.grid import budget_records
from clusterlets.storage import is_intact


def restrict_cache(rule_object):
    store, fetch = rule_object.cache.store, rule_object.cache.fetch
    can_exceed_budget = rule_object.params.get("exceeded_budget") is not None  # only rules that run methods have it

    async def store_reproducible(job):
        if plan.is_cacheable(job.wildcards) and (not can_exceed_budget or budget_records.is_reproducible(job.output[0])):
            await store(job)

    async def fetch_reproducible(job):
        if not plan.is_cacheable(job.wildcards):
            raise CacheMissException(f"{job} may depend on more than its parameters.")
        try:
            await fetch(job)
            if not all(map(is_intact, job.output)):
                raise CacheMissException(f"A file of {job} in the cache is damaged.")
        except CacheMissException:
            # Remove a damaged file and its link. If the link stayed, Snakemake would later store it in place of the file.
            for output in filter(os.path.islink, job.output):
                Path(output).resolve().unlink(missing_ok=True)
                Path(output).unlink()
            raise
        if can_exceed_budget:  # a cell that exceeded its budget is not in the cache
            budget_records.record(job.output[0], has_exceeded=False, budget=plan.budget, parameter=job.params.exceeded_budget)

    rule_object.cache.store, rule_object.cache.fetch = store_reproducible, fetch_reproducible


for rule_object in workflow.rules:
    if rule_object.cache and rule_object.cache.output:
        restrict_cache(rule_object)
