"""Paths that have a name: on the host, in a container, and what a container must be given of them."""
