.PHONY: bench-history bench-dashboard screenshots

bench-history: setup ## a million values in the history: how long questions take
	PYTHONPATH=src:tests/support $(BIN)/python tests/history/bench_history.py

bench-dashboard: setup ## the dashboard's pages with 100,000 records: how long they take
	PYTHONPATH=src:tests/support $(BIN)/python tests/report/bench_dashboard.py

screenshots: setup ## the pictures in the docs
	PYTHONPATH=src:tests/support $(BIN)/python tests/support/screenshots.py

# The chart library comes from its registry at set-up, never into the repository; building a wheel takes it from here.
VENDOR := src/assay/report/vendor
UPLOT := 1.6.32
UPLOT_SHA256 := 4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d
READY += $(VENDOR)/uPlot.js
$(VENDOR)/uPlot.js: make/report.mk
	@mkdir -p $(VENDOR) && rm -rf $(VENDOR)/fetched && mkdir $(VENDOR)/fetched
	cd $(VENDOR)/fetched && npm pack --silent uplot@$(UPLOT) >/dev/null
	echo "$(UPLOT_SHA256)  $(VENDOR)/fetched/uplot-$(UPLOT).tgz" | sha256sum --check --quiet
	tar -xzf $(VENDOR)/fetched/uplot-$(UPLOT).tgz -C $(VENDOR)/fetched
	cp $(VENDOR)/fetched/package/LICENSE $(VENDOR)/uPlot.LICENSE
	cp $(VENDOR)/fetched/package/dist/uPlot.min.css $(VENDOR)/uPlot.css
	cp $(VENDOR)/fetched/package/dist/uPlot.iife.min.js $@
	@rm -rf $(VENDOR)/fetched

# A real browser for the tests of the pages; they say so themselves where it cannot be installed.
READY += $(VENV)/.chromium
$(VENV)/.chromium: $(VENV)/.python
	@command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) \
		>/dev/null || echo "chromium is not installed: the tests of report and dashboard will fail without it"
	@touch $@
