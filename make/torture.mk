# The campaign: attacks drawn at random on everything that Assay reads and on every process that it starts.
TORTURE_PATH := $(CURDIR)/src:$(CURDIR):$(CURDIR)/tests/support:$(CURDIR)/tests/torture
.PHONY: torture
torture: setup ## attacks of every kind for MINUTES (default 5); findings go to tests/torture/findings
	PYTHONPATH=$(TORTURE_PATH) $(BIN)/python -m campaign --minutes $(or $(MINUTES),5) $(TORTURE)

# An S3 server (moto) and the client that users have (s3fs), beside the environment: versions that both have are the
# same. The tests need both.
READY += .peers/s3/.ready
.peers/s3/.ready: requirements/peer-s3.txt $(VENV)/.python
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --target .peers/s3 --require-hashes -r requirements/peer-s3.txt
	@touch $@

.PHONY: torture-dashboard
torture-dashboard: setup ## 16 clients, some hostile, ask the dashboard about 100,000 records for a minute
	PYTHONPATH=$(TORTURE_PATH) $(BIN)/python tests/server/test_dashboard_under_load.py

.PHONY: torture-kills
torture-kills: setup ## 200 kills and stops over all processes of sessions with three sinks and a weight suite, then resume
	PYTHONPATH=$(TORTURE_PATH) $(BIN)/python -m campaign --kind kills --hits $(or $(HITS),200) --minutes $(or $(MINUTES),60)
