# Every task of the project. A machine needs only Python 3.11 or newer, make and a package index.
#   make demo       runs every method on bundled datasets (minutes)
#   make test       runs the unit, property and fault tests (minutes)
#   make test-slow  runs the other tests, such as those of the workflow and in a browser
#   make test-all   runs both
#   make test-versions   tests the newest versions of all libraries that the package index serves, and the oldest allowed ones
#   make lint       runs ruff, mypy, snakefmt, and the linters of Snakemake and of the container recipes
#   make generated  regenerates the files that are derived from code: tables of the documentation
#   make docs       builds the documentation site into build/docs; every warning is an error
#   make docs-links checks every external link of the documentation (needs a network)
#   make test-slurm tests the profiles on a real SLURM, which it starts in a separate folder (as root)
#   make smoke PROFILE=profiles/slurm   tries a cluster; more options of Snakemake go into OPTIONS
#   make test-arm   tests that a tiny grid on an emulated aarch64 gives the same bytes as on x86-64 (Debian)
#   make data       fetches, prepares and lists the datasets of config.yaml
#   make check-data checks whether every public address still serves the expected data
#   make reproduce  runs the paper's grid; leave datasets out with EXCLUDE=nbfi
#   make extended   runs it with forty more seeds, and varies each choice that the paper leaves open; EXCLUDE works too
#   make as-published   runs the paper's grid, and variants of it that do what the authors' published code does; EXCLUDE works too
#   make authors    runs the authors' own package on the clusterlets of results/, and counts how often it agrees with our variants
#   make field      runs every method on ten datasets, with 14 choices of sensitive groups; EXCLUDE works too
#   make verify     checks every byte of the results against the hashes in their manifest
#   make archive    packs the finished run in RESULTS=results into one file to deposit
#   make compare    compares the results' numbers with those in reference/paper
#   make reference  replaces reference/paper with the results' numbers
#   make reference-extended   replaces reference/extended, and the ranges, copies and readings in the package, with an extended run's
#   make reference-field    replaces reference/field with the leaderboard of results/field, and writes docs/field.md

PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
# Processes that run tests in parallel.
WORKERS ?= $(CORES)
EXCLUDE ?=
RESULTS ?= results
PROFILE ?=
OPTIONS ?=

VENV := .venv
LINTERS := .venv-lint
# A file marks an environment as ready. Its name contains a checksum of the files that define the environment. If make compared
# the times of files instead, switching branches and back would rebuild an environment that a run is using.
ready = .ready-$(shell cat $(1) | cksum | cut -d " " -f 1)
LOCKED := $(VENV)/$(call ready,requirements.lock requirements-uv.lock)
READY := $(VENV)/$(call ready,requirements.lock requirements-uv.lock pyproject.toml)-project
# Plugins of the cluster profiles. Among the environment's own packages they would slow every start of Snakemake by seconds.
PLUGINS := $(VENV)/cluster-plugins
SPHINX := $(VENV)/sphinx
PLUGIN_LOCKS := $(wildcard profiles/*/requirements.lock)
PLUGINS_READY := $(PLUGINS)/$(call ready,$(PLUGIN_LOCKS))
SPHINX_READY := $(SPHINX)/$(call ready,requirements-docs.lock)
LINTERS_READY := $(LINTERS)/$(call ready,requirements-lint.lock)
# Commands of .venv, whatever environment is active.
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
SNAKEMAKE := $(RUN) snakemake --cores $(CORES)
PYTEST := $(RUN) python -m pytest --numprocesses $(WORKERS) --dist worksteal
SITE := $(RUN) PYTHONPATH="$(CURDIR)/$(SPHINX)" MPLBACKEND=agg python -m sphinx -W --keep-going --quiet
# Names and logs are UTF-8 in every locale.
export PYTHONUTF8 := 1
# Containers often forbid Python to cache bytecode, and uv compiles none. Then every job would spend seconds compiling.
export PYTHONDONTWRITEBYTECODE :=
# Snakemake keeps a cache below HOME, and fails if it cannot write there.
ifeq ($(shell cache="$${XDG_CACHE_HOME:-$$HOME/.cache}"; mkdir -p "$$cache" 2>/dev/null && test -w "$$cache" && echo yes),)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif
# EXCLUDE may have spaces after commas, or instead of them. The shell would split the list there.
COMMA := ,
SPACE := $(subst ,, )
EXCLUDED := $(subst $(SPACE),$(COMMA),$(strip $(subst $(COMMA),$(SPACE),$(EXCLUDE))))
SETTINGS := $(if $(EXCLUDED),--config exclude=$(EXCLUDED))

.PHONY: demo environment test test-slow test-all test-versions test-newest test-oldest lint generated docs docs-links test-slurm \
    smoke test-arm data check-data reproduce extended as-published authors field verify archive compare reference \
    reference-extended reference-field clean-environment

demo: $(READY)
	@$(SNAKEMAKE) --configfile workflow/configs/demo.yaml
	@cat results/demo/summary.txt

environment: $(READY)

test: $(READY)
	@$(PYTEST) -m "not slow"

# One worker runs all tests of a file, because many share a run of the workflow.
test-slow: $(READY)
	@$(PYTEST) --dist loadfile -m slow

test-all: test test-slow

# Without the lock: the newest versions that the package index serves, and the oldest that pyproject.toml allows. Warnings of the
# newest are errors, as in all tests. The oldest print warnings of their own, which nobody can mend here. The run of the workflow
# stops before the figures and pages, which the tests make. Tests that run a printed command compare two fits with the same
# libraries, so they cannot see a version.
VERSIONS := tests/unit/test_estimators.py tests/unit/tables tests/unit/commands tests/unit/benchmark/report
test-versions: test-newest test-oldest

test-newest: VERSION_OPTIONS := highest error
test-oldest: VERSION_OPTIONS := lowest-direct default
test-newest test-oldest: $(READY)
	@environment=$(CURDIR)/$(VENV)/$@; set -e; \
	$(VENV)/bin/uv venv --quiet --clear $$environment; \
	$(VENV)/bin/uv pip install --quiet --python $$environment --resolution $(word 1,$(VERSION_OPTIONS)) '.[all,dev]'; \
	export PATH="$$environment/bin:$$PATH" PYTHONPATH="$(CURDIR)" NUMBA_CACHE_DIR="$$environment/numba"; \
	python -m pytest --quiet -p no:cacheprovider -W $(word 2,$(VERSION_OPTIONS)) \
	    -m "not slow" -k "not printed_command" $(VERSIONS); \
	run=$$(mktemp -d); \
	snakemake --cores 1 --directory $$run --configfile workflow/configs/smoke.yaml -- results/smoke/tables/all_tables.tex; \
	rm -r $$run

# The linters have their own environment, because the workflow does not need them. All of them run, even if one complains.
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

# Every warning is an error (-W): a broken link, a page in no menu, a docstring that cannot be read, an example that fails.
# The examples run with the locked libraries.
docs: $(SPHINX_READY)
	@$(SITE) -b html docs build/docs
	@echo "The documentation is in build/docs/index.html"

docs-links: $(SPHINX_READY)
	@$(SITE) -D plot_gallery=0 -b linkcheck docs build/docs-links

test-slurm: $(PLUGINS_READY)
	@$(RUN) PYTHONPATH="$(CURDIR)/$(PLUGINS)" CLUSTERLETS_TEST_SLURM=1 python -m pytest tests/slurm

# One submission with every kind of job. Run it on the login node. The scheduler ends a job that runs for longer than the profile
# allows; waiting in the queue has no limit.
smoke: $(PLUGINS_READY)
	@test -f "$(PROFILE)/config.yaml" || { echo "Name a profile: make smoke PROFILE=profiles/slurm"; exit 1; }
	@rm -rf results/smoke
	@echo "A full queue delays the jobs. Ctrl-C cancels them."
	@if $(RUN) PYTHONPATH="$(CURDIR)/$(PLUGINS)" snakemake --profile $(PROFILE) --configfile workflow/configs/smoke.yaml \
	    $(OPTIONS) -- results/smoke/runs.csv; \
	then echo "Smoke job passed: the cluster ran every kind of job, and its results came back."; \
	else echo "Smoke job failed; docs/hpc.md (When something dies) says where to look."; exit 1; fi

test-arm: $(READY)
	@$(RUN) CLUSTERLETS_TEST_ARM=1 python -m pytest -o faulthandler_timeout=3600 tests/arm

data: $(READY)
	@$(SNAKEMAKE) data $(SETTINGS)

# Checks the public addresses, even if a mirror is set.
check-data: $(READY)
	@$(RUN) clusterlets datasets --check

reproduce: $(READY)
	@$(SNAKEMAKE) $(SETTINGS)
	@cat results/summary.txt

extended: $(READY)
	@$(SNAKEMAKE) $(SETTINGS) --configfile workflow/configs/extended.yaml
	@cat results/sensitivity.md

as-published: $(READY)
	@$(SNAKEMAKE) $(SETTINGS) --configfile workflow/configs/as_published.yaml
	@cat results/summary.txt

# The authors' package has our import name and a different licence, so it gets a separate environment.
AUTHORS := $(VENV)/authors
authors: $(READY)
	@test -x $(AUTHORS)/bin/python || $(VENV)/bin/python -m venv $(AUTHORS)
	@$(call install,$(AUTHORS)/bin/python,clusterlets==0.0.3 tqdm)
	@$(RUN) python benchmarks/authors/compare.py --peer $(AUTHORS)/bin/python --results $(RESULTS)

field: $(READY)
	@$(RUN) clusterlets datasets --config workflow/configs/field.yaml | tail -1
	@$(SNAKEMAKE) $(SETTINGS) --configfile workflow/configs/field.yaml
	@cat results/field/summary.txt
	@sed '/^## /,$$d' results/field/leaderboard.md

verify: $(READY)
	@$(RUN) clusterlets verify --results $(RESULTS)

archive: $(READY)
	@$(RUN) clusterlets archive --results $(RESULTS)

compare: $(READY)
	@$(RUN) clusterlets compare reference/paper $(RESULTS)

# Only small text files and the compressed runs are kept. Figures can be made again, and the manifest has their hashes. The
# sensitivity analysis needs the runs of `make extended`, so it is in reference/extended.
NOT_IN_REFERENCE := %/runs.csv %/datasets.csv %/sensitivity.csv %/leaderboard_points.csv
# What is kept for comparison must come from the locked versions.
LOCKED_VERSIONS = $(RUN) python -m clusterlets.benchmark.provenance.libraries $(RESULTS)/manifest.json
COMPRESS := $(RUN) python -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), preset=9))'
REPORTED := clusterlets/benchmark/paper/reported
reference: verify
	@$(LOCKED_VERSIONS)
	@rm -rf reference/paper
	@mkdir -p reference/paper/tables reference/paper/statistics
	@cp $(RESULTS)/tables/*.csv reference/paper/tables/
	@cp $(RESULTS)/statistics/*.csv reference/paper/statistics/
	@cp $(filter-out $(NOT_IN_REFERENCE),$(wildcard $(RESULTS)/*.csv)) $(RESULTS)/manifest.json reference/paper/
	@$(COMPRESS) < $(RESULTS)/runs.csv > reference/paper/runs.csv.xz
	@cp $(addprefix $(RESULTS)/figures/,shares.png table1_ranges.png) docs/figures/
	@$(RUN) python docs/generate.py
	@du -sh reference/paper

# Ranges, and what they are worth, need many seeds. Every other run reads them from the package: the ranges are all columns of
# comparison.csv but the last one, the reasons.
reference-extended: verify
	@$(LOCKED_VERSIONS)
	@mkdir -p reference/extended
	@cp $(RESULTS)/sensitivity.csv $(RESULTS)/sensitivity.md $(RESULTS)/runs.csv.sha256 reference/extended/
	@$(COMPRESS) < $(RESULTS)/runs.csv > reference/extended/runs.csv.xz
	@test ! -f $(RESULTS)/variants/as_published/runs.csv || \
	    $(COMPRESS) < $(RESULTS)/variants/as_published/runs.csv > reference/extended/as_published.csv.xz
	@cut -d, -f-17 $(RESULTS)/comparison.csv > $(REPORTED)/ranges.csv
	@cp $(RESULTS)/readings.csv $(REPORTED)/
	@grep -v ",the paper by" $(RESULTS)/shares.csv > $(REPORTED)/copies.csv
	@$(RUN) python docs/generate.py

# A test compares docs/field.md with the committed tables.
reference-field: RESULTS := results/field
reference-field: verify
	@$(LOCKED_VERSIONS)
	@mkdir -p reference/field
	@cp $(addprefix results/field/,leaderboard.csv leaderboard_overall.csv leaderboard_pairs.csv leaderboard_points.csv \
	    methods.csv manifest.json accounts/leaderboard_costs.csv) reference/field/
	@$(RUN) python docs/generate.py
	@cp results/field/figures/reliability_against_price.png docs/figures/
	@du -sh reference/field

# uv installs a lock faster than pip. If uv is missing on this machine, or fails with pip's configured index, pip
# installs the same packages. Both reject a package whose hash is not in the lock.
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
install = if test -x $(VENV)/bin/uv && $(VENV)/bin/uv pip install --quiet --python $(1) $(2) 2> $(VENV)/uv.log; then :; \
    else $(PIP) --python $(1) install --quiet $(2); fi

$(LOCKED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV): once"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --quiet --only-binary :all: --require-hashes -r requirements-uv.lock 2> /dev/null || echo "No uv: using pip"
	@$(call install,$(VENV)/bin/python,--require-hashes -r requirements.lock)
	@touch $@

# The project is installed again when pyproject.toml changes.
$(READY): | $(LOCKED)
	@$(call install,$(VENV)/bin/python,--no-deps --no-build-isolation --editable .)
	@rm -f $(VENV)/.ready-*-project
	@touch $@

# Packages that only some commands need go to separate folders.
$(PLUGINS_READY): | $(READY)
	@rm -rf $(PLUGINS)
	@$(call install,$(VENV)/bin/python,--require-hashes --no-deps --target $(PLUGINS) $(addprefix -r ,$(PLUGIN_LOCKS)))
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
