.PHONY: bench-history bench-dashboard bench-publish screenshots

bench-history: setup ## a million values in the history: how long questions take
	PYTHONPATH=tests/support $(BIN)/python -m bench.history

bench-dashboard: setup ## the dashboard's pages with 100,000 records: how long they take
	PYTHONPATH=tests/support $(BIN)/python -m bench.dashboard

bench-publish: setup ## a million values as a published site: what its first view costs a browser
	PYTHONPATH=tests/support $(BIN)/python -m bench.publish

screenshots: setup ## the pictures in the docs
	PYTHONPATH=src:tests/support $(BIN)/python tests/support/screenshots.py

# A real browser for the tests of the pages; they say so themselves where it cannot be installed.
READY += $(VENV)/.chromium
$(VENV)/.chromium: $(VENV)/.python
	@{ command -v chromium >/dev/null || $(APT) chromium; } && touch $@ || \
		echo "chromium is not installed: the tests of report and dashboard will fail without it"
