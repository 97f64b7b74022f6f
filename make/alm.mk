# ALM curation: its compiled kernel at set-up, its benchmark, and the reference beside it.
ALM_KERNEL := src/assay/stages/alm/kernel
$(VENV)/.alm: $(wildcard $(ALM_KERNEL)/*.c $(ALM_KERNEL)/*.h) $(ALM_KERNEL)/build.py $(VENV)/.assay
	$(BIN)/python -m assay.stages.alm.kernel.build
	@touch $@

READY += $(VENV)/.alm

.PHONY: bench-alm peers-alm
bench-alm: setup ## ALM: cost against length, two workers, memory, the five-recording case
	$(BIN)/python -m assay.benchmarks.alm_bench

PEERS_ALM ?= --recordings 10000 --executors xenna,ray_data,ray_actors
peers-alm: setup ## ALM beside nemo-curator: every record equal, and CPU, wall and memory ratios
	peers/alm/install.sh .peers/curator $(BIN)/uv
	$(BIN)/python peers/alm/compare.py --reference .peers/curator $(PEERS_ALM)
