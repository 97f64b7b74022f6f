.PHONY: bench-runner
bench-runner: setup ## CPU that Assay itself spends per run, its start-up, and its sampler
	$(BIN)/python -m tools.bench_runner
