# Debian packages by name. One at a time, since apt has one lock and `make -j` more than one target that needs it.
APT := flock make sh -c '(apt-get update -qq && apt-get install -y -qq --no-install-recommends "$$@") >/dev/null' apt

# The environment. A stamp per step, so that a change to one file repeats only what depends on it.
$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements/bootstrap.txt
	@touch $@

# The core alone: what `make demo` needs. The full lock has the same versions of it.
$(VENV)/.core: requirements/core.txt pyproject.toml $(VENV)/.python
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/core.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

$(VENV)/.locked: requirements/lock.txt $(VENV)/.python | $(VENV)/.core
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/lock.txt
	@touch $@

# torch comes through pip, which knows where a CPU build is; uv would take gigabytes of CUDA.
$(VENV)/.torch: requirements/torch.txt $(VENV)/.locked
	$(BIN)/pip install --quiet --compile -r requirements/torch.txt
	@touch $@

# The model stages, after torch, so that its CPU build is what they find.
$(VENV)/.models: requirements/models.txt requirements/torchvision.txt $(VENV)/.torch
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --no-deps --require-hashes -r requirements/models.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --no-deps -r requirements/torchvision.txt
	@touch $@

$(VENV)/.assay: $(VENV)/.core $(VENV)/.models
	$(BIN)/python -m compileall -q src
	@touch $@

# Files that packages need at set-up (compiled kernels, chart libraries, system packages) hang on READY.
READY += $(VENV)/.assay
.SECONDEXPANSION:
$(VENV)/.ready: $$(READY)
	@touch $@
