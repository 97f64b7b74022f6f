"""What suites of weight stores measured: sizes against what is possible, speeds, and which store to choose."""
