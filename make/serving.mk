# Load on endpoints: other clients beside ours.
.PHONY: peers-serving
peers-serving: setup ## guidellm, aiperf, a bare C loop and Assay on one null server: CPU a request, rate, lateness
	peers/serving/install.sh .peers/serving $(BIN)/uv
	$(BIN)/python -m peers.serving.compare --peers .peers/serving $(PEERS_SERVING)
