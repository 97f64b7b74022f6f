# MkDocs, apart from the environment: nothing of Assay needs it. The test of the site does.
READY += .peers/docs/.ready
.peers/docs/.ready: requirements/docs.txt $(VENV)/.python
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --target .peers/docs --require-hashes -r requirements/docs.txt
	@touch $@

.PHONY: docs
docs: setup ## the documentation as a site, in build/site; a warning is an error
	$(BIN)/python -m tools.site
