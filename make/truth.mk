.PHONY: bench-truth
bench-truth: setup ## how often the statistics are right, where the truth is known (about 5 minutes)
	PYTHONPATH=. $(BIN)/python -m tests.stats.truth
