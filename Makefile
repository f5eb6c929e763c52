# `make reproduce` is the paper, ending in report/index.html; `make evidence` adds what lies beyond it to
# the same report; `make test` is the suite. They set up what they need in .venv from a fresh clone.

PYTHON ?= python3
BIN := .venv/bin
# without files of bytecode every process would parse the sources anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce evidence test mutants browser theorems lint types contract docs bench dist clean

reproduce: .venv/study
	$(BIN)/wayfield reproduce

evidence: .venv/study
	$(BIN)/wayfield study all

# one room alone: make test ROOM=replay
ROOM ?=
test: .venv/ready $(if $(filter-out explorer,$(ROOM)),,browser)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(if $(ROOM),tests/$(ROOM) $(wildcard src/wayfield/$(ROOM)))

# faults planted at random in the library: how many do the rooms' own tests notice? (An hour.)
SEED ?= 0
COUNT ?= 60
mutants: .venv/ready
	$(BIN)/python tests/mutants.py --seed $(SEED) --count $(COUNT) --room "$(ROOM)"

# the explorer's page is tested in a real browser: installed where that is allowed; without one its
# tests are skipped, and fail where CI is set
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name > /dev/null && exit 0; done; \
	apt-get install --yes --quiet chromium || sudo -n apt-get install --yes --quiet chromium \
	|| echo "no chromium on the PATH: the explorer's page is not tested"

# the checker's theorems, by Coq: installed where that is allowed; without it they are skipped, and
# fail where CI is set. Needs nothing of .venv
theorems:
	@command -v coqc > /dev/null || apt-get install --yes --quiet coq || sudo -n apt-get install --yes --quiet coq \
	|| { echo "no coqc on the PATH: the theorems are not compiled"; test -z "$$CI"; exit; }; \
	theorems/check

lint: .venv/ready
	$(BIN)/ruff check src study tests benchmarks examples training conftest.py docs/*.py
	$(BIN)/ruff format --check src study tests benchmarks examples training conftest.py docs/*.py

types: .venv/ready
	$(BIN)/mypy

contract: .venv/ready
	$(BIN)/lint-imports

# the documentation, into site/: opens from disk, loads nothing from elsewhere; warnings are errors
docs: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# what is uploaded: built from a clean copy, its metadata checked, the wheel tried on these Pythons
PYTHONS ?= 3.11 3.12 3.13
dist: .venv/ready
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --outdir dist study
	$(BIN)/python -m twine check --strict dist/*
	.ci/try-wheels dist $(PYTHONS)

# CPU time, memory and error of every solver, beside the peers that are installed
bench: .venv/ready
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.solvers

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "wayfield needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# library and study, and everything a developer needs
.venv/study .venv/ready: pyproject.toml study/pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.$(if $(findstring ready,$@),[dev])' --editable ./study
	touch $@

clean:
	rm -rf .venv report results build dist site .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src study -name __pycache__ -prune -exec rm -rf {} +
