# Needs make and Python 3.11 or newer, nothing else. `make` lists what there is to do.

PYTHON ?= python3
TORCH ?= torch==2.13.0
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check bench record

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY)  ## Start a training that gets stuck, and see why it is
	$(BIN)/unstall demo

test: $(READY)  ## Run the tests, without the long ones
	$(BIN)/python -m pytest -m "not long"

test-all: $(READY)  ## Run all tests; takes minutes
	$(BIN)/python -m pytest

check: $(READY)  ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## Measure what starting costs, and what a look at a process costs
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/python_reader.py
	$(BIN)/python bench/why.py

record: $(READY)  ## Renew what is recorded: the JSON Schema, and bundles of zoo programs [NAME=part]
	$(BIN)/python -m unstall.reports.json_report > .venv/schema.json
	cp .venv/schema.json src/unstall/reports/schema/diagnosis-1.json
	$(BIN)/python -m tests.support.record $(NAME)

# Made once, and again when pyproject.toml changes. torch comes first, so that nothing else chooses its version.
# pip knows dependency groups only from version 25.1 on, so the list of development tools is read from the file.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("needs Python 3.11 or newer; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")' > .venv/dev.txt
	$(BIN)/python -m pip install --quiet --editable . --requirement .venv/dev.txt
	@touch $@
