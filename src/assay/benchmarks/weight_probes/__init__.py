"""Measurements in fresh processes, for the suites of weight stores."""
