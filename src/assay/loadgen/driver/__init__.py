"""What carries a query through a graph of stages."""
