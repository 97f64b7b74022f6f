# Real servers for the tests of sinks.
READY += $(VENV)/.prometheus
$(VENV)/.prometheus: $(VENV)/.python
	@command -v prometheus >/dev/null && command -v prometheus-pushgateway >/dev/null || (apt-get update -qq && \
		RUNLEVEL=1 apt-get install -y -qq --no-install-recommends prometheus prometheus-pushgateway) \
		>/dev/null || echo "prometheus is not installed: the tests of sinks will fail without it"
	@touch $@

.PHONY: bench-sinks
bench-sinks: setup ## a session of 1,000 entries with every sink on: cost, memory, time until all is delivered
	$(BIN)/python -m bench.sinks
