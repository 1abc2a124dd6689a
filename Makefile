# Everything a checkout needs comes from python3 (3.11 or newer) and make: `make run`, `make test`.
# The environment is .venv; it is brought up to date when a lock or pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# uv is pinned with its hashes in requirements-uv.lock and run from the environment that it fills. It trusts the
# certificates that the system trusts, as pip does, and never fetches a Python of its own.
export UV_SYSTEM_CERTS := 1
export UV_PYTHON_DOWNLOADS := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1
UV := $(BIN)/uv
PIP_OPTIONS := --quiet --python $(BIN)/python
INSTALL_ORIBI := $(UV) pip install $(PIP_OPTIONS) --no-deps --build-constraints requirements-dev.lock --editable .

.DEFAULT_GOAL := help
.PHONY: help run test check docs bench crash format lock clean system-packages

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{ printf "make %-8s %s\n", $$1, $$2 }'

run: $(VENV)/.run system-packages ## show the main job: an agent reads a log, decides, notifies, answers
	@$(BIN)/python demo/run.py

test: $(VENV)/.dev system-packages ## run the tests
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.dev ## formatting, lint, types, layers, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	@scripts/generated-docs --check

docs: $(VENV)/.dev ## write the generated parts of the docs anew
	@scripts/generated-docs

bench: $(VENV)/.dev ## measure, beside the floors
	@$(BIN)/python bench/run.py $(ARGS)

crash: $(VENV)/.dev ## kill it a thousand times at random, and see what it promised
	@$(BIN)/python -m tests.crash.run $(ARGS)

format: $(VENV)/.dev ## format, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A lock names no index and no machine: whoever installs says where from. UPGRADE=--upgrade takes newer versions.
COMPILE := compile --quiet --generate-hashes --universal --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(UPGRADE)

lock: $(UV) ## resolve the requirement locks anew
	$(UV) pip $(COMPILE) pyproject.toml --output-file requirements.lock
	$(UV) pip $(COMPILE) --all-extras pyproject.toml requirements-dev.in --constraints requirements.lock --output-file requirements-dev.lock
	@! grep -nE '://|--(extra-)?index-url|--find-links|file:' requirements*.lock

clean: ## remove what make made
	rm -rf $(VENV) build dist .hypothesis .pytest_cache .ruff_cache .import_linter_cache

system-packages:
	@scripts/system-packages

$(UV): requirements-uv.lock scripts/make-venv
	@scripts/make-venv $(VENV) $(PYTHON)
	@echo "Installing uv ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-uv.lock
	@touch $@

# Both stamps fill the same environment: .run adds what users need, .dev makes it exactly that and the tools. Whatever
# makes the first stale makes the second stale.
$(VENV)/.run: requirements.lock requirements-dev.lock pyproject.toml $(UV)
	@echo "Installing requirements.lock ..." >&2
	@$(UV) pip install $(PIP_OPTIONS) --require-hashes --requirements requirements.lock
	@$(INSTALL_ORIBI)
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	@echo "Installing requirements-dev.lock ..." >&2
	@$(UV) pip sync $(PIP_OPTIONS) --require-hashes requirements-dev.lock
	@$(INSTALL_ORIBI)
	@touch $@
