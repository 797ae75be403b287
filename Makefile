# Every target first makes sure that .venv holds exactly what the lock names, and the models that config.yaml names.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=

.PHONY: setup run test lint bench eval soak lock docs clean

setup: $(STAMP)
	@$(BIN)/lamina models pull --quiet || echo "models: not complete; recall works lexically until 'lamina models pull' succeeds"

$(STAMP): requirements.lock bootstrap.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bootstrap.lock
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock bootstrap.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

run: setup
	@$(BIN)/lamina serve $(ARGS)

test: setup
	@$(BIN)/python -m pytest -n 2 $(ARGS)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: setup
	@$(BIN)/python -m bench $(ARGS)

eval: setup
	@$(BIN)/lamina eval run $(ARGS)

soak: setup
	@$(BIN)/python -m pytest -m slow $(ARGS)

lock: $(STAMP)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock
	@echo 'uv' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header - -o bootstrap.lock

docs: setup
	@$(BIN)/lamina config docs --write

clean:
	rm -rf $(VENV)
