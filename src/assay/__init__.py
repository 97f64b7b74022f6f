"""Assay: one benchmarking system for machine-learning pipelines."""

__version__ = "0.1.0"
