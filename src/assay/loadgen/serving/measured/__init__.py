"""Figures of a load: times of requests, delivered load, saturation, goodput."""
