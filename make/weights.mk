# The weight store's kernels, compiled once at set-up into the cache that every later process reads.
WEIGHTS_KERNELS := $(wildcard src/assay/weights/codec/*.py)
READY += $(VENV)/.weights-kernels

$(VENV)/.weights-kernels: $(WEIGHTS_KERNELS) $(VENV)/.assay
	$(BIN)/python -m assay.weights.codec.warm
	@touch $@

.PHONY: bench-weights
bench-weights: setup ## the weight store: size against the limit, CPU against safetensors, every scenario
	$(BIN)/python -m assay.benchmarks.weights.curve
