# Two commands do everything on a fresh machine: `make demo` and `make test`. Both set up what they need in .venv first.
PYTHON ?= $(or $(shell command -v python3.11 || python3 -c 'import sys; sys.version_info >= (3, 11) and print(sys.executable)' 2>/dev/null),$(error Assay needs Python 3.11 or newer; where it is can be said: make PYTHON=FILE))
VENV ?= .venv
BIN := $(VENV)/bin
# Shells that forbid bytecode would make every import compile again.
export PYTHONDONTWRITEBYTECODE :=
export RAY_USAGE_STATS_ENABLED := 0
.DEFAULT_GOAL := help
SHELL := /bin/bash

include make/*.mk

.PHONY: help setup demo test test-fast coverage-floors lint lock clean
help: ## this list
	@awk -f make/help.awk $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## everything in .venv, from hash-locked requirements: extras, compiled kernels, servers for tests

demo: $(VENV)/.core ## run the quick session and write its HTML report; the core in .venv is all it sets up
	$(BIN)/assay run --config examples/quickstart.yaml

# Which branches of each room the parallel tests reach is measured too, by probes that cost a few percent; COVERAGE= does without.
COVERAGE ?= 1
test: setup lint ## every test, and which share of each room they reach: below its floor a room fails (COVERAGE=: not measured)
	rm -rf .coverage
	$(if $(COVERAGE),ASSAY_COVERAGE=1) $(BIN)/python -m pytest -n 2 -m "not serial" tests
	$(BIN)/python -m pytest -m serial tests
	$(if $(COVERAGE),$(BIN)/python -m tools.coverage_rooms .coverage)

coverage-floors: setup ## what the last `make test` reached becomes the floor of each room
	$(BIN)/python -m tools.coverage_rooms .coverage --write

test-fast: setup ## tests that take no more than a few seconds each
	$(BIN)/python -m pytest -n 2 -m "not slow and not serial" tests

lint: setup ## style, types, and the arrows between folders
	$(BIN)/ruff check src tests bench peers tools
	$(BIN)/ruff format --check src tests bench peers tools
	$(BIN)/mypy
	$(BIN)/python -m tools.draw_rooms --check
	$(BIN)/python -m tools.file_creation

lock: setup ## make the lock files anew
	UV=$(BIN)/uv requirements/compile.sh

clean: ## forget the environment and caches
	rm -rf $(VENV) .peers .coverage .mypy_cache .pytest_cache .ruff_cache .grimp_cache
