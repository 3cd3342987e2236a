# One command for a user: make run. The rest is for those who change the code.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8501
PY := .venv/bin/python

.PHONY: setup setup-dev run test check format bench docs screenshots clean

setup:            ## .venv with the pinned packages, Java for Spark, compiled kernels
	@$(PYTHON) scripts/setup.py

setup-dev:        ## the same and what the tests need: pytest, Maven, Chromium, fonts
	@$(PYTHON) scripts/setup.py --dev

run: setup        ## the console on http://127.0.0.1:8501
	@$(PY) -m streamlit run app.py --server.address $(HOST) --server.port $(PORT) --server.headless true

test: setup-dev   ## every test, browser and Java referee included, in two processes
	@$(PY) -m pytest -n 2 --dist loadscope --no-loadscope-reorder $(ARGS)

check: setup-dev  ## linter, formatter, types, import arrows
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -m pytest -q tests/test_arrows.py tests/test_house.py

format:           ## put every file in the formatter's shape
	@$(PY) -m ruff check --fix-only -q .
	@$(PY) -m ruff format .

bench: setup-dev  ## every benchmark, into docs/performance.md
	@$(PY) -m benchmarks

docs: setup-dev   ## the pages of docs/ that are rendered from the code
	@$(PY) scripts/render_docs.py

screenshots: setup-dev ## docs/screenshots, from a real browser
	@IDCORE_SCREENSHOTS=1 $(PY) -m pytest tests/browser/test_screenshots.py $(ARGS)

clean:
	rm -rf .venv .cache .hypothesis
