# The two commands: `make demo` and `make test`. Each does all the set-up that it needs, and
# little when there is nothing to do. Progress goes to standard error.

SHELL := /bin/bash
CAMBRIAN := .venv/bin/cambrian
# What the demo study and the tests run; other stacks are built when a study first names them.
STACKS := tcp quinn quic-go google-quiche
# and the tests besides
TEST_STACKS := $(STACKS) tcp-h2
PATHS := src tests benchmarks packaging
OUT ?= results/quickstart
# npm writes this file last
WEB := web/node_modules/.package-lock.json
# A command without bytecode compiles all of src first, and each pytest worker rewrites all tests.
unexport PYTHONDONTWRITEBYTECODE

# Processes of tests.
WORKERS ?= auto

# Each step uses the machine's cores itself, and two of them write to .venv; the checks do neither.
ifndef CHECKS
.NOTPARALLEL:
endif
.PHONY: help setup setup-dev kernel stacks test-stacks demo test test-long test-all checks lint lint-web web types docs reference bench placebo accusations kills hostile machines gates hunts dist dist-kernel clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Debian packages, .venv, and .venv/bin/cambrian
	@scripts/setup runtime

setup-dev:
	@scripts/setup dev

kernel: setup ## build the virtual-time kernel (minutes, once)
	@$(CAMBRIAN) kernel build

stacks: setup ## build the stacks that the demo and the tests use (minutes, once)
	@$(CAMBRIAN) stacks build $(STACKS)

test-stacks: setup
	@$(CAMBRIAN) stacks build $(TEST_STACKS) > /dev/null

demo: kernel stacks ## run the quickstart study and print where its report is
	@$(CAMBRIAN) run quickstart --profile quick --out $(OUT)
	@$(CAMBRIAN) report $(OUT)

lint: setup-dev lint-web
	@.venv/bin/ruff check $(PATHS)
	@.venv/bin/ruff format --check $(PATHS)

lint-web: ## lint, types and unit tests of the pages' script in web/, where npm is installed
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory $(WEB) && cd web && npm run --silent check && npm test --silent; \
	else echo "cambrian: no npm here, so web/ stays unchecked" >&2; fi

web: $(WEB) ## build the pages' script from web/ (the result is committed)
	@cd web && npm run --silent build

$(WEB): web/package-lock.json
	@cd web && npm ci >&2 && touch node_modules/.package-lock.json

types: setup-dev
	@.venv/bin/mypy

docs: setup-dev ## build the documentation as a site in site/, and check its links
	@.venv/bin/zensical build --strict --clean >&2

reference: setup-dev ## write the generated pages of docs/reference
	@.venv/bin/python -m cambrian.reference
	@.venv/bin/python -m benchmarks.speed.page

checks: setup-dev # side by side; what each says stays together
	@$(MAKE) --no-print-directory -j --output-sync=target CHECKS=1 lint types docs

test: setup-dev kernel test-stacks checks ## all set-up, lint, types, docs, unit tests and real trials
	@.venv/bin/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-long: setup-dev kernel test-stacks ## the tests that take many seconds each: browser, clusters, signals, gates
	@.venv/bin/pytest -m long -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-all: test test-long ## all tests, also the slow ones
	@.venv/bin/pytest -m slow || [ $$? -eq 5 ] # 5: there are none

bench: kernel stacks ## how fast trials run here, and how often intervals are right (an hour)
	@.venv/bin/python -m benchmarks.speed
	@for each in bad_input busy_machine coverage; do \
	  echo "$$each" >&2; .venv/bin/python "benchmarks/$$each.py" || exit 1; done

placebo: kernel stacks ## how often the page accuses the kernel against itself: 200 studies (a quarter of an hour)
	@$(CAMBRIAN) run noise-floor --profile quick --out results/noise-floor
	@.venv/bin/python benchmarks/placebo_storm.py results/noise-floor

accusations: kernel stacks ## does the judge accuse a correct controller? 7,200 trials (two to four hours)
	@$(CAMBRIAN) run clean-alone --out results/clean-alone
	@$(CAMBRIAN) run clean-small --out results/clean-small
	@$(CAMBRIAN) run clean-duels --out results/clean-duels
	@.venv/bin/python benchmarks/false_accusations.py results/clean-alone results/clean-small results/clean-duels

kills: kernel stacks ## do kills change results? 30 of them in a study, here and on a cluster (minutes)
	@.venv/bin/python benchmarks/kills.py
	@.venv/bin/python benchmarks/kills.py --cluster local:2

hostile: kernel stacks ## what can a hostile endpoint use, and what can it read? 26 kinds (minutes)
	@.venv/bin/python benchmarks/hostile.py

machines: kernel stacks ## the same packets on other Debian releases and processors? virtual machines; root (hours)
	@.venv/bin/python benchmarks/other_machines.py

gates: kernel stacks ## does `cambrian gate` catch planted faults, and pass harmless changes? (one to three hours)
	@.venv/bin/python benchmarks/gate.py

hunts: kernel stacks ## does `cambrian hunt` find planted faults, and leave clean controllers alone? (two hours)
	@.venv/bin/python benchmarks/hunt.py

dist: setup ## build the wheel and the source archive in dist/
	@.venv/bin/hatchling build -d dist >&2

dist-kernel: kernel ## build the optional wheel with the kernel in dist/, and put the kernel's source beside it
	@cd packaging/cambrian-kernel && ../../.venv/bin/hatchling build -t wheel -d ../../dist >&2

clean: ## remove .venv and results (the cache outside this folder stays)
	rm -rf .venv results site dist .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
