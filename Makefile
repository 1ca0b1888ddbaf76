# Everything runs in a virtual environment of its own, .venv; nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin

# Compiled files are kept whatever the environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

# Only what is imported is compiled: all files of all packages would take half a minute.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

.PHONY: help demo test daily-tests test-slow proofs mutation audit bench bench-data peers lint docs pictures site wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' Makefile

demo: .venv/product ## make up a town, plan, sample, publish it in three ways, verify, and print where the reports are
	$(BIN)/crowdblend demo --out out/demo --force

test: .venv/ready ## `make lint` and every test that a change must pass, at the same time
	@$(MAKE) --no-print-directory -j2 lint daily-tests

daily-tests: .venv/ready
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: .venv/slow ## the long suites as well
	$(BIN)/python -m pytest -n auto -m "slow or not slow"

# Debian and Ubuntu: apt install coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics
proofs: ## minutes: have Coq check the theorems in proofs/, and that they rest on no axiom
	mkdir -p out/proofs
	cp -p proofs/*.v proofs/_CoqProject out/proofs
	cd out/proofs && coq_makefile -f _CoqProject -o Makefile.coq && $(MAKE) -f Makefile.coq -j2 > log 2>&1 || { cat log; exit 1; }
	@! grep -A9 "^Axioms:" out/proofs/log
	@echo "$$(grep -c "^Closed under the global context" out/proofs/log) theorems are proved and rest on no axiom."

mutation: .venv/ready ## hours: what share of 400 deliberate breaks the tests notice; goes on where it stopped
	mkdir -p out
	$(BIN)/python -m tests.mutation.run record out/mutation-tests
	$(BIN)/python -m tests.mutation.run try out/mutation-tests out/mutation.jsonl

AUDIT := $(BIN)/python -m bench.audit_power
audit: .venv/ready ## an hour: every mistake is caught, half of every epsilon is refuted, true claims raise no alarm
	mkdir -p out/audit
	$(BIN)/python -m pytest -n 0 tests/lab/auditing/test_broken_mechanisms.py
	$(AUDIT) --injected --repeat 100 > out/audit/injected.json
	$(AUDIT) --injected --repeat 100 --runs 20000 > out/audit/minute.json
	$(AUDIT) --understate 2 --repeat 100 --runs 200000 > out/audit/power.json
	$(AUDIT) --repeat 1000 --runs 2000 --error 0.01 > out/audit/false-alarms.json
	$(BIN)/python -m bench.audit_page out/audit/*.json

lint: .venv/ready ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/ready ## speed and accuracy, as JSON on stdout
	$(BIN)/python -m bench.kernel
	$(BIN)/python -m bench.startup
	$(BIN)/python -m bench.randomness
	$(BIN)/python -m bench.utility
	$(BIN)/python -m bench.engine
	$(BIN)/python -m bench.release
	$(BIN)/python -m bench.ledger
	$(BIN)/python -m bench.frames
	$(BIN)/python -m bench.selection
	$(BIN)/python -m bench.statistics_time
	$(BIN)/python -m bench.studio
	$(BIN)/python -m bench.audit
	$(BIN)/python -m bench.points
	$(BIN)/python -m bench.graphs 1000000 10000000

bench-data: .venv/ready ## accuracy on the tables of the examples, which are not part of this repository
	$(BIN)/python -m bench.points_utility
	$(BIN)/python -m bench.synopsis
	$(BIN)/python -m bench.choosing
	$(BIN)/python -m bench.search

PEERS := opendp smartnoise diffprivlib dpmm
peers: .venv/ready $(PEERS:%=.venv/peers-%/ready) ## an hour: the same work with other packages, each in an environment of its own
	$(BIN)/python -m bench.synthesis --write
	$(BIN)/python -m bench.peers.run $$(for peer in $(PEERS); do test ! -e .venv/peers-$$peer/ready || echo $$peer=.venv/peers-$$peer/bin/python; done)
	$(BIN)/python -m docs.generate

docs: .venv/ready ## write the generated pages and figures again
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.draw
	$(BIN)/python -m docs.notebooks.execute

pictures: .venv/ready ## photograph the studio and a report again, with Chromium
	$(BIN)/python -m docs.studio_pictures
	$(BIN)/python -m docs.report_pictures

site: .venv/site ## the documentation as a static site that opens offline, in out/site/VERSION
	.venv/site-builder/bin/sphinx-build -q -W -c docs/site docs out/site/$$($(BIN)/python -c "import crowdblend; print(crowdblend.__version__)")

wheel: .venv/ready ## build the wheel, install it into an empty environment, and do the main job there
	$(BIN)/python tools/try_wheel.py

clean: ## remove the environment and everything that was built
	rm -rf .venv build dist out

.venv/product: requirements/product.txt pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'crowdblend needs Python 3.11 or newer')"
	@echo "Setting up .venv with what crowdblend needs (about 150 MB to download) ..."
	@$(PYTHON) -m venv .venv
	@$(PIP) --requirement requirements/product.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch .venv/product

.venv/ready: requirements/dev.txt .venv/product
	@echo "Adding to .venv what tests and development need, Spark included (about 700 MB to download) ..."
	@$(PIP) --requirement requirements/dev.txt
	@touch .venv/ready

.venv/slow: requirements/slow.txt .venv/ready
	@$(PIP) --requirement requirements/slow.txt
	@touch .venv/slow

.venv/peers-%/ready: requirements/peers-%.txt .venv/ready
	$(PYTHON) -m venv .venv/peers-$*
	.venv/peers-$*/bin/pip install --quiet --disable-pip-version-check --requirement $< && touch $@ || echo "$* does not install here and is left out."

.venv/site: .venv/product requirements/site.txt
	$(PYTHON) -m venv .venv/site-builder
	.venv/site-builder/bin/pip install --quiet --disable-pip-version-check --requirement requirements/site.txt
	touch .venv/site
