# Another environment than Assay's, as users of the contract have: nemo-curator reads what bundled programs write, and an
# entry runs with an interpreter and a Ray of its own. The tests need it.
READY += .peers/contract/.ready
.peers/contract/.ready: requirements/peer-contract.txt $(VENV)/.python
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .peers/contract
	$(BIN)/uv pip install --quiet --python .peers/contract/bin/python --compile-bytecode --no-deps -r requirements/peer-contract.txt
	@touch $@
