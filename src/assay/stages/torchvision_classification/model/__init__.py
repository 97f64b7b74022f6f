"""Classifiers: built by name, with the weights that are here, trained and asked."""
