# The peer that measured times are held against.
READY += $(VENV)/.hyperfine
$(VENV)/.hyperfine: $(VENV)/.python
	@{ command -v hyperfine >/dev/null || $(APT) hyperfine; } && touch $@ || \
		echo "hyperfine is not installed: make bench-runner will not compare with it"

.PHONY: bench-runner
bench-runner: setup ## CPU that Assay itself spends per run, its start-up, its sampler; measured times against hyperfine
	$(BIN)/python -m bench.runner
