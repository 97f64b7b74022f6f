.PHONY: bench-history

bench-history: setup ## a million values in the history: how long questions take
	PYTHONPATH=src:tests/support $(BIN)/python tests/history/bench_history.py
