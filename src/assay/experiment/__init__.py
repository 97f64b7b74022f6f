"""Loops of running and deciding: A/B, calibration, repeat until sure, confirm."""
