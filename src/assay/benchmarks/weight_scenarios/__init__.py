"""Models and versions that the suites of weight stores commit and read."""
