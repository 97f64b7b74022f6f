"""Events on their way from the ring to a file."""
