# ALM curation: its benchmark, and the reference beside it.
.PHONY: bench-alm peers-alm
bench-alm: setup ## ALM: cost against length, of other forms, two workers, memory, the five-recording case
	$(BIN)/python -m bench.alm

PEERS_ALM ?= --recordings 10000 --executors xenna,ray_data,ray_actors
peers-alm: setup ## ALM beside nemo-curator: every record equal, and CPU, wall and memory ratios
	peers/alm/install.sh .peers/curator $(BIN)/uv
	$(BIN)/python -m peers.alm.compare --reference .peers/curator $(PEERS_ALM)
