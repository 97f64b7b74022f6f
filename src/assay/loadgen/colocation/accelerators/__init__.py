"""Devices that pipelines are put on."""
