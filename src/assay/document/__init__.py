"""YAML with positions → typed models: every problem at once, each with file, line and column."""
