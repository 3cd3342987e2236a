# One command for a user: make run. The rest is for those who change the code.
# The folder of the packages, and the Python that makes it: the one that it has, until PYTHON names another.
VENV ?= .venv
PYTHON ?= $(or $(shell test -x $(VENV)/bin/python && echo $(VENV)/bin/python),python3)
HOST ?= 127.0.0.1
PORT ?= 8501
PY := $(VENV)/bin/python
# One heap for Python, Arrow and all threads: what visitors leave goes back to the system (ADR 54).
HEAP := PYTHONMALLOC=malloc MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=262144 ARROW_DEFAULT_MEMORY_POOL=system

LOCK := $(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock"

.PHONY: setup setup-dev run quick test test-all test-pythons check format bench golden releases docs screenshots dist page site lock clean

setup:            ## .venv with the pinned packages, Java for Spark, compiled kernels
	@$(PYTHON) scripts/setup.py --venv $(VENV)

setup-dev:        ## the same and what the tests need: pytest, Maven, Chromium, fonts
	@$(PYTHON) scripts/setup.py --venv $(VENV) --dev

# What decodes is set up first; Spark, Java and the kernels follow behind the console, and end with it.
run:              ## the console on http://127.0.0.1:8501
	@$(PYTHON) scripts/setup.py --venv $(VENV) --first
	@$(PY) scripts/can_listen.py "$(HOST)" "$(PORT)"
	@$(PYTHON) scripts/setup.py --venv $(VENV) --behind & $(HEAP) exec $(PY) -m streamlit run app.py --server.address "$(HOST)" --server.port "$(PORT)" --server.headless true

quick:            ## the tests for the loop of editing, a minute; ARGS=-x ends at the first failure
	@$(PY) -m pytest -q -n 2 --dist loadfile -m "quick and not (browser or java or spark or slow)" $(ARGS)

# One that fails once in the crowd is tried again; the summary names it (RERUN), for it has a fault of its own.
test: setup-dev   ## every rule, page and real part, 13 to 25 minutes on two cores
	@$(PY) -m pytest -n 3 --dist loadscope --no-loadscope-reorder --reruns 1 $(ARGS)

test-all:         ## the same with the tests marked long: before a release
	@$(MAKE) --no-print-directory test ARGS="--all $(ARGS)"

# One after the other, each with the packages of its own; the kernels are kept for each Python.
test-pythons:     ## the tests with each of Python 3.11, 3.12 and 3.13 that is here
	@for python in python3.11 python3.12 python3.13; do \
	  if $$python -c "" 2>/dev/null; then \
	    echo "$$python"; $(MAKE) --no-print-directory test PYTHON=$$python VENV=.cache/$$python || exit 1; \
	  else echo "$$python is not here"; fi; \
	done

check: setup-dev  ## linter, formatter, types, import arrows, docstrings
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -m pytest -q tests/test_arrows.py tests/test_house.py tests/test_docstrings.py

format:           ## put every file in the formatter's shape
	@$(PY) -m ruff check --fix-only -q .
	@$(PY) -m ruff format .

bench: setup-dev  ## every benchmark, into docs/performance.md
	@$(PY) -m benchmarks

golden: setup-dev ## results of real logs and stores into DIR=..., to compare with those of another commit
	@$(PY) -m benchmarks.golden write $(DIR)

releases: setup-dev ## real brokers of every release that is to be had, one after another, into docs/releases.md
	@$(PY) -m benchmarks.releases

docs: setup-dev   ## the pages of docs/ that are rendered from the code
	@$(PY) scripts/render_docs.py

screenshots: setup-dev ## docs/screenshots, from a real browser
	@IDCORE_SCREENSHOTS=1 $(PY) -m pytest tests/browser/test_screenshots.py $(ARGS)

dist: setup-dev   ## the package: wheel, sdist and the list of its parts (SBOM, CycloneDX) in dist/
	@$(PY) -m hatchling build -d dist
	@$(PY) -W ignore::UserWarning -m cyclonedx_py requirements requirements.lock --pyproject pyproject.toml --mc-type application \
	  --output-reproducible -o dist/rocketmq-ids.cdx.json

page:             ## a page that decodes IDs without a server: dist/rocketmq-ids/ and dist/rocketmq-ids.html
	@$(PYTHON) scripts/setup.py --venv $(VENV) --first
	@$(PY) scripts/make_page.py

site: setup-dev   ## the documents as a site with search, which needs no network: dist/site/
	@$(PY) scripts/make_site.py

lock: setup-dev   ## requirements.lock and requirements-dev.lock from the pins; ARGS=--upgrade renews what these need
	@$(LOCK) requirements.txt -o requirements.lock $(ARGS)
	@$(LOCK) requirements-dev.txt -c requirements.lock -o requirements-dev.lock $(ARGS)

clean:
	rm -rf $(VENV) .cache .hypothesis
