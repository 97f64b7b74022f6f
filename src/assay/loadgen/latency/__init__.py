"""What latencies say: histograms, percentiles, objectives, peaks."""
