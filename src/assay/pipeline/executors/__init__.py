"""Ways to run a pipeline. Each gives the same results in the same order; see `registry` for their names."""
