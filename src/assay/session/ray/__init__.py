"""A Ray cluster for an entry."""
