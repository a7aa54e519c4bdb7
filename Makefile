# What is done often. `make` alone lists it.

PYTHON := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: help install test test-all coverage lint format type bench fuzz fuzz-guided interpreters goldens viewer docs fixtures check-fixtures ci clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.venv/bin/python:
	python3 -m venv .venv
	.venv/bin/pip install -q -e '.[test]'

install: .venv/bin/python ## make .venv with the package (editable) and what its tests need
	.venv/bin/pip install -q -e '.[test]'

test: .venv/bin/python ## run the tests but those marked slow or machine: about two minutes on two cores
	$(PYTHON) -m pytest -q

test-all: .venv/bin/python ## run all tests, with more examples; what is not installed is skipped, loudly
	TBGRAPH_TESTS=all $(PYTHON) -m pytest -q

coverage: .venv/bin/python ## run all tests and tell which lines none of them reaches; takes twice as long
	TBGRAPH_TESTS=all $(PYTHON) -m pytest -q --cov --cov-report=term:skip-covered

lint: .venv/bin/python ## look for mistakes and for code that is not formatted
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

format: .venv/bin/python ## format the code and mend what can be mended safely
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

type: .venv/bin/python ## check the types, strictly
	$(PYTHON) -m mypy

bench: .venv/bin/python ## measure, and print the tables
	$(PYTHON) -m tests.bench

fuzz: .venv/bin/python ## try bad files and odd command lines; SEED=1 MINUTES=60 for as long as you like
	$(PYTHON) -m tests.fuzz --seed $(or $(SEED),0) $(if $(MINUTES),--minutes $(MINUTES))

fuzz-guided: .venv/bin/python ## fuzz reading by coverage, with atheris; MINUTES=5
	$(PYTHON) -m tests.fuzz.guided --seed $(or $(SEED),1) --minutes $(or $(MINUTES),5)

interpreters: ## the same bytes from every Python that is here, and with the oldest dependencies
	python3 .ci/interpreters.py

goldens: .venv/bin/python ## write the expected pictures again; look at what changed before committing
	$(PYTHON) tests/golden/goldens.py --accept

viewer: .venv/bin/python ## translate Python to viewer/place.js again
	$(PYTHON) tools/twin/make.py

docs: .venv/bin/python ## write the generated parts of the documentation again, and the gallery
	$(PYTHON) docs/make.py
	$(PYTHON) docs/gallery/make.py

fixtures: ## make the fixtures again; wants TensorFlow, see fixtures/README.md
	python3 fixtures/make.py

check-fixtures: ## compare the fixtures with what their recipes make; wants TensorFlow
	python3 fixtures/make.py --check

ci: ## what the continuous integration runs: every part installed, nothing skipped
	.ci/run

clean: ## remove what was built or cached
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis node_modules .coverage .coverage.*
