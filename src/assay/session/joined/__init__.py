"""Many jobs, one session: joining, waiting for each other, putting the parts together."""
