# Real servers for the tests of sinks.
READY += $(VENV)/.prometheus
$(VENV)/.prometheus: $(VENV)/.python
	@{ command -v prometheus >/dev/null && command -v prometheus-pushgateway >/dev/null || \
		RUNLEVEL=1 $(APT) prometheus prometheus-pushgateway; } && touch $@ || \
		echo "prometheus is not installed: the tests of sinks will fail without it"

.PHONY: bench-sinks
bench-sinks: setup ## a session of 1,000 entries with every sink on: cost, memory, time until all is delivered
	$(BIN)/python -m bench.sinks
