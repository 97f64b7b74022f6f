.peers/otava/.ready: requirements/peer-otava.txt $(VENV)/.python
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .peers/otava
	$(BIN)/uv pip install --quiet --python .peers/otava/bin/python -r requirements/peer-otava.txt
	@touch $@

.PHONY: bench-truth
bench-truth: setup .peers/otava/.ready ## how often the statistics are right, where the truth is known (about 10 minutes of CPU time; ASSAY_SERIES=DIR: real series too; MOZILLA=DIR: only agreement with Mozilla's engineers)
	ASSAY_OTAVA=.peers/otava/bin/python $(BIN)/python -m bench.truth $(if $(MOZILLA),--mozilla '$(MOZILLA)')

.PHONY: bench-ab
bench-ab: setup ## is `assay ab` right on this machine? identical code and 10% more work, 20 times each (half an hour)
	$(BIN)/python -m bench.ab
