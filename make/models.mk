# Model stages: what the framework adds to a training loop.
.PHONY: bench-models
bench-models: setup ## the same training loop bare and through a pipeline, step by step in one run
	$(BIN)/python -m bench.models
