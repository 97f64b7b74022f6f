"""How much slower a pipeline is beside others than alone, over the same window of the same work."""
