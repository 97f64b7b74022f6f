# The campaign: attacks drawn at random on everything that Assay reads and on every process that it starts.
TORTURE_PATH := $(CURDIR)/src:$(CURDIR):$(CURDIR)/tests/support:$(CURDIR)/tests/torture
.PHONY: torture
torture: setup .peers/s3/.ready ## attacks of every kind for MINUTES (default 5); findings go to tests/torture/findings
	PYTHONPATH=$(TORTURE_PATH) $(BIN)/python -m campaign --minutes $(or $(MINUTES),5) $(TORTURE)

# An S3 server (moto) and the client that users have (s3fs), beside the environment: versions that both have are the same.
.peers/s3/.ready: requirements/peer-s3.txt $(VENV)/.python
	$(BIN)/uv pip install --quiet --python $(BIN)/python --target .peers/s3 --require-hashes -r requirements/peer-s3.txt
	@touch $@
