"""Which suites run, on which stores, with how much, and in which order."""
