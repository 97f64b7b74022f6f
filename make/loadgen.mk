# Load generation: what measuring costs, and MLPerf LoadGen beside it. On a machine where other programs run, as root:
# make bench-loadgen BENCH_LOADGEN=--realtime
.PHONY: bench-loadgen peers-loadgen
bench-loadgen: setup ## overhead, schedules, stalls and the slowdown matrix, against bare loops in the same run
	$(BIN)/python -m bench.loadgen $(BENCH_LOADGEN)

.peers/loadgen/.ready:
	$(PYTHON) -m venv .peers/loadgen
	.peers/loadgen/bin/pip install --quiet mlcommons-loadgen==6.0.17
	@touch $@

peers-loadgen: setup .peers/loadgen/.ready ## MLPerf LoadGen and Assay side by side, from one run
	$(BIN)/python -m peers.loadgen.compare .peers/loadgen/bin/python $(BENCH_LOADGEN)
