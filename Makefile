# Two commands to start with: `make demo` and `make test`. Each makes its own .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-labelstudio check bench ablation fix clean

demo: .venv/core
	@$(BIN)/fieldtruth demo --out out/demo

test: .venv/dev
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2  # a core each: torch in both would fight for all

# A real Label Studio server, about 1 GB in a virtual environment of its own, made once.
test-labelstudio: .venv/dev .venv-labelstudio/made
	@LABEL_STUDIO="$(CURDIR)/.venv-labelstudio/bin/label-studio" $(BIN)/python -m pytest tests/labelstudio

check: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev
	@$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	@missed=0; for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || missed=1; done; exit $$missed

# The rows of recipes/tiny-vlm.toml, two at a time with a core each. Those in ablation/ are done.
UNSEEN := palettes shapes grounds
ablation: .venv/dev out/tiny-leaves/bench/drawn/manifest.json \
  $(UNSEEN:%=out/tiny-%/bench/unseen/manifest.json)
	@for process in 1 2; do OMP_NUM_THREADS=1 $(BIN)/fieldtruth train ablation recipes/tiny-vlm.toml & done; wait
	@OMP_NUM_THREADS=1 $(BIN)/fieldtruth train ablation recipes/tiny-vlm.toml

# Drawn once: without prerequisites, so that other code does not draw other photos.
out/tiny-leaves/bench/drawn/manifest.json:
	@$(BIN)/fieldtruth run recipes/tiny-leaves.toml

out/tiny-%/bench/unseen/manifest.json:
	@$(BIN)/fieldtruth run recipes/tiny-unseen.toml --set draw.new=$* --set out=../out/tiny-$*

fix: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-labelstudio out

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Fieldtruth needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -m venv .venv

.venv-labelstudio/made: constraints-labelstudio.txt
	@echo "Installing Label Studio into .venv-labelstudio (once) ..."
	@$(PYTHON) -m venv .venv-labelstudio
	@.venv-labelstudio/bin/python -m pip install -q --disable-pip-version-check -c constraints-labelstudio.txt label-studio
	@touch $@

.venv/core: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing Fieldtruth into .venv (once) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing Fieldtruth and its test tools into .venv (once) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ .venv/core
