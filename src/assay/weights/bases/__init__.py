"""Which stored tensor a new one is close to, and is stored as a difference from."""
