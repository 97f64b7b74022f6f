# Other stores of weights. coral-ml pins versions that the project does not want, so it has an environment of its own.
.PHONY: peers-weights bench-weights-suites
PEERS_DIR := .peers

$(PEERS_DIR)/coral/.ready: requirements/peer-coral.txt $(VENV)/.python
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(PEERS_DIR)/coral
	$(BIN)/uv pip install --quiet --python $(PEERS_DIR)/coral/bin/python -r requirements/peer-coral.txt
	@touch $@

peers-weights: setup $(PEERS_DIR)/coral/.ready ## every weight store over every scenario, in one table
	$(BIN)/python -m assay weights bench --profile src/assay/benchmarks/weights/profiles/peers.yaml --peers --output results/peers-weights

bench-weights-suites: setup ## the six weight suites, about a minute
	$(BIN)/python -m assay weights bench --profile quick --output results/weights-quick
