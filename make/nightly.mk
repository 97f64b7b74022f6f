# Assay measures Assay. Results, history and reports are kept in results/nightly, or results/nightly-short; a regression
# ends with exit code 3 of `assay compare` (make itself then says "Error 3").
NIGHTLY_FILES := --config bench/nightly.yaml $(if $(SHORT),--config bench/nightly_short.yaml)
NIGHTLY_RESULTS := $(or $(ASSAY_RESULTS_DIR),results/nightly$(if $(SHORT),-short))
.PHONY: nightly bench-scale
nightly: setup ## what each part of Assay costs, as a session with repeats, held against the last one (SHORT=1: two minutes)
	$(BIN)/assay run $(NIGHTLY_FILES) $(NIGHTLY)
	$(BIN)/assay compare --results-dir $(NIGHTLY_RESULTS) --allow-missing-base

BENCH_SCALE ?=
bench-scale: setup ## how far one machine goes: entries, values, recordings, documents, tensors, requests (docs/scale.md)
	PYTHONPATH=tests/support $(BIN)/python -m bench.scale $(BENCH_SCALE)
