# The weight store's kernels, compiled once at set-up into the cache that every later process reads.
WEIGHTS_KERNELS := $(shell find src/assay/weights/codec -name '*.py')
READY += $(VENV)/.weights-kernels

$(VENV)/.weights-kernels: $(WEIGHTS_KERNELS) $(VENV)/.assay
	@# A kernel is compiled anew only when its own file changes, not when one that it is built from does.
	find src/assay/weights/codec -name '*.nb[ic]' -delete
	$(BIN)/python -m assay.weights.codec.compile_kernels
	@touch $@

# Stores that keep versions of files, for tests and comparisons: each in an environment of its own, git-lfs from Debian.
READY += .peers/dvc/.ready .peers/git-theta/.ready $(VENV)/.git-lfs
.peers/dvc/.ready .peers/git-theta/.ready: .peers/%/.ready: requirements/peer-%.txt $(VENV)/.python
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .peers/$*
	$(BIN)/uv pip install --quiet --python .peers/$*/bin/python --compile-bytecode -r requirements/peer-$*.txt
	@touch $@

$(VENV)/.git-lfs: $(VENV)/.python
	@command -v git-lfs >/dev/null || $(APT) git-lfs
	@touch $@

.PHONY: bench-weights
bench-weights: setup ## the weight store: size against the limit, CPU against safetensors, every scenario
	$(BIN)/python -m assay.benchmarks.weights.curve

.PHONY: torture-weights
torture-weights: setup ## 30 pushes from three processes at once to a folder and to a local S3 server (or to URL=…), with collections running
	for url in $(or $(URL),"$$(mktemp -d)/remote" s3); do $(BIN)/python -m tests.weights.two_writers $$url || exit 1; done
