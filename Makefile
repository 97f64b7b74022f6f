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

.PHONY: help setup demo test test-slow test-fast coverage lint lock clean
help: ## this list
	@awk -f make/help.awk $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## everything in .venv, from hash-locked requirements: extras, compiled kernels, servers for tests

demo: $(VENV)/.core ## run the quick session and write its HTML report; the core in .venv is all it sets up
	$(BIN)/assay run --config examples/quickstart.yaml

# CI has another, which runs what failed once more.
PYTEST = $(BIN)/python -m pytest

test: setup lint ## lint, types and the tests, in about a quarter of an hour on two cores
	$(PYTEST) -n 2 -m "not slow and not serial" tests
	$(PYTEST) -m "serial and not slow" tests

test-slow: setup ## the exhaustive tests: attacks, kills, real clusters and services, whole profiles
	$(PYTEST) -n 2 -m "slow and not serial" tests
	$(PYTEST) -m "serial and slow" tests

coverage: setup ## which lines and branches the tests reach, programs that they start included (COVERAGE_TESTS=tests/record: some of them)
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n 2 -m "not serial" $(or $(COVERAGE_TESTS),tests)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --sort=cover

test-fast: setup ## those of `make test` that may run side by side, without lint and types
	$(PYTEST) -n 2 -m "not slow and not serial" tests

lint: setup ## style, types, and the arrows between folders
	$(BIN)/ruff check src tests bench peers tools
	$(BIN)/ruff format --check src tests bench peers tools
	$(BIN)/mypy
	$(BIN)/python -m tools.package_imports
	$(BIN)/python -m tools.file_creation

lock: setup ## make the lock files anew
	UV=$(BIN)/uv requirements/compile.sh

clean: ## forget the environment and caches
	rm -rf $(VENV) .peers build/coverage .mypy_cache .pytest_cache .ruff_cache .grimp_cache
