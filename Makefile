# make demo    set up, push twice, pull both, verify
# make test    set up, run the tests
# make check   set up, lint, types, contracts
# make chaos   set up, the long runs of faults and kills
# make bench   set up, all benchmarks side by side with their peers (long)
# make fuzz    set up, a million inputs for the parsers (docs/fuzzing.md)
# make azurite install Azure's emulator, which the contract tests then use too
# make lock    resolve the development versions anew

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: demo test check bench chaos fuzz azurite lock clean

$(READY): pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(READY)

demo: $(READY)
	$(BIN)/stager demo

test: $(READY)
	$(BIN)/python -m pytest -m 'not soak' -n $(JOBS) --dist loadgroup

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	command -v nginx || test -x /usr/sbin/nginx || apt-get install --yes nginx-light
	$(BIN)/python -m benchmarks

chaos: $(READY)
	$(BIN)/python -m pytest -m soak -n $(JOBS)

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --inputs 1100000 --seed 1

azurite:
	npm install --no-save --no-audit --no-fund azurite

lock: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --upgrade --no-header --no-annotate \
	    --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) build dist .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
