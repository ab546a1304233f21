# The only commands of this project, for people and for CI alike.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
# A library that reasoning-gym needs is built from C; without a compiler its tests are skipped.
EXTRAS := dev$(shell command -v cc > /dev/null && echo ,reasoning-gym)
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: help demo test check format test-long test-gpu browser bench fuzz docs docs-numbers speed pictures kernels clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit("unskew needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/demo-ready: pyproject.toml | $(VENV)/made
	$(PIP) -e .
	@touch $@

$(VENV)/test-ready: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

demo: $(VENV)/demo-ready ## audit a skewed source, homogenize it, write dataset and report
	$(BIN)/unskew audit calculator/dcfg
	$(BIN)/unskew generate calculator/dcfg --homogenize length -n 100000 -o $(DEMO)/dataset
	$(BIN)/unskew audit calculator/dcfg --after $(DEMO)/dataset --report $(DEMO)/report.html

test: $(VENV)/test-ready ## the whole test suite, on up to four cores
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test-long: $(VENV)/test-ready ## the tests that take minutes
	$(BIN)/python -m pytest -m long

test-gpu: $(VENV)/test-ready ## the tests that need an accelerator
	$(BIN)/python -m pytest -m gpu

check: $(VENV)/test-ready ## formatting, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/test-ready ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/test-ready ## print the speed figures
	$(BIN)/python -m bench

fuzz: $(VENV)/test-ready ## feed every reader with damaged files, up to ten minutes
	$(BIN)/python -m fuzz

speed: $(VENV)/test-ready ## measure the speed figures of the docs again
	$(BIN)/python -m bench -o results/speed.json
	$(BIN)/python -m docs.numbers

docs-numbers: $(VENV)/test-ready ## write the numbers of README and docs from results/
	$(BIN)/python -m docs.numbers

docs: docs-numbers ## write those, and commands and functions from the code itself
	$(BIN)/python -m docs.reference

pictures: demo $(VENV)/test-ready browser ## draw the pictures of README and docs
	$(BIN)/unskew audit calculator/dcfg --after $(DEMO)/dataset --by length --by parentheses --report docs/images/skew.png
	$(BIN)/unskew audit calculator/dcfg --after $(DEMO)/dataset --report docs/images/calculator.png
	$(BIN)/unskew reproduce calculator --scale full --work results --figure docs/images/calculator-cost.png
	$(BIN)/python -m docs.balance_numbers
	$(BIN)/python -m docs.screenshot

kernels: ## forget compiled kernels: Numba does not notice a change in another file
	find src -name '*.nb[ic]' -delete

browser: ## install Chromium, in which the tests look at pages, where this can be done
	@for name in chromium chromium-browser google-chrome; do \
		if command -v $$name > /dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get -qq update \
		&& DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; \
	then exit 0; fi; \
	echo 'no Chromium, and none could be installed: tests in a browser will be skipped'

clean: ## remove what the targets made
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache fuzz/found
