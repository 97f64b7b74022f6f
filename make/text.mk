.peers/text/.ready: requirements/peer-text.txt $(VENV)/.python
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .peers/text
	$(BIN)/uv pip install --quiet --python .peers/text/bin/python -r requirements/peer-text.txt
	@touch $@

.PHONY: peers-text bench-executors
PEERS_TEXT ?=
peers-text: setup .peers/text/.ready ## text removal, duplicates and extraction beside polars, DuckDB and bare loops
	$(BIN)/python -m peers.text.compare --peers .peers/text/bin/python $(PEERS_TEXT)

bench-executors: setup ## what each executor costs beside the work itself, and whether its driver grows with the data
	$(BIN)/python -m bench.executors
