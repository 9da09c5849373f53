"""The cluster profiles put all rules that they submit into groups. A rule in no group would cost a submission for every job."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ["slurm", "cluster-generic"]


def profile(name):
    return yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rules():
    """The names of all rules of the workflow."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--list-rules"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(process.stdout.split())


@pytest.fixture(scope="module")
def local_rules(rules):
    """The names of the rules that are never submitted. They run on the machine of Snakemake, or run nothing."""
    (names,) = re.findall(r"^localrules:\n((?:    \w+,\n)+)", (ROOT / "Snakefile").read_text(encoding="utf-8"), re.MULTILINE)
    plot_rule = (ROOT / "workflow" / "rules" / "results.smk").read_text(encoding="utf-8").partition('f"plot_{module}"')[2]
    assert "localrule: True" in plot_rule.partition("shell:")[0]
    return {*names.replace(",", " ").split(), "all", "data", *(rule for rule in rules if rule.startswith("plot_"))}


@pytest.mark.parametrize("name", PROFILES)
def test_every_rule_is_either_local_or_in_a_group(name, rules, local_rules):
    grouped = set(profile(name)["groups"])
    assert local_rules <= rules, "localrules in the Snakefile names rules that do not exist"
    assert grouped <= rules, f"groups in profiles/{name} names rules that do not exist"
    assert not grouped & local_rules
    assert rules - grouped - local_rules == set(), "name it in localrules (Snakefile), or in groups of both cluster profiles"


@pytest.mark.parametrize("name", PROFILES)
def test_every_submitted_rule_has_memory_and_time_that_grow_with_the_attempt(name):
    settings = profile(name)
    assert set(settings["set-resources"]) <= set(settings["groups"])
    for resources in [settings["default-resources"], *settings["set-resources"].values()]:
        for value in resources.values():
            first, second = (eval(value, {"attempt": attempt}) for attempt in (1, 2))
            assert second > first > 0
    assert {"mem_mb", "runtime"} <= set(settings["default-resources"])
    assert settings["retries"] > 0


def test_both_cluster_profiles_submit_the_same_groups_with_the_same_resources():
    first, second = (profile(name) for name in PROFILES)
    for key in ("groups", "default-resources", "set-resources", "retries", "latency-wait"):
        assert first[key] == second[key], key


@pytest.mark.parametrize("name", PROFILES)
def test_the_lock_of_a_profile_pins_its_plugins_and_nothing_of_the_main_lock(name):
    def pins(path):
        return dict(re.findall(r"^([\w-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE))

    plugins = pins(ROOT / "profiles" / name / "requirements.lock")
    assert f"snakemake-executor-plugin-{profile(name)['executor']}" in plugins
    assert not plugins.keys() & pins(ROOT / "requirements.lock").keys()
