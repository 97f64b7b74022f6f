"""Sinks that write a file: CSV, JSON lines, JUnit XML, a GitHub job summary."""
