"""What is said of results: a file a surface. Plain and short: what it means, then what to do."""
