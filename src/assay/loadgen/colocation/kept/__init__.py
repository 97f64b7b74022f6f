"""What is kept of colocated runs: `colocation.json`, version 2."""
