# Everything from a bare machine: Python 3.11 or newer, make and a package index.
#   make demo       runs the whole workflow on bundled datasets, minutes
#   make test       runs every unit, property and fault test, and one small grid; minutes
#   make test-slow  runs the other tests: interruptions, packaging, a browser, ...; each fuzz test searches for FUZZ=5 seconds
#   make test-all   runs both
#   make lint       runs ruff, mypy, snakefmt, Snakemake's linter, and those of the container recipes
#   make generated  renews what follows from declarations in code: tables of the documentation, type stubs
#   make docs       builds the documentation site into build/docs; every warning is an error
#   make docs-links checks every external link of the documentation (needs a network)
#   make test-slurm tests the profiles on a real SLURM, which it starts in a folder of its own (root)
#   make smoke PROFILE=profiles/slurm   tries a cluster in two minutes
#   make test-arm   runs a tiny grid on an emulated aarch64: the same bytes as on x86-64 (Debian)
#   make data       fetches and prepares what config.yaml names, and lists it
#   make check-data checks whether every public address still serves the known data
#   make reproduce  runs the paper's grid; leave datasets out with EXCLUDE=nbfi
#   make extended   adds forty further seeds, and varies each choice that the paper leaves open; EXCLUDE too
#   make as-published   adds the grid as the authors' published code runs it, beside what the paper's text says; EXCLUDE too
#   make authors    runs the authors' own package on the clusterlets of results/, and counts the runs that equal our variants
#   make field      runs every method on ten datasets and six further groups, about an hour; EXCLUDE too
#   make field-demo runs every method on bundled datasets, minutes
#   make verify     checks that the results are what their manifest says, byte for byte
#   make archive    packs a finished run (RESULTS=results/field: a different one) as a Workflow Run RO-Crate, ready to deposit;
#                   AGENT='A Name' is who ran it (default: git's user.name)
#   make compare    compares the results' numbers with those in reference/paper
#   make reference  replaces reference/paper with the results' numbers
#   make reference-extended   replaces reference/extended and the error rates of the verdicts with those of an extended run
#   make reference-published  replaces reference/published with results/as_published.csv, and renews docs/reproduction.md
#   make reference-field    replaces reference/field with the leaderboard of results/field, and writes docs/field.md

PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
# Processes that run tests in parallel.
WORKERS ?= $(CORES)
EXCLUDE ?=
RESULTS ?= results
AGENT ?=
FUZZ ?= 5
PROFILE ?=
SMOKE_SECONDS ?= 120

VENV := .venv
LINTERS := .venv-lint
# The name of the file that marks an environment as ready contains a checksum of the files that define the environment. Their
# times do not count: switching branches and back must not rebuild an environment that a run is using.
ready = .ready-$(shell cat $(1) | cksum | cut -d " " -f 1)
LOCKED := $(VENV)/$(call ready,requirements.lock requirements-uv.lock)
READY := $(VENV)/$(call ready,requirements.lock requirements-uv.lock pyproject.toml)-project
# Outside of the environment's own packages: installed there, they would slow every start of Snakemake on a cluster by seconds.
PLUGINS := $(VENV)/cluster-plugins
# Only "make archive" needs these.
ARCHIVING := $(VENV)/archive-packages
SPHINX := $(VENV)/sphinx
PLUGIN_LOCKS := $(wildcard profiles/*/requirements.lock)
PLUGINS_READY := $(PLUGINS)/$(call ready,$(PLUGIN_LOCKS))
ARCHIVING_READY := $(ARCHIVING)/$(call ready,requirements-archive.lock)
SPHINX_READY := $(SPHINX)/$(call ready,requirements-docs.lock)
LINTERS_READY := $(LINTERS)/$(call ready,requirements-lint.lock)
# The commands of .venv come first, whatever environment is active.
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
SNAKEMAKE := $(RUN) snakemake --cores $(CORES)
PYTEST := $(RUN) python -m pytest --numprocesses $(WORKERS) --dist worksteal
SITE := $(RUN) PYTHONPATH="$(CURDIR)/$(SPHINX)" MPLBACKEND=agg python -m sphinx -W --keep-going --quiet
# Names and logs are UTF-8 in every locale. Snakemake keeps a cache below HOME, and fails if it cannot write there.
export PYTHONUTF8 := 1
# Containers often forbid Python to cache bytecode, and uv compiles none: every job would then spend seconds compiling.
export PYTHONDONTWRITEBYTECODE :=
ifeq ($(shell mkdir -p "$${XDG_CACHE_HOME:-$$HOME/.cache}" 2>/dev/null && test -w "$${XDG_CACHE_HOME:-$$HOME/.cache}" && echo yes),)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif
# People put spaces after commas, or instead of them; the shell would split the list there.
COMMA := ,
SPACE := $(subst ,, )
EXCLUDED := $(subst $(SPACE),$(COMMA),$(strip $(subst $(COMMA),$(SPACE),$(EXCLUDE))))
SETTINGS := $(if $(EXCLUDED),--config exclude=$(EXCLUDED))

.PHONY: demo environment test test-slow test-all test-environment lint generated docs docs-links test-slurm smoke test-arm data \
    check-data reproduce extended as-published authors field field-demo verify archive compare reference reference-published \
    reference-extended reference-field clean-environment

demo: $(READY)
	@$(SNAKEMAKE) --configfile workflow/configs/demo.yaml
	@cat results/demo/summary.txt

environment: $(READY)

# Tests need the Snakemake plugins of the cluster profiles, and the validator of archives.
test-environment: $(PLUGINS_READY) $(ARCHIVING_READY)

test: test-environment
	@$(PYTEST) -m "not slow"

test-slow: test-environment
	@CLUSTERLETS_FUZZ_SECONDS=$(FUZZ) $(PYTEST) -m slow

test-all: test test-slow

# The linters have their own environment, so that running the workflow does not require them. All of them run, even if one
# complains.
lint: $(READY) $(LINTERS_READY)
	@status=0; export PATH="$(CURDIR)/$(VENV)/bin:$$PATH"; set -x; \
	$(LINTERS)/bin/ruff check . || status=1; \
	$(LINTERS)/bin/ruff format --check . || status=1; \
	$(LINTERS)/bin/mypy --python-executable $(VENV)/bin/python || status=1; \
	$(LINTERS)/bin/snakefmt --check --compact-diff Snakefile workflow/rules || status=1; \
	$(LINTERS)/bin/hadolint containers/Dockerfile || status=1; \
	$(LINTERS)/bin/spython recipe --parser singularity containers/clusterlets.def > /dev/null || status=1; \
	snakemake --lint || status=1; \
	snakemake --lint --configfile workflow/configs/demo.yaml || status=1; \
	exit $$status

generated: $(READY)
	@$(RUN) python docs/generate.py

# -W makes every warning an error: a broken link or anchor, a page in no menu, a docstring that cannot be read, an example
# that fails. The examples run with the locked libraries.
docs: $(SPHINX_READY)
	@$(SITE) -b html docs build/docs
	@echo "The documentation is in build/docs/index.html"

docs-links: $(SPHINX_READY)
	@$(SITE) -D plot_gallery=0 -b linkcheck docs build/docs-links

test-slurm: $(PLUGINS_READY)
	@$(RUN) PYTHONPATH="$(CURDIR)/$(PLUGINS)" CLUSTERLETS_TEST_SLURM=1 python -m pytest tests/slurm

# Run it on the login node: one submission with every kind of job. SIGTERM ends Snakemake as Ctrl-C does, and cancels the jobs.
smoke: $(PLUGINS_READY)
	@test -f "$(PROFILE)/config.yaml" || { echo "Name a profile: make smoke PROFILE=profiles/slurm"; exit 1; }
	@rm -rf results/smoke
	@$(RUN) PYTHONPATH="$(CURDIR)/$(PLUGINS)" timeout $(SMOKE_SECONDS) snakemake --profile $(PROFILE) \
	    --configfile workflow/configs/smoke.yaml -- results/smoke/runs.csv; status=$$?; \
	case $$status in \
	0) echo "Smoke job passed: the cluster ran every kind of job, and its results came back." ;; \
	124) echo "Smoke job not done after $(SMOKE_SECONDS) s, and cancelled. Did it wait in the queue? SMOKE_SECONDS=600 waits longer." ;; \
	*) echo "Smoke job failed; docs/hpc.md (When something dies) says where to look." ;; \
	esac; exit $$status

test-arm: $(READY)
	@$(RUN) CLUSTERLETS_TEST_ARM=1 python -m pytest -o faulthandler_timeout=3600 tests/arm

# Data come first and alone: an unavailable dataset must stop the run before the grid starts.
data: $(READY)
	@$(SNAKEMAKE) data --workflow-profile none --scheduler greedy --rerun-incomplete --show-failed-logs \
	    --quiet host reason --logger cells --max-checksum-file-size 10000000 $(CONFIGFILE) $(SETTINGS)

# This ignores a mirror and asks the public addresses themselves.
check-data: $(READY)
	@$(RUN) clusterlets datasets --check

reproduce: data
	@$(SNAKEMAKE) $(SETTINGS)
	@cat results/summary.txt

extended: data
	@$(SNAKEMAKE) $(SETTINGS) --configfile workflow/configs/extended.yaml
	@cat results/sensitivity.md

as-published: data
	@$(SNAKEMAKE) $(SETTINGS) --configfile workflow/configs/as_published.yaml
	@cat results/as_published.md

# Their package has our import name and a different licence: it stays in an environment of its own, which nothing else uses.
AUTHORS := $(VENV)/authors
authors: $(READY)
	@test -x $(AUTHORS)/bin/python || $(VENV)/bin/python -m venv $(AUTHORS)
	@$(call install,$(AUTHORS)/bin/python,clusterlets==0.0.3 tqdm)
	@$(RUN) python benchmarks/authors/compare.py --peer $(AUTHORS)/bin/python --results $(RESULTS)

# A target's variable also holds for its prerequisites: "data" then fetches and prepares the datasets of this file.
field: CONFIGFILE := --configfile workflow/configs/field.yaml
field: data
	@$(RUN) clusterlets datasets --config workflow/configs/field.yaml | tail -1
	@$(SNAKEMAKE) $(CONFIGFILE) $(SETTINGS)
	@cat results/field/summary.txt
	@sed '/^## /,$$d' results/field/leaderboard.md

field-demo: $(READY)
	@$(SNAKEMAKE) --configfile workflow/configs/field-demo.yaml
	@cat results/field-demo/summary.txt
	@sed '/^## /,$$d' results/field-demo/leaderboard.md

verify: $(READY)
	@$(RUN) clusterlets verify --results $(RESULTS)

archive: $(ARCHIVING_READY)
	@$(RUN) PYTHONPATH="$(CURDIR)/$(ARCHIVING)" clusterlets archive --results $(RESULTS) $(if $(AGENT),--agent "$(AGENT)")

compare: $(READY)
	@$(RUN) clusterlets compare reference/paper $(RESULTS)

# Only small text files: the manifest holds the hashes of runs and figures, which can be made again. The sensitivity analysis
# needs the runs of `make extended`, so it is in reference/extended.
reference: verify
	@rm -rf reference/paper
	@mkdir -p reference/paper/tables reference/paper/statistics
	@cp $(RESULTS)/tables/*.csv reference/paper/tables/
	@cp $(RESULTS)/statistics/*.csv reference/paper/statistics/
	@cp $(filter-out %/runs.csv %/datasets.csv %/sensitivity.csv %/as_published.csv %/leaderboard_points.csv,$(wildcard $(RESULTS)/*.csv)) $(RESULTS)/manifest.json reference/paper/
	@cp $(RESULTS)/figures/verdict.png docs/figures/
	@du -sh reference/paper

# The error rates of the verdicts are measured with many seeds; every other run reads them from the package.
reference-extended: verify
	@mkdir -p reference/extended
	@cp $(RESULTS)/sensitivity.csv $(RESULTS)/sensitivity.md reference/extended/
	@cp $(RESULTS)/comparison_controls.csv clusterlets/paper/reported/controls.csv

# docs/reproduction.md says in words what the file holds.
reference-published: $(READY)
	@mkdir -p reference/published
	@cp $(RESULTS)/as_published.csv reference/published/
	@$(RUN) python docs/generate.py

# A test compares docs/field.md with these tables.
reference-field: $(READY)
	@$(RUN) clusterlets verify --results results/field
	@mkdir -p reference/field
	@cp $(addprefix results/field/,leaderboard.csv leaderboard_overall.csv leaderboard_pairs.csv leaderboard_points.csv \
	    methods.csv manifest.json) reference/field/
	@cp results/field/leaderboard.md docs/field.md
	@cp results/field/figures/reliability_against_price.png docs/figures/
	@du -sh reference/field

# uv installs a lock in seconds, pip takes a minute. uv itself is a locked wheel; if there is none for this machine, or it fails
# with pip's configured index, pip installs the same. Neither accepts a file with a different hash.
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
install = if test -x $(VENV)/bin/uv && $(VENV)/bin/uv pip install --quiet --python $(1) $(2) 2> $(VENV)/uv.log; then :; \
    else $(PIP) --python $(1) install --quiet $(2); fi

$(LOCKED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV): once, less than a minute"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --quiet --only-binary :all: --require-hashes -r requirements-uv.lock 2> /dev/null || echo "No uv: pip installs"
	@$(call install,$(VENV)/bin/python,--require-hashes -r requirements.lock)
	@touch $@

# The project itself is installed as pyproject.toml says, and again when that file changes.
$(READY): | $(LOCKED)
	@$(call install,$(VENV)/bin/python,--no-deps --no-build-isolation --editable .)
	@rm -f $(VENV)/.ready-*-project
	@touch $@

# Packages that only some commands need go to separate folders. Libraries that requirements.lock also lists have its versions.
$(PLUGINS_READY): | $(READY)
	@rm -rf $(PLUGINS)
	@$(call install,$(VENV)/bin/python,--require-hashes --no-deps --target $(PLUGINS) $(addprefix -r ,$(PLUGIN_LOCKS)))
	@touch $@

$(ARCHIVING_READY): | $(READY)
	@rm -rf $(ARCHIVING)
	@$(call install,$(VENV)/bin/python,--require-hashes --no-deps --target $(ARCHIVING) -r requirements-archive.lock)
	@touch $@

$(SPHINX_READY): | $(READY)
	@rm -rf $(SPHINX)
	@$(call install,$(VENV)/bin/python,--require-hashes --no-deps --target $(SPHINX) -r requirements-docs.lock)
	@touch $@

$(LINTERS_READY): | $(READY)
	@$(PYTHON) -m venv --clear --without-pip $(LINTERS)
	@$(call install,$(LINTERS)/bin/python,--require-hashes -r requirements-lint.lock)
	@touch $@

clean-environment:
	@rm -rf $(VENV) $(LINTERS) .arm64
