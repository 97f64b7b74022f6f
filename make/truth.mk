.PHONY: bench-truth
bench-truth: setup ## how often the statistics are right, where the truth is known (about 4 minutes of CPU time)
	PYTHONPATH=. $(BIN)/python -m tests.stats.truth

.PHONY: bench-ab
bench-ab: setup ## is `assay ab` right on this machine? identical code and 10% more work, 20 times each (half an hour)
	PYTHONPATH=. $(BIN)/python -m tests.experiment.bench_ab
